/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One row an option. A parser gets the option's text and returns what the process would exit with,
 * after it has said what is wrong, or RECORD_OPTIONS_GO.
 */
#include "cli/service/record-options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/string-table.h"
#include "base/text.h"
#include "base/value.h"
#include "capture/options/filter-values.h"
#include "capture/options/find-cgroup.h"
#include "capture/programs/sampler.h"
#include "cli/common/verb.h"

typedef int (*parse_fn)(struct record_options *o, const char *name, const char *text);

/* What adding to a filter came to. */
static int record_options_added(const char *name, int error, const char *why)
{
	if (error == -EINVAL)
		return cli_usage_error("%s: %s", name, why);
	if (error < 0)
		cli_error("%s: %s", name, why);
	return error < 0 ? CLI_FAILED : RECORD_OPTIONS_GO;
}

/* Calls EACH for the words of TEXT between commas. */
static int parse_list(struct record_options *o, const char *name, const char *text, parse_fn each)
{
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *word;
	int r = RECORD_OPTIONS_GO;

	while (r == RECORD_OPTIONS_GO && (word = strsep(&rest, ",")))
		r = each(o, name, word);
	return r;
}

static int print_categories(void)
{
	for (const struct category_row *c = category_rows; c->name; c++)
		printf("%-10s %s\n%-10s cost: %s\n", c->name, c->what, "", c->cost);
	printf("%-10s sched,profile, which is what is recorded without -e\n", "default");
	printf("%-10s all that can be recorded of what is chosen: memory, fd, shm and threads\n"
	       "%-10s only with a filter\n",
	       "all", "");
	puts("Starts, ends and names of processes and threads are always recorded.");
	return CLI_OK;
}

static int unknown_category(const char *text)
{
	struct value_nearest near = { .text = text, .distance = VALUE_NEAR };

	for (const struct category_row *c = category_rows; c->name; c++)
		value_nearest_try(&near, c->name);
	if (near.nearest)
		return cli_usage_error("there is no category '%s'; did you mean '%s'?", text,
				       near.nearest);
	return cli_usage_error("there is no category '%s'; '-e help' lists them", text);
}

static int parse_category(struct record_options *o, const char *name, const char *text)
{
	uint32_t bits;

	(void)name;
	if (strcmp(text, "all") == 0)
		o->all_categories = true;
	else if (strcmp(text, "default") == 0)
		/* (who is not root does not know what the service can do) */
		o->session.categories |=
			geteuid() == 0 ? sampler_default_categories() : CATEGORIES_DEFAULT;
	else if (categories_parse(text, &bits, NULL, NULL) < 0)
		return unknown_category(text);
	else
		o->session.categories |= bits;
	return RECORD_OPTIONS_GO;
}

static int parse_categories(struct record_options *o, const char *name, const char *text)
{
	if (strcmp(text, "help") == 0)
		return print_categories();
	return parse_list(o, name, text, parse_category);
}

/* What "all" means, once all filters are known. */
static void take_all_categories(struct record_options *o)
{
	uint32_t bits = 0;

	if (!o->all_categories)
		return;
	for (const struct category_row *c = category_rows; c->name; c++)
		bits |= c->bit;
	if (geteuid() == 0 && !(sampler_default_categories() & CATEGORY_PROFILE))
		bits &= ~(uint32_t)CATEGORY_PROFILE;
	if (!capture_filter_is_set(&o->session.filter) && !o->session.memory.triage)
		bits &= ~(uint32_t)CATEGORIES_MEMORY;
	if (o->session.own)
		bits &= ~(uint32_t)CATEGORIES_NOT_OWN;
	o->session.categories |= bits;
}

/* The tgid of a thread, or 0. */
static uint64_t tgid_of(uint64_t tid)
{
	unsigned long long tgid = 0;
	char path[64], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/status", tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f) && sscanf(line, "Tgid: %llu", &tgid) != 1)
		;
	fclose(f);
	return tgid;
}

static int parse_pid(struct record_options *o, const char *name, const char *text)
{
	char why[VALUE_WHY_MAX];
	uint64_t pid, tgid;

	if (text_parse_u64(text, INT32_MAX, &pid) < 0 || pid == 0)
		return cli_usage_error("%s: '%s' is not a process id", name, text);
	if (kill((pid_t)pid, 0) < 0 && errno == ESRCH) {
		cli_error("%s: there is no process %s", name, text);
		return CLI_FAILED;
	}
	tgid = tgid_of(pid);
	if (tgid != 0 && tgid != pid) {
		cli_error("%s: %s is a thread; its process is %" PRIu64, name, text, tgid);
		return CLI_FAILED;
	}
	return record_options_added(name, filter_add_pid(&o->session.filter, (uint32_t)pid, why),
				    why);
}

