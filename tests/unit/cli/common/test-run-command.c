/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands that run, that cannot run, and whose process is killed before it executes them.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/run-command.h"
#include "tests/support/unit.h"

static sigset_t mask;

/* A command that ends at once has run, too. */
TEST(test_runs)
{
	char *const argv[] = { (char *)"true", NULL };

	for (int i = 0; i < 20; i++) {
		struct run_command c = { 0 };

		assert_int_equal(run_command_start(&c, (char **)argv, &mask), 0);
		assert_true(c.pid > 0);
		assert_soon(run_command_poll(&c));
		assert_int_equal(run_command_report(&c, "true"), 0);
	}
}

TEST(test_missing)
{
	char *argv[] = { (char *)"/no/such/command", NULL };
	struct run_command c = { 0 };

	assert_int_equal(run_command_start(&c, argv, &mask), -ENOENT);
	assert_int_equal(c.pid, 0);
}

/* A process that is killed before exec has not run the command. */
TEST(test_killed_before_exec)
{
	char *argv[] = { (char *)"true", NULL };
	struct run_command c = { 0 };

	assert_int_equal(run_command_prepare(&c, argv, &mask, false), 0);
	assert_int_equal(kill(c.prepared, SIGKILL), 0);
	assert_int_equal(run_command_exec(&c), -ECHILD);
	assert_int_equal(c.pid, 0);
	assert_int_equal(c.prepared, 0);
}

/* The files of the command are mapped as soon as the process is prepared. */
TEST(test_maps_files)
{
	char *argv[] = { (char *)"/bin/true", NULL };

	for (int i = 0; i < 20; i++) {
		struct run_command c = { 0 };
		char path[64], line[4096];
		unsigned n = 0;
		FILE *maps;

		assert_int_equal(run_command_prepare(&c, argv, &mask, true), 0);
		snprintf(path, sizeof(path), "/proc/%d/maps", (int)c.prepared);
		maps = fopen(path, "re");
		assert_non_null(maps);
		while (fgets(line, sizeof(line), maps))
			n += strstr(line, "/true\n") && strstr(line, " r-xp ");
		fclose(maps);
		assert_true(n > 1);
		assert_int_equal(run_command_exec(&c), 0);
		assert_soon(run_command_poll(&c));
		assert_int_equal(run_command_report(&c, "true"), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_killed_before_exec),
		cmocka_unit_test(test_maps_files),
	};

	/* (as the command does, which writes to the process) */
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
