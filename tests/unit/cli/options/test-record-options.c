/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command lines of `kymo record`, `kymo start` and `kymo top`, and the resulting options.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options/record-options.h"
#include "cli/common/verb.h"
#include "tests/support/fixtures/said.h"
#include "tests/support/unit.h"

/* ---- functions of the tests ---- */

enum { WORDS_MAX = 16 };

static struct record_options options;

/* Parses the words up to a NULL. */
static int parse(enum option_verb verb, const char *const *words)
{
	static bool no_symbols;
	const struct verb_option own[] = {
		RECORD_OPTION_ROWS(&options),
		OPTION_FLAG("json", &options.json),
		OPTION_FLAG("direct", &options.direct),
		OPTION_FLAG("no-symbols", &no_symbols),
		{ 0 },
	};
	static char *argv[WORDS_MAX + 1];
	int argc = 0;

	while (words[argc] && argc < WORDS_MAX) {
		argv[argc] = (char *)words[argc];
		argc++;
	}
	argv[argc] = NULL;
	record_options_deinit(&options);
	options = (struct record_options){ 0 };
	*said = '\0';
	bad_option = 0;
	optind = 0; /* starts again */
	return record_options_parse(argc, argv, verb, own, &options);
}

#define RECORD(...) parse(OPTION_OF_RECORD, (const char *const[]){ "record", __VA_ARGS__, NULL })
#define START(...)  parse(OPTION_OF_START, (const char *const[]){ "start", __VA_ARGS__, NULL })
#define LEAKS(...)  parse(OPTION_OF_LEAKS, (const char *const[]){ "leaks", __VA_ARGS__, NULL })
#define TOP(...)    parse(OPTION_OF_TOP, (const char *const[]){ "top", __VA_ARGS__, NULL })

FIXTURE(tear_down)
{
	record_options_deinit(&options);
	return 0;
}

/* ---- tests ---- */

TEST(test_memory)
{
	assert_int_equal(RECORD("-e", "memory", "--uid", "0", "--memory-log", "--memory-interval",
				"512K", "--memory-min", "32", "--memory-blocks", "1M",
				"--usage-interval", "100ms"),
			 RECORD_OPTIONS_GO);
	assert_true(options.session.memory.log);
	assert_int_equal(options.session.memory.interval, 512 << 10);
	assert_int_equal(options.session.memory.min_bytes, 32);
	assert_int_equal(options.session.memory.blocks_max, 1 << 20);
	assert_int_equal(options.session.memory.usage_interval_ns, 100000000);
	assert_int_equal(RECORD("-e", "memory,threads"), CLI_USAGE);
	assert_non_null(strstr(said, "--events: "));
	assert_non_null(strstr(said, "add a filter"));
	assert_int_equal(START("-e", "sched", "--memory-min", "1"), CLI_USAGE);
	assert_non_null(strstr(said, "'memory,fd,shm,threads' among the categories"));
	assert_int_equal(START("-e", "memory", "--uid", "0", "--memory-blocks", "5"), CLI_USAGE);
	assert_non_null(strstr(said, "--memory-blocks"));
}

TEST(test_flight)
{
	assert_int_equal(START("--mode", "flight", "--keep", "1m", "--keep-size", "8M", "n"),
			 RECORD_OPTIONS_GO);
	assert_int_equal(options.session.mode, SESSION_FLIGHT);
	assert_int_equal(options.session.flight_ns, UINT64_C(60000000000));
	assert_int_equal(options.session.flight_bytes, 8 << 20);
	assert_int_equal(RECORD("--mode", "flight"), RECORD_OPTIONS_GO);
	assert_int_equal(options.session.flight_ns, 0);
	assert_int_equal(RECORD("--mode", "stream"), RECORD_OPTIONS_GO);
	assert_int_equal(RECORD("--mode", "fly"), CLI_USAGE);
	assert_non_null(strstr(said, "'fly' is not one of stream or flight"));
	assert_int_equal(RECORD("--keep", "5"), CLI_USAGE);
	assert_non_null(strstr(said, "--keep: needs mode 'flight'"));
	assert_int_equal(RECORD("--mode", "flight", "--max-size", "5M"), CLI_USAGE);
	assert_non_null(strstr(said, "--max-size: needs mode 'stream'"));
	assert_int_equal(RECORD("--mode", "flight", "--keep-size", "5"), CLI_USAGE);
	assert_non_null(strstr(said, "--keep-size: '5' is out of range"));
}