static int parse_pids(struct record_options *o, const char *name, const char *text)
{
	return parse_list(o, name, text, parse_pid);
}

static int parse_uid(struct record_options *o, const char *name, const char *text)
{
	char why[VALUE_WHY_MAX];

	return record_options_added(name, filter_add_user(&o->session.filter, text, why), why);
}

static int parse_uids(struct record_options *o, const char *name, const char *text)
{
	return parse_list(o, name, text, parse_uid);
}

static int parse_comm(struct record_options *o, const char *name, const char *text)
{
	char why[VALUE_WHY_MAX];

	if (strlen(text) >= REC_COMM_BYTES)
		return cli_usage_error("%s: '%s' has %zu bytes, and the kernel keeps %d of a "
				       "thread's name: it calls that '%.*s'",
				       name, text, strlen(text), REC_COMM_BYTES - 1,
				       REC_COMM_BYTES - 1, text);
	return record_options_added(name, filter_add_comm(&o->session.filter, text, why), why);
}

/* Puts N that were found as TEXT into the filter; a negative errno says why there are none. */
static int add_cgroups(struct record_options *o, const char *name, const char *text,
		       const struct filter_cgroup *list, int n)
{
	char why[VALUE_WHY_MAX];

	if (n >= 0)
		return record_options_added(
			name, filter_add_cgroups(&o->session.filter, list, n, why), why);
	cli_error("%s: %s", name, find_cgroup_error(n, text, why));
	return CLI_FAILED;
}

static int parse_unit(struct record_options *o, const char *name, const char *text)
{
	struct filter_cgroup list[FILTER_CGROUPS_MAX];

	return add_cgroups(o, name, text, list, find_cgroup_unit(text, list, FILTER_CGROUPS_MAX));
}

static int parse_cgroup(struct record_options *o, const char *name, const char *text)
{
	struct filter_cgroup one;
	int r = find_cgroup_path(text, &one);

	return add_cgroups(o, name, text, &one, r < 0 ? r : 1);
}

/* A time from MIN to MAX; 0 is none. */
static int record_options_parse_time(const char *name, const char *text, uint64_t min, uint64_t max,
				     uint64_t *ret)
{
	char why[VALUE_WHY_MAX];

	if (value_parse_time(text, min, max, ret, why) < 0)
		return cli_usage_error("%s: %s", name, why);
	return RECORD_OPTIONS_GO;
}

static int parse_size(const char *name, const char *text, uint64_t min, uint64_t max, uint64_t *ret)
{
	char why[VALUE_WHY_MAX];

	if (value_parse_size(text, min, max, ret, why) < 0)
		return cli_usage_error("%s: %s", name, why);
	return RECORD_OPTIONS_GO;
}

/* "5", "0.5", "5%" */
static int parse_ppm(const char *text, uint64_t *ret)
{
	char *end;
	double percent;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	percent = strtod(text, &end);
	if (*end == '%')
		end++;
	if (*end != '\0' || !(percent >= 0 && percent < 1e9))
		return -EINVAL;
	*ret = (uint64_t)(percent * 1e4 + 0.5);
	return 0;
}

static int parse_duration(struct record_options *o, const char *name, const char *text)
{
	return record_options_parse_time(name, text, 1, INT64_MAX, &o->session.duration_ns);
}

static int parse_flush(struct record_options *o, const char *name, const char *text)
{
	return record_options_parse_time(name, text, FLUSH_NS_MIN, FLUSH_NS_MAX,
					 &o->session.flush_ns);
}

static int parse_counter_interval(struct record_options *o, const char *name, const char *text)
{
	return record_options_parse_time(name, text, COUNTER_NS_MIN, COUNTER_NS_MAX,
					 &o->session.counter_interval_ns);
}

static int parse_frequency(struct record_options *o, const char *name, const char *text)
{
	if (text_parse_u64(text, FREQUENCY_MAX, &o->session.frequency) < 0 ||
	    o->session.frequency == 0)
		return cli_usage_error("%s: '%s' is not a frequency: 1 to %u samples a second",
				       name, text, FREQUENCY_MAX);
	return RECORD_OPTIONS_GO;
}

