/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/rtrace/postprocess-options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "cli/common/verb.h"
#include "reader/rtrace/rtrace-parse.h"

void postprocess_options_deinit(struct postprocess_options *o)
{
	for (size_t i = 0; i < o->n_words; i++)
		free(o->words[i]);
	free(o->range_target);
	free(o->include);
	free(o->exclude);
}

/* ---- order ---- */

int postprocess_options_sort(struct postprocess_options *o, const char *word)
{
	static const struct {
		const char *name;
		enum rtrace_sort_key key;
		bool descending; /* the default */
	} rows[] = {
		{ "size", RTRACE_SORT_SIZE, true },
		{ "count", RTRACE_SORT_COUNT, true },
		{ "index", RTRACE_SORT_INDEX, false },
		{ "time", RTRACE_SORT_TIME, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t n = strlen(rows[i].name);
		const char *order = word + n;

		if (strncmp(word, rows[i].name, n) != 0 ||
		    (*order && strcmp(order, "-asc") != 0 && strcmp(order, "-desc") != 0))
			continue;
		o->options.sort = rows[i].key;
		o->options.descending = *order ? order[1] == 'd' : rows[i].descending;
		o->sorts = true;
		return CLI_OK;
	}
	return cli_usage_error(
		"--sort: '%s' must be one of size, count, index and time, with or without -asc "
		"or -desc",
		word);
}

/* ---- words and masks ---- */

struct list {
	const char **names;
	size_t *n;
	uint32_t *mask;
	bool *none; /* set if 0 is in the list; NULL = 0 is not valid */
};

/* Parses a list with commas: hexadecimal masks with 0x, or names. */
static int postprocess_options_parse_list(struct postprocess_options *o, const char *option,
					  const char *words, struct list list)
{
	char *copy = o->n_words < ARRAY_SIZE(o->words) ? strdup(words) : NULL, *at = copy, *word;

	if (!copy)
		return cli_failed("out of memory");
	o->words[o->n_words++] = copy;
	o->selects = true;
	while ((word = strsep(&at, ","))) {
		uint64_t mask = 0;
		bool zero = list.none && strcmp(word, "0") == 0;

		if (!*word)
			return cli_usage_error("%s: empty name in '%s'", option, words);
		if (zero) {
			*list.none = true;
		} else if (strncmp(word, "0x", 2) == 0) {
			if (!rtrace_parse_hex(rtrace_text(word), &mask) || mask == 0 ||
			    mask > UINT32_MAX)
				return cli_usage_error("%s: '%s' is not a mask of 32 bits", option,
						       word);
			*list.mask |= (uint32_t)mask;
		} else if (*list.n == POSTPROCESS_NAMES_MAX) {
			return cli_usage_error("%s: at most %d names are possible", option,
					       POSTPROCESS_NAMES_MAX);
		} else {
			list.names[(*list.n)++] = word;
		}
	}
	return CLI_OK;
}

int postprocess_options_resource(struct postprocess_options *o, const char *words)
{
	const struct list list = { o->types, &o->select.n_types, &o->select.type_mask, NULL };

	return postprocess_options_parse_list(o, "--resource", words, list);
}

int postprocess_options_context(struct postprocess_options *o, const char *words)
{
	const struct list list = { o->contexts, &o->select.n_contexts, &o->select.context_mask,
				   &o->select.no_context };

	return postprocess_options_parse_list(o, "--context", words, list);
}

/* ---- numbers ---- */

int postprocess_options_depth(struct postprocess_options *o, const char *word)
{
	uint64_t depth;

	if (text_parse_u64(word, RTRACE_INT_MAX, &depth) < 0)
		return cli_usage_error("--depth: '%s' is not a number of frames", word);
	o->options.depth = (uint32_t)depth;
	o->options.has_depth = true;
	return CLI_OK;
}

static int postprocess_options_parse_index(const char *text, uint64_t *ret)
{
	return text_parse_u64(text, UINT64_MAX, ret);
}

/* Parses "FROM:TO", ":TO", "FROM:", or a number for both. Returns 0 or -EINVAL. */
static int postprocess_options_parse_span(const char *word, int (*parse)(const char *, uint64_t *),
					  uint64_t *ret_from, uint64_t *ret_to)
{
	_cleanup_free_ char *copy = strdup(word);
	char *to = copy ? strchr(copy, ':') : NULL;

	*ret_from = 0;
	*ret_to = UINT64_MAX;
	if (!copy)
		return -EINVAL;
	if (!to) {
		if (parse(copy, ret_from) < 0)
			return -EINVAL;
		*ret_to = *ret_from;
		return 0;
	}
	*to++ = '\0';
	if ((!*copy && !*to) || (*copy && parse(copy, ret_from) < 0) ||
	    (*to && parse(to, ret_to) < 0) || *ret_from > *ret_to)
		return -EINVAL;
	return 0;
}

int postprocess_options_size(struct postprocess_options *o, const char *word)
{
	if (postprocess_options_parse_span(word, text_parse_size, &o->select.min_size,
					   &o->select.max_size) < 0)
		return cli_usage_error("--size: '%s' is not MIN:MAX; one of the sizes can be "
				       "omitted (4K:, :1M)",
				       word);
	o->select.has_size = o->selects = true;
	return CLI_OK;
}

int postprocess_options_index(struct postprocess_options *o, const char *word)
{
	if (postprocess_options_parse_span(word, postprocess_options_parse_index,
					   &o->select.min_index, &o->select.max_index) < 0)
		return cli_usage_error("--index: '%s' is not FROM:TO; one of the numbers can "
				       "be omitted (100:, :99)",
				       word);
	o->select.has_index = o->selects = true;
	return CLI_OK;
}

/* Parses [TARGET:]START+SIZE, in hexadecimal. */
int postprocess_options_call_address(struct postprocess_options *o, const char *word)
{
	const char *colon = strrchr(word, ':'), *start = colon ? colon + 1 : word;
	const char *plus = strchr(start, '+');
	const struct rtrace_text from = { start, plus ? (size_t)(plus - start) : 0 };

	if (!plus || colon == word || !rtrace_parse_hex(from, &o->range.start) ||
	    !rtrace_parse_hex(rtrace_text(plus + 1), &o->range.size) || o->range.size == 0)
		return cli_usage_error("--call-address: '%s' is not [FILE:]START+SIZE, hexadecimal",
				       word);
	free(o->range_target);
	o->range_target = colon ? strndup(word, (size_t)(colon - word)) : NULL;
	if (colon && !o->range_target)
		return cli_failed("out of memory");
	o->range.target = o->range_target;
	o->select.range = &o->range;
	o->selects = true;
	return CLI_OK;
}

/* ---- lists of indices ---- */

DEFINE_ORDER(postprocess_options_compare, uint64_t, COMPARE(*x, *y))

static int postprocess_options_read_indices(const char *option, const char *path, uint64_t **ret,
					    size_t *ret_n)
{
	_cleanup_free_ uint64_t *list = NULL;
	_cleanup_free_ char *line = NULL;
	size_t room = 0, n = 0, line_room = 0;
	FILE *f = fopen(path, "re");
	int r = CLI_OK;

	if (!f)
		return cli_failed("%s: cannot open %s: %m", option, path);
	while (r == CLI_OK && getline(&line, &line_room, f) > 0) {
		line[strcspn(line, "\r\n")] = '\0';
		if (!*line)
			continue;
		if (GROW(list, room, n + 1) < 0) {
			r = cli_failed("out of memory");
			break;
		}
		if (postprocess_options_parse_index(line, &list[n++]) < 0)
			r = cli_failed("%s: %s: line %zu is not an index: '%s'", option, path, n,
				       line);
	}
	if (r == CLI_OK && ferror(f))
		r = cli_failed("%s: cannot read %s: %m", option, path);
	fclose(f);
	if (r != CLI_OK)
		return r;
	SORT(list, n, postprocess_options_compare);
	if (n == 0)
		list = calloc(1, sizeof(*list));
	if (!list)
		return cli_failed("out of memory");
	free(*ret);
	*ret = TAKE_PTR(list);
	*ret_n = n;
	return CLI_OK;
}

int postprocess_options_include(struct postprocess_options *o, const char *path)
{
	o->selects = true;
	return postprocess_options_read_indices("--include", path, &o->include,
						&o->select.n_include);
}

int postprocess_options_exclude(struct postprocess_options *o, const char *path)
{
	o->selects = true;
	return postprocess_options_read_indices("--exclude", path, &o->exclude,
						&o->select.n_exclude);
}

/* ---- all ---- */

int postprocess_options_finish(struct postprocess_options *o)
{
	if (o->options.sort == RTRACE_SORT_COUNT && !o->options.compress)
		return cli_usage_error("--sort count needs grouped calls: add --compress");
	if (o->options.compress && !o->sorts) {
		o->options.sort = RTRACE_SORT_SIZE;
		o->options.descending = true;
	}
	o->select.types = o->types;
	o->select.contexts = o->contexts;
	o->select.include = o->include;
	o->select.exclude = o->exclude;
	if (o->selects)
		o->options.select = &o->select;
	return CLI_OK;
}

bool postprocess_options_any(const struct postprocess_options *o)
{
	return o->selects || o->sorts || o->options.leaks || o->options.compress ||
	       o->options.resolve || o->options.has_depth;
}
