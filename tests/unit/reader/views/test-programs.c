/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "reader/views/programs.h"
#include "tests/support/unit.h"

static void rename_to(struct programs *p, uint64_t ts, uint32_t pid, const char *from,
		      const char *to)
{
	const struct event ev = {
		.kind = EVENT_RENAME, .ts_ns = ts, .pid = pid, .tid = pid, .rename = { from, to }
	};

	assert_int_equal(programs_add(p, &ev), 0);
}

static void exec(struct programs *p, uint64_t ts, uint32_t pid, int want)
{
	const struct event ev = { .kind = EVENT_EXEC,
				  .ts_ns = ts,
				  .pid = pid,
				  .tid = pid,
				  .exec = { .file = "f", .command_line = "" } };

	assert_int_equal(programs_add(p, &ev), want);
}

static void assert_program(const struct programs *p, uint32_t pid, uint64_t ts, uint32_t number,
			   const char *name)
{
	const char *found = programs_name(p, pid, programs_at(p, pid, ts));

	assert_int_equal(programs_at(p, pid, ts), number);
	if (name)
		assert_string_equal(found, name);
	else
		assert_null(found);
}

/* A shell, which has changed its name before, executes two programs, the first one twice. */
TEST(test_execs)
{
	struct programs p = { 0 };

	assert_program(&p, 10, 5, 0, NULL);
	rename_to(&p, 20, 10, "sh", "worker");
	rename_to(&p, 99, 10, "worker", "make");
	exec(&p, 100, 10, 1);
	assert_program(&p, 10, 99, 0, "worker");
	assert_program(&p, 10, 100, 1, NULL);
	/* (the kernel reports no rename if the name is the same) */
	exec(&p, 150, 10, 0);
	rename_to(&p, 199, 10, "make", "cc");
	exec(&p, 200, 10, 1);
	assert_program(&p, 10, 0, 0, "worker");
	assert_program(&p, 10, 199, 1, "make");
	assert_program(&p, 10, UINT64_MAX, 2, NULL);
	assert_int_equal(programs_last(&p, 10), 2);
	/* Other processes do not change. */
	assert_program(&p, 11, 150, 0, NULL);
	programs_deinit(&p);
	assert_program(&p, 10, 0, 0, NULL);
}

/* Names of other threads are not names of programs. */
TEST(test_threads)
{
	struct programs p = { 0 };
	const struct event ev = {
		.kind = EVENT_RENAME, .ts_ns = 50, .pid = 10, .tid = 11, .rename = { "a", "b" }
	};

	assert_int_equal(programs_add(&p, &ev), 0);
	exec(&p, 100, 10, 0);
	rename_to(&p, 150, 10, "a", "a");
	exec(&p, 200, 10, 0);
	programs_deinit(&p);
}

TEST(test_limit)
{
	struct programs p = { .n = PROGRAMS_MAX - 1 };

	for (uint32_t pid = 10; pid < 12; pid++) {
		rename_to(&p, 99, pid, "a", "b");
		exec(&p, 100, pid, pid == 10);
	}
	assert_program(&p, 11, 5, 0, NULL);
	programs_deinit(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_execs),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