static int parse_offcpu_min(struct record_options *o, const char *name, const char *text)
{
	return record_options_parse_time(name, text, OFFCPU_NS_MIN, OFFCPU_NS_MAX,
					 &o->session.offcpu_min_ns);
}

static int parse_ring(struct record_options *o, const char *name, const char *text)
{
	return parse_size(name, text, RING_BYTES_MIN, RING_BYTES_MAX, &o->session.ring_bytes);
}

static int parse_interval(struct record_options *o, const char *name, const char *text)
{
	return record_options_parse_time(name, text, TOP_INTERVAL_NS_MIN, TOP_INTERVAL_NS_MAX,
					 &o->interval_ns);
}

static int parse_count(struct record_options *o, const char *name, const char *text)
{
	if (text_parse_u64(text, UINT32_MAX, &o->count) < 0 || o->count == 0)
		return cli_usage_error("%s: '%s' is not a count", name, text);
	return RECORD_OPTIONS_GO;
}

static int parse_max_size(struct record_options *o, const char *name, const char *text)
{
	return parse_size(name, text, 1, INT64_MAX, &o->session.max_bytes);
}

static int parse_max_overhead(struct record_options *o, const char *name, const char *text)
{
	char why[VALUE_WHY_MAX];

	if (session_options_take_overhead(&o->session, text, why) < 0)
		return cli_usage_error("%s: %s", name, why);
	return RECORD_OPTIONS_GO;
}

/* WHAT=LIMIT */
static int parse_trigger(struct record_options *o, const char *name, const char *text)
{
	size_t n = strcspn(text, "=");
	const struct trigger_row *row = trigger_row_of(text, n);
	char what[48];
	uint64_t *limit;

	if (!row || text[n] == '\0')
		return cli_usage_error(
			"%s: '%s' is no WHAT=LIMIT with one of wakeup, offcpu, "
			"pressure_cpu, pressure_memory, pressure_io, leak and interval",
			name, text);
	snprintf(what, sizeof(what), "%s %s", name, row->name);
	limit = trigger_limit(&o->session.triggers, row);
	text += n + 1;
	if (row->unit == TRIGGER_NS)
		return record_options_parse_time(what, text, row->min, row->max, limit);
	if (row->unit == TRIGGER_BYTES)
		return parse_size(what, text, row->min, row->max, limit);
	if (parse_ppm(text, limit) < 0 || *limit < row->min || *limit > row->max)
		return cli_usage_error("%s: '%s' is no share of time; say 5, 0.5 or 20%%", what,
				       text);
	return RECORD_OPTIONS_GO;
}

static int parse_triggers(struct record_options *o, const char *name, const char *text)
{
	return parse_list(o, name, text, parse_trigger);
}

static int parse_compress(struct record_options *o, const char *name, const char *text)
{
	o->session.compress = PACK_ZSTD;
	if (text && pack_parse(text, &o->session.compress) < 0)
		return cli_usage_error("%s: '%s' is none of snappy, zstd and gzip", name, text);
	return RECORD_OPTIONS_GO;
}

static int parse_mode(struct record_options *o, const char *name, const char *text)
{
	int mode = STRING_TABLE_FIND(session_mode_names, text);

	if (mode < 0)
		return cli_usage_error("%s: '%s' is none of stream and flight", name, text);
	o->session.mode = (enum session_mode)mode;
	return RECORD_OPTIONS_GO;
}

static int parse_keep(struct record_options *o, const char *name, const char *text)
{
	return record_options_parse_time(name, text, 1, INT64_MAX, &o->session.flight_ns);
}

static int parse_keep_size(struct record_options *o, const char *name, const char *text)
{
	return parse_size(name, text, FLIGHT_BYTES_MIN, FLIGHT_BYTES_MAX, &o->session.flight_bytes);
}

static int parse_output(struct record_options *o, const char *name, const char *text)
{
	if (*text == '\0')
		return cli_usage_error("%s: an empty name", name);
	o->output = text;
	return RECORD_OPTIONS_GO;
}

static int parse_bus(struct record_options *o, const char *name, const char *text)
{
	(void)name;
	o->bus = text;
	return RECORD_OPTIONS_GO;
}

static int set_memory_log(struct record_options *o, const char *name, const char *text)
{
	(void)name;
	(void)text;
	o->session.memory.log = true;
	return RECORD_OPTIONS_GO;
}

