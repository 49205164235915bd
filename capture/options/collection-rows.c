/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/options/collection-rows.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/string-table.h"
#include "base/text.h"
#include "capture/options/filter-values.h"

static void *collection_rows_at(const struct collection_row *row, struct collection *to)
{
	return (char *)to + row->offset;
}

__attribute__((format(printf, 2, 3))) static int refuse(char *why, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, VALUE_WHY_MAX, format, ap);
	va_end(ap);
	return -EINVAL;
}

static int collection_rows_take_size(const struct collection_row *row, struct collection *to,
				     const char *text, char why[static VALUE_WHY_MAX])
{
	return value_parse_size(text, row->min, row->max, collection_rows_at(row, to), why);
}

static int collection_rows_take_time(const struct collection_row *row, struct collection *to,
				     const char *text, char why[static VALUE_WHY_MAX])
{
	return value_parse_time(text, row->min, row->max, collection_rows_at(row, to), why);
}

static int collection_rows_take_percent(const struct collection_row *row, struct collection *to,
					const char *text, char why[static VALUE_WHY_MAX])
{
	return value_parse_percent(text, row->min, row->max, collection_rows_at(row, to), why);
}

static int take_overhead(const struct collection_row *row, struct collection *to, const char *text,
			 char why[static VALUE_WHY_MAX])
{
	(void)row;
	return session_options_take_overhead(&to->session, text, why);
}

static int take_count(const struct collection_row *row, struct collection *to, const char *text,
		      char why[static VALUE_WHY_MAX])
{
	return value_parse_count(text, row->min, row->max, collection_rows_at(row, to), why);
}

static int take_bool(const struct collection_row *row, struct collection *to, const char *text,
		     char why[static VALUE_WHY_MAX])
{
	return value_parse_bool(text, collection_rows_at(row, to), why);
}

/* What says yes where the option says no. */
static int take_not(const struct collection_row *row, struct collection *to, const char *text,
		    char why[static VALUE_WHY_MAX])
{
	bool value;
	int r = value_parse_bool(text, &value, why);

	if (r == 0)
		*(bool *)collection_rows_at(row, to) = !value;
	return r;
}

/* A limit: a size or a time, or none. */
static int take_size_or_none(const struct collection_row *row, struct collection *to,
			     const char *text, char why[static VALUE_WHY_MAX])
{
	if (strcasecmp(text, "infinity") != 0)
		return collection_rows_take_size(row, to, text, why);
	*(uint64_t *)collection_rows_at(row, to) = 0;
	return 0;
}

static int take_time_or_none(const struct collection_row *row, struct collection *to,
			     const char *text, char why[static VALUE_WHY_MAX])
{
	if (strcasecmp(text, "infinity") != 0)
		return collection_rows_take_time(row, to, text, why);
	*(uint64_t *)collection_rows_at(row, to) = 0;
	return 0;
}

static int set_string(char **to, const char *text)
{
	free(*to);
	*to = strdup(text);
	return *to ? 0 : -ENOMEM;
}

static int take_description(const struct collection_row *row, struct collection *to,
			    const char *text, char why[static VALUE_WHY_MAX])
{
	(void)why;
	return set_string(collection_rows_at(row, to), text);
}

static int collection_rows_take_categories(const struct collection_row *row, struct collection *to,
					   const char *text, char why[static VALUE_WHY_MAX])
{
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *word;
	uint32_t bits, all = 0;

	(void)row;
	if (!copy)
		return -ENOMEM;
	while ((word = strsep(&rest, ", \t"))) {
		if (*word && categories_parse(word, &bits, NULL, NULL) < 0)
			return refuse(why,
				      "there is no category '%.40s'; `kymo record -e help` lists "
				      "them",
				      word);
		all |= *word ? bits : 0;
	}
	if (all == 0)
		return refuse(why, "'%.40s' has no category in it", text);
	to->session.categories |= all;
	return 0;
}

static int take_mode(const struct collection_row *row, struct collection *to, const char *text,
		     char why[static VALUE_WHY_MAX])
{
	int i = STRING_TABLE_FIND(session_mode_names, text);

	if (i < 0)
		return refuse(why, "'%.40s' is not %s", text, row->values);
	to->session.mode = (enum session_mode)i;
	return 0;
}

static int take_reach(const struct collection_row *row, struct collection *to, const char *text,
		      char why[static VALUE_WHY_MAX])
{
	int i = STRING_TABLE_FIND(memory_reach_names, text);

	if (i < 0)
		return refuse(why, "'%.40s' is none of %s", text, row->values);
	to->session.memory.reach = (enum heap_trace_reach)i;
	return 0;
}