TEST(test_values)
{
	assert_int_equal(RECORD("-o", "file", "-d", "500ms", "-b", "8M", "--flush", "1",
				"--max-size=64K", "--force", "--direct", "--json"),
			 RECORD_OPTIONS_GO);
	assert_string_equal(options.output, "file");
	assert_int_equal(options.session.duration_ns, 500000000);
	assert_int_equal(options.session.ring_bytes, 8 << 20);
	assert_int_equal(options.session.flush_ns, 1000000000);
	assert_int_equal(options.session.max_bytes, 64 << 10);
	assert_true(options.force);
	assert_true(options.direct);
	assert_true(options.json);
	assert_int_equal(options.n_rest, 0);
	assert_false(options.separated);
	assert_string_equal(options.session.command,
			    "kymo record -o file -d 500ms -b 8M --flush 1 --max-size=64K --force "
			    "--direct --json");
}

TEST(test_limits)
{
	const struct trigger_options *t = &options.session.triggers;

	assert_int_equal(RECORD("--max-overhead", "0.25", "--trigger", "wakeup=5ms,pressure_io=20%",
				"--trigger=interval=1"),
			 RECORD_OPTIONS_GO);
	assert_int_equal(options.session.max_overhead_machine_ppm, 2500);
	assert_int_equal(options.session.max_overhead_ppm, 0);
	assert_int_equal(t->wakeup_ns, 5000000);
	assert_int_equal(t->offcpu_ns, 0);
	assert_int_equal(t->pressure_ppm[2], 200000);
	assert_int_equal(t->interval_ns, 1000000000);
	assert_int_equal(START("--max-overhead", "1.5cpu", "-e", "memory", "-p", "1", "--trigger",
			       "leak=10M"),
			 RECORD_OPTIONS_GO);
	assert_int_equal(options.session.max_overhead_ppm, 1500000);
	assert_int_equal(t->leak_bytes, 10 << 20);
	/* Counters are sampled for pressure. */
	assert_int_equal(RECORD("--trigger", "pressure_cpu=0.5", "--counter-interval", "200ms"),
			 RECORD_OPTIONS_GO);
	assert_int_equal(t->pressure_ppm[0], 5000);

	assert_int_equal(RECORD("--max-overhead", "0.005"), CLI_USAGE);
	assert_non_null(strstr(said, "0.01% to 100% of the machine's CPU time"));
	/* The value that used to mean two CPUs is above the maximum. */
	assert_int_equal(RECORD("--max-overhead", "200%"), CLI_USAGE);
	assert_non_null(strstr(said, "use 1.5cpu for one and a half CPUs"));
	assert_int_equal(RECORD("--max-overhead", "0.0005cpu"), CLI_USAGE);
	assert_int_equal(RECORD("--max-overhead", "5cpux"), CLI_USAGE);
	assert_int_equal(RECORD("--max-overhead", "much"), CLI_USAGE);
	assert_int_equal(RECORD("--max-overhead", "-1"), CLI_USAGE);
	assert_int_equal(RECORD("--max-overhead", "5x"), CLI_USAGE);
	assert_int_equal(RECORD("--max-overhead", "nan"), CLI_USAGE);
	assert_int_equal(RECORD("--trigger", "wakeup"), CLI_USAGE);
	assert_non_null(strstr(said, "WHAT=LIMIT"));
	assert_int_equal(RECORD("--trigger", "wakeup=5ms,,"), CLI_USAGE);
	assert_int_equal(RECORD("--trigger", "wakeup=soon"), CLI_USAGE);
	assert_non_null(strstr(said, "--trigger wakeup: 'soon' is not a time"));
	assert_int_equal(RECORD("--trigger", "pressure_cpu=101"), CLI_USAGE);
	assert_non_null(strstr(said, "--trigger pressure_cpu"));
	assert_int_equal(RECORD("--trigger", "leak=10M"), CLI_USAGE);
	assert_non_null(strstr(said, "needs 'memory' among the categories"));
	assert_int_equal(RECORD("-e", "irq", "--trigger", "wakeup=5ms"), CLI_USAGE);
	assert_non_null(strstr(said, "needs 'sched' among the categories"));
}