static int parse_memory_interval(struct record_options *o, const char *name, const char *text)
{
	return parse_size(name, text, 1, MEMORY_INTERVAL_MAX, &o->session.memory.interval);
}

static int parse_memory_min(struct record_options *o, const char *name, const char *text)
{
	return parse_size(name, text, 1, MEMORY_SIZE_MAX, &o->session.memory.min_bytes);
}

static int parse_memory_blocks(struct record_options *o, const char *name, const char *text)
{
	return parse_size(name, text, MEMORY_BLOCKS_MIN, MEMORY_BLOCKS_MAX,
			  &o->session.memory.blocks_max);
}

static int parse_reach(struct record_options *o, const char *name, const char *text)
{
	int reach = STRING_TABLE_FIND(memory_reach_names, text);

	if (reach < 0)
		return cli_usage_error("%s: '%s' is none of no, look and freeze", name, text);
	o->session.memory.reach = (enum heap_trace_reach)reach;
	return RECORD_OPTIONS_GO;
}

static int parse_triage(struct record_options *o, const char *name, const char *text)
{
	o->session.memory.triage = true;
	return text ? record_options_parse_time(name, text, TRIAGE_NS_MIN, TRIAGE_NS_MAX,
						&o->session.memory.triage_interval_ns)
		    : RECORD_OPTIONS_GO;
}

static int parse_usage_interval(struct record_options *o, const char *name, const char *text)
{
	return record_options_parse_time(name, text, USAGE_NS_MIN, USAGE_NS_MAX,
					 &o->session.memory.usage_interval_ns);
}

static int set_own(struct record_options *o, const char *name, const char *text)
{
	(void)name;
	(void)text;
	session_options_set_own(&o->session, getuid());
	return RECORD_OPTIONS_GO;
}

static int set_force(struct record_options *o, const char *name, const char *text)
{
	(void)name;
	(void)text;
	o->force = true;
	return RECORD_OPTIONS_GO;
}

static int set_no_perfetto_blobs(struct record_options *o, const char *name, const char *text)
{
	(void)name;
	(void)text;
	o->session.no_perfetto_blobs = true;
	return RECORD_OPTIONS_GO;
}

static int set_no_symbols(struct record_options *o, const char *name, const char *text)
{
	(void)name;
	(void)text;
	o->no_symbols = true;
	return RECORD_OPTIONS_GO;
}

static int set_direct(struct record_options *o, const char *name, const char *text)
{
	(void)name;
	(void)text;
	o->direct = true;
	return RECORD_OPTIONS_GO;
}

static int set_json(struct record_options *o, const char *name, const char *text)
{
	(void)name;
	(void)text;
	o->json = true;
	return RECORD_OPTIONS_GO;
}

static int record_options_print_help(struct record_options *o, const char *name, const char *text)
{
	(void)o;
	(void)name;
	(void)text;
	return cli_help();
}

/* Which verbs know an option. */
enum {
	OF_ALL = RECORD_OPTIONS_RECORD | RECORD_OPTIONS_START | RECORD_OPTIONS_TOP,
	OF_ARCHIVES = RECORD_OPTIONS_RECORD | RECORD_OPTIONS_START,
	OF_WAITING = RECORD_OPTIONS_RECORD | RECORD_OPTIONS_TOP,
	OF_TOP = RECORD_OPTIONS_TOP,
};

