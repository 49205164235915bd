/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "reader/symbols/symbols.h"
#include "tests/support/unit.h"

enum { PID = 12345 };

static char dir[] = "/tmp/kymo-test-perf-map.XXXXXX";

FIXTURE(set_up)
{
	return mkdtemp(dir) ? 0 : -1;
}

FIXTURE(tear_down)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/perf-%u.map", dir, PID);
	unlink(path);
	return rmdir(dir);
}

static void write_map(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	fclose(f);
}

static void write_fake(const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/perf-%u.map", dir, PID);
	write_map(path, text);
}

/* Times are those of the process, and of the mapping; 0 = unknown */
static const struct symbol_frame *ask_timed(struct symbols *s, uint64_t began_ns,
					    uint64_t mapped_ns, struct symbol_query query)
{
	const struct symbol_frame *frames = NULL;
	size_t n = 0;

	query.began_ns = began_ns;
	query.mapping = (struct symbol_mapping){
		.path = "//anon",
		.start = 0x1000,
		.size = 0x10000,
		.mapped_ns = mapped_ns,
	};
	assert_int_equal(symbols_resolve(s, &query, &frames, &n), 0);
	assert_int_equal(n, 1);
	return frames;
}

static const struct symbol_frame *ask(struct symbols *s, uint32_t pid, bool lives, uint64_t address)
{
	return ask_timed(s, 0, 0,
			 (struct symbol_query){ .pid = pid, .lives = lives, .address = address });
}

static struct symbols *open_fake(void)
{
	struct symbols *s = NULL;

	assert_int_equal(symbols_new(&s, &(struct symbols_options){ .perf_map_dir = dir }), 0);
	return s;
}

static void assert_function(const struct symbol_frame *frame, const char *function, uint64_t offset)
{
	assert_non_null(frame->function);
	assert_string_equal(frame->function, function);
	assert_int_equal(frame->offset, offset);
}

static bool has_problem(const struct symbols *s, const char *what)
{
	const struct symbol_problem *problem;

	for (size_t pos = 0; (problem = symbols_next_problem(s, &pos));)
		if (strstr(problem->what, what))
			return true;
	return false;
}

TEST(test_of_the_dead)
{
	struct symbols *s = open_fake();

	write_fake("2000 100 Lcom/example/Main;::run (compiled)\n"
		   "2100 20 _ZN3foo3barEi\n"
		   "\n"
		   "zzz\n"
		   "2300\n"
		   "2300 10\n"
		   "2300 10 \n"
		   "2400 0 nothing\n"
		   "ffffffffffffff00 1000 beyond\n"
		   "3000 100 old\n"
		   "3000 80 new\n"
		   "4000 100 again\n"
		   "4080 100 again\n"
		   "4170 20 inside\n"
		   "4178 4 again\n"
		   "5000 100 with\ta tab and \x1b[31m colour\n"
		   "6000 100 not yet who");
	assert_function(ask(s, PID, false, 0x2000), "Lcom/example/Main;::run (compiled)", 0);
	assert_function(ask(s, PID, false, 0x20ff), "Lcom/example/Main;::run (compiled)", 0xff);
	assert_function(ask(s, PID, false, 0x2100), "foo::bar(int)", 0);
	assert_string_equal(ask(s, PID, false, 0x2100)->module, "perf-12345.map");
	/* Its writer is unknown. */
	assert_true(ask(s, PID, false, 0x2100)->unsure);
	assert_null(ask(s, PID, false, 0x2120)->function);
	assert_string_equal(ask(s, PID, false, 0x2120)->module, "[anon]");
	assert_null(ask(s, PID, false, 0x2300)->function);
	assert_null(ask(s, PID, false, 0x2400)->function);
	assert_null(ask(s, PID, false, UINT64_C(0xffffffffffffff01))->function);
	assert_null(ask(s, PID, false, 0x6000)->function);
	/* With different functions at one address, the right one is unknown. */
	assert_null(ask(s, PID, false, 0x3000)->function);
	assert_null(ask(s, PID, false, 0x307f)->function);
	assert_function(ask(s, PID, false, 0x3080), "old", 0x80);
	/* A function that was written again is the same one. */
	assert_function(ask(s, PID, false, 0x407f), "again", 0x7f);
	assert_function(ask(s, PID, false, 0x4080), "again", 0);
	assert_function(ask(s, PID, false, 0x416f), "again", 0xef);
	assert_null(ask(s, PID, false, 0x4170)->function);
	assert_null(ask(s, PID, false, 0x4179)->function);
	assert_null(ask(s, PID, false, 0x417f)->function);
	assert_function(ask(s, PID, false, 0x4188), "inside", 0x18);
	assert_true(has_problem(s, "several functions"));
	assert_function(ask(s, PID, false, 0x5000), "with\ta tab and \ufffd[31m colour", 0);
	/* Other processes have no file, and without a pid there is none to find. */
	assert_null(ask(s, PID + 1, false, 0x2000)->function);
	assert_null(ask(s, 0, false, 0x2000)->function);
	symbols_free(s);
}

