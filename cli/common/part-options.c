/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/part-options.h"

#include <string.h>

#include "base/text.h"
#include "cli/common/verb.h"

static int part_options_parse_time(const char *option, const char *text, uint64_t *ret_ns,
				   bool *ret_absolute)
{
	int r;

	*ret_absolute = *text == '@';
	r = *ret_absolute ? text_parse_u64(text + 1, UINT64_MAX, ret_ns)
			  : text_parse_time(text, ret_ns);
	if (r < 0)
		return cli_usage_error(
			"%s takes a time since the start, such as 1.5 or 200ms, or a timestamp "
			"@NANOSECONDS, not '%s'",
			option, text);
	return CLI_OK;
}

int part_options_from(void *options, char *text)
{
	struct part_options *o = options;

	o->has_from = true;
	return part_options_parse_time("--from", text, &o->from_ns, &o->from_absolute);
}

int part_options_to(void *options, char *text)
{
	struct part_options *o = options;

	o->has_to = true;
	return part_options_parse_time("--to", text, &o->to_ns, &o->to_absolute);
}

static int part_options_parse_ids(struct part_ids *ids, const char *what, char *text)
{
	for (char *rest = text, *word; (word = strsep(&rest, ","));) {
		uint64_t id;

		if (text_parse_u64(word, UINT32_MAX, &id) < 0 || id == 0)
			return cli_usage_error("'%s' is not a %s id", word, what);
		if (ids->n == PART_IDS_MAX)
			return cli_usage_error("more than %d %ses", PART_IDS_MAX, what);
		ids->list[ids->n++] = (uint32_t)id;
	}
	return CLI_OK;
}

int part_options_pids(void *ids, char *text)
{
	return part_options_parse_ids(ids, "process", text);
}

int part_options_tids(void *ids, char *text)
{
	return part_options_parse_ids(ids, "thread", text);
}

int part_options_cpus(void *options, char *text)
{
	struct part_options *o = options;

	for (char *rest = text, *word; (word = strsep(&rest, ","));) {
		char *dash = strchr(word, '-');
		uint64_t first, last;

		if (dash)
			*dash = '\0';
		if (text_parse_u64(word, FXT_CPU_MAX, &first) < 0 ||
		    text_parse_u64(dash ? dash + 1 : word, FXT_CPU_MAX, &last) < 0 || first > last)
			return cli_usage_error(
				"'%s%s%s' is not a CPU or a range of CPUs, such as 0,2-3", word,
				dash ? "-" : "", dash ? dash + 1 : "");
		for (uint64_t cpu = first; cpu <= last; cpu++)
			o->cpus[cpu] = true;
		if (last >= o->n_cpus)
			o->n_cpus = (size_t)last + 1;
	}
	return CLI_OK;
}

int part_options_check(const struct part_options *o)
{
	if (o->has_from && o->has_to && o->from_absolute != o->to_absolute)
		return cli_usage_error(
			"--from and --to must both be times since the start, or both begin with "
			"@");
	return o->to_ns <= o->from_ns ? cli_usage_error("--to is not after --from") : CLI_OK;
}