/* Short options are their character, long ones their place here behind 256. */
static const struct row {
	unsigned verbs;
	char letter;      /* or 0 */
	const char *name; /* as it is called in messages; "--x" is a long option */
	int has_argument;
	parse_fn parse;
} rows[] = {
	{ OF_ARCHIVES, 'o', "-o", required_argument, parse_output },
	{ OF_ARCHIVES, 0, "--output", required_argument, parse_output },
	{ OF_ALL, 'd', "-d", required_argument, parse_duration },
	{ OF_ALL, 0, "--duration", required_argument, parse_duration },
	{ OF_ARCHIVES, 'e', "-e", required_argument, parse_categories },
	{ OF_ARCHIVES, 0, "--events", required_argument, parse_categories },
	{ OF_ALL, 'F', "-F", required_argument, parse_frequency },
	{ OF_ALL, 0, "--frequency", required_argument, parse_frequency },
	{ OF_ALL, 'p', "-p", required_argument, parse_pids },
	{ OF_ALL, 0, "--pid", required_argument, parse_pids },
	{ OF_ALL, 'b', "-b", required_argument, parse_ring },
	{ OF_ALL, 0, "--buffer", required_argument, parse_ring },
	{ OF_TOP, 'i', "-i", required_argument, parse_interval },
	{ OF_TOP, 0, "--interval", required_argument, parse_interval },
	{ OF_TOP, 'n', "-n", required_argument, parse_count },
	{ OF_ALL, 'h', "-h", no_argument, record_options_print_help },
	{ OF_ALL, 0, "--help", no_argument, record_options_print_help },
	{ OF_ALL, 0, "--unit", required_argument, parse_unit },
	{ OF_ALL, 0, "--cgroup", required_argument, parse_cgroup },
	{ OF_ALL, 0, "--comm", required_argument, parse_comm },
	{ OF_ALL, 0, "--uid", required_argument, parse_uids },
	{ OF_ALL, 0, "--own", no_argument, set_own },
	{ OF_ARCHIVES, 0, "--counter-interval", required_argument, parse_counter_interval },
	{ OF_ARCHIVES, 0, "--offcpu-min", required_argument, parse_offcpu_min },
	{ OF_ARCHIVES, 0, "--memory-log", no_argument, set_memory_log },
	{ OF_ARCHIVES, 0, "--memory-interval", required_argument, parse_memory_interval },
	{ OF_ARCHIVES, 0, "--memory-min", required_argument, parse_memory_min },
	{ OF_ARCHIVES, 0, "--memory-blocks", required_argument, parse_memory_blocks },
	{ OF_ARCHIVES, 0, "--reach", required_argument, parse_reach },
	{ OF_ARCHIVES, 0, "--triage", optional_argument, parse_triage },
	{ OF_ARCHIVES, 0, "--usage-interval", required_argument, parse_usage_interval },
	{ OF_ARCHIVES, 0, "--no-perfetto-blobs", no_argument, set_no_perfetto_blobs },
	{ OF_ARCHIVES, 0, "--flush", required_argument, parse_flush },
	{ OF_ARCHIVES, 0, "--max-size", required_argument, parse_max_size },
	{ OF_ARCHIVES, 0, "--max-overhead", required_argument, parse_max_overhead },
	{ OF_ARCHIVES, 0, "--trigger", required_argument, parse_triggers },
	{ OF_ARCHIVES, 0, "--compress", optional_argument, parse_compress },
	{ OF_ARCHIVES, 0, "--mode", required_argument, parse_mode },
	{ OF_ARCHIVES, 0, "--keep", required_argument, parse_keep },
	{ OF_ARCHIVES, 0, "--keep-size", required_argument, parse_keep_size },
	{ OF_ARCHIVES, 0, "--force", no_argument, set_force },
	{ OF_TOP, 0, "--no-symbols", no_argument, set_no_symbols },
	{ OF_ALL, 0, "--bus", required_argument, parse_bus },
	{ OF_WAITING, 0, "--direct", no_argument, set_direct },
	{ OF_WAITING, 0, "--json", no_argument, set_json },
};

static const struct row *record_options_row_of(int c)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (c >= 256 ? (size_t)c - 256 == i : rows[i].letter && rows[i].letter == c)
			return &rows[i];
	}
	return NULL;
}

/* Fills what getopt_long() wants from the rows. */
static void make_getopt(enum record_options_verb verb, struct option *long_options, char *letters)
{
	/* A command's own options are not ours. */
	if (verb == RECORD_OPTIONS_RECORD)
		*letters++ = '+';
	*letters++ = ':';
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!(rows[i].verbs & verb))
			continue;
		if (rows[i].letter) {
			*letters++ = rows[i].letter;
			if (rows[i].has_argument)
				*letters++ = ':';
		} else {
			*long_options++ = (struct option){ rows[i].name + 2, rows[i].has_argument,
							   NULL, 256 + (int)i };
		}
	}
	*letters = '\0';
	*long_options = (struct option){ 0 };
}

/* The whole command line, for the archive. */
static char *record_options_join(int argc, char **argv)
{
	size_t n = sizeof("kymo"), used;
	char *raw, *clean;

	for (int i = 0; i < argc; i++)
		n += strlen(argv[i]) + 1;
	raw = malloc(n);
	clean = malloc(3 * n < 4096 ? 3 * n : 4096);
	if (raw && clean) {
		used = (size_t)sprintf(raw, "kymo");
		for (int i = 0; i < argc; i++)
			used += (size_t)sprintf(raw + used, " %s", argv[i]);
		text_clean(clean, 3 * n < 4096 ? 3 * n : 4096, raw, used);
	}
	free(raw);
	return clean;
}