TEST(test_of_the_living)
{
	struct symbols *s = open_fake();
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	write_map(path, "2000 100 compiled\n");
	assert_function(ask(s, (uint32_t)getpid(), true, 0x2001), "compiled", 1);
	assert_false(ask(s, (uint32_t)getpid(), true, 0x2001)->unsure);
	symbols_free(s);
	/* A file of another user. */
	if (geteuid() == 0 && chown(path, 12345, 12345) == 0) {
		const struct symbol_problem *problem;
		size_t pos = 0;

		s = open_fake();
		assert_null(ask(s, (uint32_t)getpid(), true, 0x2001)->function);
		problem = symbols_next_problem(s, &pos);
		assert_non_null(problem);
		assert_non_null(strstr(problem->file, "perf-"));
		assert_non_null(strstr(problem->what, "belongs"));
		symbols_free(s);
	}
	unlink(path);
}

static uint64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#define SECOND UINT64_C(1000000000)

/* A map that was left by an earlier process with the same id, and one of the process itself. */
TEST(test_of_earlier_process)
{
	const struct symbol_query query = { .pid = PID, .address = 0x2001 };
	const struct timespec times[2] = { { .tv_nsec = UTIME_NOW }, { .tv_sec = 1000000000 } };
	struct symbols *s = open_fake();
	char path[128];

	write_fake("2000 100 old\n");
	snprintf(path, sizeof(path), "%s/perf-%u.map", dir, PID);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_null(ask_timed(s, 1000000002 * SECOND, 0, query)->function);
	assert_true(has_problem(s, "an earlier process"));
	symbols_free(s);
	for (uint64_t at_ns = 0; at_ns <= 1000000000 * SECOND; at_ns += 500000000 * SECOND) {
		s = open_fake();
		assert_function(ask_timed(s, at_ns, 0, query), "old", 1);
		assert_false(has_problem(s, ""));
		symbols_free(s);
	}
}

/* A map that was created after code was mapped has only the last names of addresses. */
TEST(test_of_later_time)
{
	const struct symbol_query query = { .pid = PID, .address = 0x2001 };
	uint64_t now_ns = wall_ns();
	struct symbols *s = open_fake();
	struct statx st;
	char path[128];

	snprintf(path, sizeof(path), "%s/perf-%u.map", dir, PID);
	unlink(path);
	write_fake("2000 100 last\n");
	assert_int_equal(statx(AT_FDCWD, path, 0, STATX_BTIME, &st), 0);
	assert_function(ask_timed(s, 0, now_ns + SECOND, query), "last", 1);
	assert_false(has_problem(s, ""));
	assert_function(ask_timed(s, 0, now_ns - 10 * SECOND, query), "last", 1);
	assert_int_equal(has_problem(s, "later function"), (st.stx_mask & STATX_BTIME) != 0);
	symbols_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_the_dead),
		cmocka_unit_test(test_of_the_living),
		cmocka_unit_test(test_of_earlier_process),
		cmocka_unit_test(test_of_later_time),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