static int take_compress(const struct collection_row *row, struct collection *to, const char *text,
			 char why[static VALUE_WHY_MAX])
{
	char ignored[VALUE_WHY_MAX];
	bool yes;

	if (pack_parse(text, &to->session.compress) == 0)
		return 0;
	if (value_parse_bool(text, &yes, ignored) < 0)
		return refuse(why, "'%.40s' is none of %s", text, row->values);
	to->session.compress = yes ? PACK_ZSTD : PACK_NONE;
	return 0;
}

static int collection_rows_append(char ***list, const char *text)
{
	size_t n = 0;
	char **more;

	while (*list && (*list)[n])
		n++;
	more = reallocarray(*list, n + 2, sizeof(*more));
	if (!more)
		return -ENOMEM;
	*list = more;
	more[n] = strdup(text);
	more[n + 1] = NULL;
	return more[n] ? 0 : -ENOMEM;
}

/* The kinds of units that processes can be in, and what names are made of. */
static int take_unit(const struct collection_row *row, struct collection *to, const char *text,
		     char why[static VALUE_WHY_MAX])
{
	static const char *const suffixes[] = { "service", "scope", "slice",
						"socket",  "mount", "swap" };
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789:_.\\@-";
	size_t n = strspn(text, letters);
	const char *dot = strrchr(text, '.');

	if (text[n] != '\0' && strchr(" \t,", text[n]))
		return refuse(why, "'%.80s' is more than one unit: give each a %s= of its own",
			      text, row->key);
	if (text[n] != '\0' || dot == text)
		return refuse(why, "'%.80s' cannot be the name of a unit", text);
	if (dot && STRING_TABLE_FIND(suffixes, dot + 1) < 0)
		return refuse(why,
			      "'%.80s' is no unit that processes are in: a service, a scope, a "
			      "slice, a socket, a mount or a swap",
			      text);
	if (strlen(text) + (dot ? 0 : strlen(".service")) >= FILTER_CGROUP_BYTES)
		return refuse(why, "'%.40s...' is longer than %d bytes", text,
			      FILTER_CGROUP_BYTES - 1);
	return collection_rows_append(collection_rows_at(row, to), text);
}