static int parse_all(int argc, char **argv, enum record_options_verb verb, struct record_options *o)
{
	struct option long_options[ARRAY_SIZE(rows) + 1];
	char letters[2 * ARRAY_SIZE(rows) + 3];
	int c, behind = 1, r = RECORD_OPTIONS_GO;

	o->session.command = record_options_join(argc, argv);
	make_getopt(verb, long_options, letters);
	opterr = 0;
	while (r == RECORD_OPTIONS_GO &&
	       (c = getopt_long(argc, argv, letters, long_options, NULL)) >= 0) {
		const struct row *row = record_options_row_of(c);

		if (!row)
			return cli_bad_option(c, argv, long_options);
		behind = optind;
		r = row->parse(o, row->name, optarg);
	}
	o->rest = argv + optind;
	o->n_rest = argc - optind;
	/* Behind the last option: "-o --" names a file. */
	o->separated = optind > behind && strcmp(argv[optind - 1], "--") == 0;
	return r;
}

/* Only of memory is it asked what leads to it. */
static bool has_unused_option(const struct memory_options *m, uint32_t categories)
{
	return m->reach && !(categories & CATEGORY_MEMORY);
}

static bool asks_about_memory(const struct memory_options *m)
{
	return m->log || m->interval || m->min_bytes || m->blocks_max || m->usage_interval_ns;
}

static bool asks_for_pressure(const struct trigger_options *t)
{
	return t->pressure_ppm[0] || t->pressure_ppm[1] || t->pressure_ppm[2];
}

/* What the options say together. */
static int record_options_check_all(const struct record_options *o)
{
	uint32_t categories = o->session.categories;
	char names[CATEGORIES_TEXT_MAX];

	if (o->session.counter_interval_ns && !(categories & CATEGORY_COUNTERS) &&
	    !asks_for_pressure(&o->session.triggers))
		return cli_usage_error("--counter-interval: no counters are recorded; "
				       "add 'counters' to -e");
	if (o->session.frequency && categories && !(categories & CATEGORY_PROFILE))
		return cli_usage_error("-F: no samples are taken; add 'profile' to -e");
	if (o->session.offcpu_min_ns && !(categories & CATEGORY_OFFCPU))
		return cli_usage_error("--offcpu-min: times off CPU are not recorded; "
				       "add 'offcpu' to -e");
	if (asks_about_memory(&o->session.memory) && !(categories & CATEGORIES_MEMORY))
		return cli_usage_error("--memory-... and --usage-interval: nothing is recorded of "
				       "what is allocated; add 'memory' to -e");
	if (has_unused_option(&o->session.memory, categories))
		return cli_usage_error("--reach: memory is not watched; add 'memory' to -e");
	if (o->session.memory.triage && o->n_rest > 0)
		return cli_usage_error(
			"--triage: processes that grow are looked for among all, not "
			"in a command");
	if (session_options_own_refused(&o->session))
		return cli_usage_error("--own: %s", session_options_own_refused(&o->session));
	if (flight_options_refused(&o->session))
		return cli_usage_error("--mode and --keep...: %s",
				       flight_options_refused(&o->session));
	/* (a command that is to be run is chosen by that) */
	if (o->n_rest == 0 && session_options_refused(&o->session))
		return cli_usage_error("-e %s: %s",
				       categories_format(names, categories & CATEGORIES_MEMORY),
				       session_options_refused(&o->session));
	if (categories & CATEGORIES_UNFILTERED && capture_filter_is_set(&o->session.filter))
		cli_error("filters are for threads; these are recorded of the whole machine: %s",
			  categories_format(names, categories & CATEGORIES_UNFILTERED));
	return RECORD_OPTIONS_GO;
}

int record_options_parse(int argc, char **argv, enum record_options_verb verb,
			 struct record_options *ret)
{
	_cleanup_(record_options_deinit) struct record_options o = { 0 };
	int r = parse_all(argc, argv, verb, &o);

	if (r == RECORD_OPTIONS_GO)
		take_all_categories(&o);
	if (r == RECORD_OPTIONS_GO)
		r = record_options_check_all(&o);
	if (r != RECORD_OPTIONS_GO)
		return r;
	*ret = o;
	o = (struct record_options){ 0 };
	return r;
}

void record_options_deinit(struct record_options *o)
{
	session_options_deinit(&o->session);
}