TEST(test_defaults)
{
	assert_int_equal(parse(OPTION_OF_RECORD, (const char *const[]){ "record", NULL }),
			 RECORD_OPTIONS_GO);
	assert_null(options.output);
	assert_null(options.bus);
	assert_false(options.force);
	assert_int_equal(options.session.duration_ns, 0);
	assert_int_equal(options.session.categories, 0);
	assert_int_equal(options.session.compress, PACK_NONE);
}

TEST(test_out_of_range)
{
	assert_int_equal(RECORD("-d", "soon"), CLI_USAGE);
	assert_string_equal(said, "-d: 'soon' is not a time; say 5, 500ms or 2m");
	assert_int_equal(RECORD("-d", "0"), CLI_USAGE);
	assert_non_null(strstr(said, "out of range"));
	assert_int_equal(RECORD("-b", "1K"), CLI_USAGE);
	assert_non_null(strstr(said, "out of range"));
	assert_int_equal(RECORD("-b", "big"), CLI_USAGE);
	assert_int_equal(RECORD("--flush", "1ms"), CLI_USAGE);
	assert_int_equal(RECORD("--max-size", "0"), CLI_USAGE);
	assert_int_equal(RECORD("-o", ""), CLI_USAGE);
	assert_int_equal(RECORD("--comm", "sixteen letters."), CLI_USAGE);
	assert_non_null(strstr(said, "'sixteen letters'"));
}

TEST(test_filters)
{
	char self[16], twice[40];

	snprintf(self, sizeof(self), "%d", (int)getpid());
	snprintf(twice, sizeof(twice), "%s,%s", self, self);
	assert_int_equal(RECORD("-p", twice, "-p", self, "--uid", "0,65534", "--comm", "a,b",
				"--comm", "fifteen letters"),
			 RECORD_OPTIONS_GO);
	assert_int_equal(options.session.filter.n_pids, 3);
	assert_int_equal(options.session.filter.pids[2], getpid());
	assert_int_equal(options.session.filter.n_uids, 2);
	assert_int_equal(options.session.filter.uids[1], 65534);
	/* A name can contain a comma. */
	assert_int_equal(options.session.filter.n_comms, 2);
	assert_string_equal(options.session.filter.comms[0], "a,b");
	assert_string_equal(options.session.filter.comms[1], "fifteen letters");
}

TEST(test_bad_filters)
{
	assert_int_equal(RECORD("-p", "0"), CLI_USAGE);
	assert_int_equal(RECORD("-p", "1,"), CLI_USAGE);
	assert_int_equal(RECORD("-p", "2147483647"), CLI_FAILED);
	assert_string_equal(said, "-p: there is no process 2147483647; 'ps -e' lists them");
	assert_int_equal(RECORD("--uid", "no such user"), CLI_FAILED);
	assert_int_equal(RECORD("--comm", ""), CLI_USAGE);
	assert_int_equal(RECORD("--comm", "\xff"), CLI_USAGE);
	assert_int_equal(RECORD("--cgroup", "/"), CLI_FAILED);
	assert_int_equal(RECORD("--unit", "a/b"), CLI_FAILED);
}

TEST(test_categories)
{
	assert_int_equal(RECORD("-e", "sched"), RECORD_OPTIONS_GO);
	assert_int_equal(options.session.categories, CATEGORY_SCHED);
	assert_int_equal(RECORD("-e", "sched,nonsense"), CLI_USAGE);
	assert_string_equal(said, "unknown category 'nonsense'; '-e help' lists them");
}