/* Whether PATH has no name in it that is none. */
static bool is_plain(const char *path)
{
	for (const char *p = path; *p; p += strspn(p, "/")) {
		size_t n = strcspn(p, "/");

		if (n > NAME_MAX || (n == 1 && *p == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		p += n;
	}
	return strlen(path) < PATH_MAX;
}

static int take_cgroup(const struct collection_row *row, struct collection *to, const char *text,
		       char why[static VALUE_WHY_MAX])
{
	const char *last = strrchr(text, '/');

	if (!is_plain(text) || strspn(text, "/") == strlen(text))
		return refuse(why, "'%.80s' is not the path of a cgroup below the root", text);
	if (strlen(last ? last + 1 : text) >= FILTER_CGROUP_BYTES)
		return refuse(why, "the last name in '%.80s' is longer than %d bytes", text,
			      FILTER_CGROUP_BYTES - 1);
	return collection_rows_append(collection_rows_at(row, to), text);
}

static int take_comm(const struct collection_row *row, struct collection *to, const char *text,
		     char why[static VALUE_WHY_MAX])
{
	(void)row;
	return filter_add_comm(&to->session.filter, text, why) < 0 ? -EINVAL : 0;
}

static int take_user(const struct collection_row *row, struct collection *to, const char *text,
		     char why[static VALUE_WHY_MAX])
{
	(void)row;
	return filter_add_user(&to->session.filter, text, why) < 0 ? -EINVAL : 0;
}

static int check_path(const char *text, char *why)
{
	if (*text != '/' || !is_plain(text))
		return refuse(why, "'%.80s' is not an absolute path without \".\" and \"..\"",
			      text);
	return 0;
}

static int take_program(const struct collection_row *row, struct collection *to, const char *text,
			char why[static VALUE_WHY_MAX])
{
	size_t n = 0;
	int r = check_path(text, why);

	if (r < 0)
		return r;
	while (to->programs && to->programs[n])
		n++;
	if (n == ALLOCATOR_FILES_MAX)
		return refuse(why, "more than %d are not possible", ALLOCATOR_FILES_MAX);
	return collection_rows_append(collection_rows_at(row, to), text);
}

static int take_directory(const struct collection_row *row, struct collection *to, const char *text,
			  char why[static VALUE_WHY_MAX])
{
	size_t n = strlen(text);
	int r = check_path(text, why);

	if (r == 0)
		r = set_string(collection_rows_at(row, to), text);
	/* As it is compared and shown. */
	for (; r == 0 && n > 1 && to->directory[n - 1] == '/'; n--)
		to->directory[n - 1] = '\0';
	if (r == 0 && strcmp(to->directory, "/") == 0)
		return refuse(why, "'/' cannot be where chunks go");
	return r;
}

char *collection_format_bound(const struct collection_row *row, uint64_t value, char *to)
{
	if (row->take == collection_rows_take_size || row->take == take_size_or_none)
		return text_format_size(to, value);
	if (row->take == collection_rows_take_time || row->take == take_time_or_none)
		return text_format_time(to, value);
	if (row->take == collection_rows_take_percent)
		return value_format_percent(to, value);
	snprintf(to, TEXT_FORMAT_MAX, "%" PRIu64, value);
	return to;
}

#define SECONDS UINT64_C(1000000000)
#define DAYS    (86400 * SECONDS)

#define EVERY      SESSION_MODE_MAX
#define AT(member) offsetof(struct collection, member)

#define TRIGGER_PRESSURE_ROW(name, i)                                                              \
	{                                                                                          \
		"Trigger", name, collection_rows_take_percent,                                     \
			AT(session.triggers.pressure_ppm[i]), 10000, TRIGGER_PPM_MAX,              \
			"a percentage", "never", 0, SESSION_FLIGHT, false                          \
	}

/* clang-format off */
const struct collection_row collection_rows[] = {
	{ "Collection", "Description", take_description, AT(description), 0, 0, "text", NULL, 0, EVERY, false },
	{ "Collection", "Categories", collection_rows_take_categories, 0, 0, 0, "names of categories", "sched profile", 0, EVERY, true },
	{ "Collection", "Mode", take_mode, 0, 0, 0, "stream or flight", "stream", 0, EVERY, false },
	{ "Collection", "Compress", take_compress, 0, 0, 0, "no, yes, zstd, snappy, gzip", "no", 0, EVERY, false },
	{ "Collection", "RingSize", collection_rows_take_size, AT(session.ring_bytes), RING_BYTES_MIN, RING_BYTES_MAX, "a size", "4M", 0, EVERY, false },
	{ "Collection", "Frequency", take_count, AT(session.frequency), 1, FREQUENCY_MAX, "a number", "99", CATEGORY_PROFILE, EVERY, false },
	{ "Collection", "OffCpuMin", collection_rows_take_time, AT(session.offcpu_min_ns), OFFCPU_NS_MIN, OFFCPU_NS_MAX, "a time", "1ms", CATEGORY_OFFCPU, EVERY, false },
	{ "Collection", "CounterInterval", collection_rows_take_time, AT(session.counter_interval_ns), COUNTER_NS_MIN, COUNTER_NS_MAX, "a time", "1s", CATEGORY_COUNTERS, EVERY, false },
	{ "Collection", "FlushInterval", collection_rows_take_time, AT(session.flush_ns), FLUSH_NS_MIN, FLUSH_NS_MAX, "a time", "250ms", 0, EVERY, false },
	{ "Collection", "PerfettoBlobs", take_not, AT(session.no_perfetto_blobs), 0, 0, "yes or no", "yes", CATEGORIES_STACKS, EVERY, false },
	{ "Collection", "MaxOverhead", take_overhead, 0, 0, 0, "a percentage of the machine's CPU time, or CPUs, as 0.5cpu", "no limit", 0, EVERY, false },
	{ "Collection", "Duration", take_time_or_none, AT(session.duration_ns), SECONDS, INT64_MAX, "a time, or infinity", "infinity", 0, EVERY, false },
	{ "Filter", "Unit", take_unit, AT(units), 0, 0, "the name of a unit", "every process", 0, EVERY, true },
	{ "Filter", "CGroup", take_cgroup, AT(cgroups), 0, 0, "a path", "every process", 0, EVERY, true },
	{ "Filter", "Comm", take_comm, 0, 0, 0, "the name of a thread", "every process", 0, EVERY, true },
	{ "Filter", "User", take_user, 0, 0, 0, "a user's name or number", "every process", 0, EVERY, true },
	{ "Memory", "Log", take_bool, AT(session.memory.log), 0, 0, "yes or no", "no", CATEGORIES_MEMORY, EVERY, false },
	{ "Memory", "Interval", collection_rows_take_size, AT(session.memory.interval), 1, MEMORY_INTERVAL_MAX, "a size", "each block", CATEGORIES_MEMORY, EVERY, false },
	{ "Memory", "MinSize", collection_rows_take_size, AT(session.memory.min_bytes), 1, MEMORY_SIZE_MAX, "a size", "1", CATEGORIES_MEMORY, EVERY, false },
	{ "Memory", "Blocks", take_count, AT(session.memory.blocks_max), MEMORY_BLOCKS_MIN, MEMORY_BLOCKS_MAX, "a number", "1000000", CATEGORIES_MEMORY, EVERY, false },
	{ "Memory", "UsageInterval", collection_rows_take_time, AT(session.memory.usage_interval_ns), USAGE_NS_MIN, USAGE_NS_MAX, "a time", "1s", CATEGORIES_MEMORY, EVERY, false },
	{ "Memory", "Reach", take_reach, 0, 0, 0, "no, look, freeze", "no", CATEGORY_MEMORY, EVERY, false },
	{ "Memory", "Triage", take_bool, AT(session.memory.triage), 0, 0, "yes or no", "no", CATEGORY_MEMORY, EVERY, false },
	{ "Memory", "TriageInterval", collection_rows_take_time, AT(session.memory.triage_interval_ns), TRIAGE_NS_MIN, TRIAGE_NS_MAX, "a time", "5s", CATEGORY_MEMORY, EVERY, false },
	{ "Memory", "Program", take_program, AT(programs), 0, 0, "an absolute path", NULL, CATEGORIES_PROBES, EVERY, true },
	{ "Output", "Directory", take_directory, AT(directory), 0, 0, "an absolute path", COLLECTION_DIRECTORY_PREFIX "/NAME", 0, EVERY, false },
	{ "Output", "RotateSize", take_size_or_none, AT(session.rotate_bytes), ROTATE_BYTES_MIN, INT64_MAX, "a size, or infinity", "64M", 0, SESSION_STREAM, false },
	{ "Output", "RotateTime", take_time_or_none, AT(session.rotate_ns), ROTATE_NS_MIN, INT64_MAX, "a time, or infinity", "infinity", 0, SESSION_STREAM, false },
	{ "Output", "KeepSize", take_size_or_none, AT(keep_bytes), ROTATE_BYTES_MIN, INT64_MAX, "a size, or infinity", "1G", 0, EVERY, false },
	{ "Output", "KeepTime", take_time_or_none, AT(keep_ns), ROTATE_NS_MIN, INT64_MAX, "a time, or infinity", "infinity", 0, EVERY, false },
	{ "Flight", "Keep", collection_rows_take_time, AT(session.flight_ns), ROTATE_NS_MIN, DAYS, "a time", "10s", 0, SESSION_FLIGHT, false },
	{ "Flight", "KeepSize", collection_rows_take_size, AT(session.flight_bytes), FLIGHT_BYTES_MIN, FLIGHT_BYTES_MAX, "a size", "64M", 0, SESSION_FLIGHT, false },
	{ "Trigger", "WakeupLatency", collection_rows_take_time, AT(session.triggers.wakeup_ns), TRIGGER_NS_MIN, TRIGGER_NS_MAX, "a time", "never", CATEGORY_SCHED, SESSION_FLIGHT, false },
	{ "Trigger", "OffCpu", collection_rows_take_time, AT(session.triggers.offcpu_ns), TRIGGER_NS_MIN, TRIGGER_NS_MAX, "a time", "never", CATEGORY_SCHED, SESSION_FLIGHT, false },
	TRIGGER_PRESSURE_ROW("CpuPressure", 0),
	TRIGGER_PRESSURE_ROW("MemoryPressure", 1),
	TRIGGER_PRESSURE_ROW("IoPressure", 2),
	{ "Trigger", "LeakGrowth", collection_rows_take_size, AT(session.triggers.leak_bytes), TRIGGER_BYTES_MIN, MEMORY_SIZE_MAX, "a size", "never", CATEGORY_MEMORY, SESSION_FLIGHT, false },
	{ "Trigger", "Interval", collection_rows_take_time, AT(session.triggers.interval_ns), SECONDS, TRIGGER_INTERVAL_NS_MAX, "a time", "1min", 0, SESSION_FLIGHT, false },
};
/* clang-format on */

const size_t collection_n_rows = ARRAY_SIZE(collection_rows);

bool collection_key(size_t i, struct collection_key *ret)
{
	const struct collection_row *row = &collection_rows[i];
	char low[TEXT_FORMAT_MAX], high[TEXT_FORMAT_MAX];

	if (i >= collection_n_rows)
		return false;
	*ret = (struct collection_key){
		.section = row->section,
		.name = row->key,
		.usual = row->usual,
		.list = row->list,
	};
	snprintf(ret->values, sizeof(ret->values), "%s", row->values);
	if (row->max)
		snprintf(ret->values, sizeof(ret->values),
			 row->max < INT64_MAX ? "%s: %s to %s" : "%s: %s or more", row->values,
			 collection_format_bound(row, row->min, low),
			 collection_format_bound(row, row->max, high));
	return true;
}