TEST(test_counter_interval)
{
	assert_int_equal(RECORD("-e", "counters", "--counter-interval", "100ms"),
			 RECORD_OPTIONS_GO);
	assert_int_equal(options.session.counter_interval_ns, 100000000);
	assert_int_equal(RECORD("--counter-interval", "1", "-e", "sched,counters"),
			 RECORD_OPTIONS_GO);
	assert_int_equal(RECORD("-e", "counters", "--counter-interval", "99ms"), CLI_USAGE);
	assert_non_null(strstr(said, "out of range"));
	assert_int_equal(RECORD("--counter-interval", "2"), CLI_USAGE);
	assert_string_equal(said, "--counter-interval: needs 'counters' among the categories");
	/* It is on already. */
	assert_int_equal(RECORD("--counter-interval", "1"), RECORD_OPTIONS_GO);
}

/* No user can believe in a filter that does not apply. */
TEST(test_unfiltered)
{
	assert_int_equal(RECORD("-e", "sched,workqueue", "--comm", "x"), RECORD_OPTIONS_GO);
	assert_string_equal(said, "");
	assert_int_equal(RECORD("-e", "irq,sched,counters"), RECORD_OPTIONS_GO);
	assert_string_equal(said, "");
	assert_int_equal(RECORD("-e", "irq,sched,counters", "--comm", "x"), RECORD_OPTIONS_GO);
	assert_string_equal(said, "filters apply to threads, but these categories are recorded for "
				  "the whole machine: irq,counters");
}

TEST(test_own)
{
	assert_int_equal(RECORD("--own", "-e", "sched,memory"), RECORD_OPTIONS_GO);
	assert_true(options.session.own);
	assert_int_equal(options.session.own_uid, getuid());
	assert_int_equal(RECORD("--own", "-e", "sched,irq"), CLI_USAGE);
	assert_non_null(strstr(said, "--own: cannot be combined with irq, softirq,"));
	assert_int_equal(RECORD("--own", "-e", "counters", "--", "ls"), CLI_USAGE);
	assert_int_equal(RECORD("--own", "-e", "memory", "--triage"), CLI_USAGE);
}

TEST(test_compress)
{
	assert_int_equal(RECORD("--compress"), RECORD_OPTIONS_GO);
	assert_int_equal(options.session.compress, PACK_ZSTD);
	assert_int_equal(RECORD("--compress=gzip"), RECORD_OPTIONS_GO);
	assert_int_equal(options.session.compress, PACK_GZIP);
	assert_int_equal(RECORD("--compress=rar"), CLI_USAGE);
	assert_string_equal(said,
			    "--compress: 'rar' is not one of no, yes, snappy, zstd, gzip, columns");
}

/* The words after "--" are a command, and only getopt's "--" counts. */
TEST(test_command)
{
	assert_int_equal(RECORD("-d", "1", "--", "ls", "-o", "x"), RECORD_OPTIONS_GO);
	assert_true(options.separated);
	assert_int_equal(options.n_rest, 3);
	assert_string_equal(options.rest[0], "ls");
	assert_null(options.rest[3]);
	assert_null(options.output);

	assert_int_equal(RECORD("ls", "-o", "x"), RECORD_OPTIONS_GO);
	assert_false(options.separated);
	assert_int_equal(options.n_rest, 3);

	assert_int_equal(RECORD("-o", "--", "ls"), RECORD_OPTIONS_GO);
	assert_string_equal(options.output, "--");
	assert_false(options.separated);
	assert_int_equal(options.n_rest, 1);

	assert_int_equal(RECORD("-o", "--", "--", "ls"), RECORD_OPTIONS_GO);
	assert_string_equal(options.output, "--");
	assert_true(options.separated);
	assert_int_equal(options.n_rest, 1);

	assert_int_equal(RECORD("--force", "--"), RECORD_OPTIONS_GO);
	assert_true(options.separated);
	assert_int_equal(options.n_rest, 0);
}

TEST(test_start)
{
	assert_int_equal(START("name", "-o", "file", "--force"), RECORD_OPTIONS_GO);
	assert_string_equal(options.output, "file");
	assert_true(options.force);
	assert_int_equal(options.n_rest, 1);
	assert_string_equal(options.rest[0], "name");
}

/* It accepts options of recording, but none of files. */
TEST(test_top)
{
	assert_int_equal(TOP("-F", "199", "--json", "--direct", "--no-symbols", "-d", "5"),
			 RECORD_OPTIONS_GO);
	assert_int_equal(options.session.frequency, 199);
	assert_string_equal(options.given, "-F");
	assert_true(options.json);
	assert_true(options.direct);
	assert_int_equal(TOP("-e", "sched"), CLI_USAGE);
	assert_int_equal(bad_option, '?');
	assert_int_equal(TOP("--mode", "flight"), CLI_USAGE);
	assert_int_equal(bad_option, '?');
}

/*
 * One name for the same thing. The old names for leaks are still accepted. Values are checked
 * later.
 */
TEST(test_leaks)
{
	const struct memory_options *m = &options.session.memory;

	assert_int_equal(LEAKS("--reach", "freeze", "--triage=2s", "--memory-min=5"),
			 RECORD_OPTIONS_GO);
	assert_int_equal(m->reach, MEMORY_REACH_FREEZE);
	assert_int_equal(m->triage_interval_ns, 2000000000);
	assert_true(m->triage);
	assert_string_equal(options.given, "--reach");
	assert_int_equal(LEAKS("--freeze", "--all"), RECORD_OPTIONS_GO);
	assert_int_equal(m->reach, MEMORY_REACH_FREEZE);
	assert_true(m->triage);
	assert_int_equal(m->triage_interval_ns, 0);
	assert_string_equal(options.given, "--freeze");
	assert_int_equal(LEAKS("--all=3s", "--reachability"), RECORD_OPTIONS_GO);
	assert_int_equal(m->reach, MEMORY_REACH_LOOK);
	assert_int_equal(m->triage_interval_ns, UINT64_C(3000000000));
	assert_int_equal(RECORD("--freeze"), CLI_USAGE);
	assert_int_equal(bad_option, '?');
}

TEST(test_bad_options)
{
	assert_int_equal(RECORD("--force=1"), CLI_USAGE);
	assert_int_equal(bad_option, '?');
	assert_int_equal(RECORD("--nonsense"), CLI_USAGE);
	assert_int_equal(bad_option, '?');
	assert_int_equal(RECORD("-q"), CLI_USAGE);
	assert_int_equal(bad_option, '?');
	assert_int_equal(RECORD("-o"), CLI_USAGE);
	assert_int_equal(bad_option, ':');
	assert_int_equal(RECORD("--unit"), CLI_USAGE);
	assert_int_equal(bad_option, ':');
	assert_int_equal(RECORD("--help"), CLI_OK);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_flight, tear_down),
		cmocka_unit_test_teardown(test_values, tear_down),
		cmocka_unit_test_teardown(test_memory, tear_down),
		cmocka_unit_test_teardown(test_limits, tear_down),
		cmocka_unit_test_teardown(test_defaults, tear_down),
		cmocka_unit_test_teardown(test_out_of_range, tear_down),
		cmocka_unit_test_teardown(test_filters, tear_down),
		cmocka_unit_test_teardown(test_bad_filters, tear_down),
		cmocka_unit_test_teardown(test_categories, tear_down),
		cmocka_unit_test_teardown(test_counter_interval, tear_down),
		cmocka_unit_test_teardown(test_unfiltered, tear_down),
		cmocka_unit_test_teardown(test_own, tear_down),
		cmocka_unit_test_teardown(test_compress, tear_down),
		cmocka_unit_test_teardown(test_command, tear_down),
		cmocka_unit_test_teardown(test_start, tear_down),
		cmocka_unit_test_teardown(test_top, tear_down),
		cmocka_unit_test_teardown(test_leaks, tear_down),
		cmocka_unit_test_teardown(test_bad_options, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
