/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands that run, that cannot run, and whose process is killed or hangs before it executes them.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/record-unwind.h"
#include "capture/proc/task-state.h"
#include "cli/common/run-command.h"
#include "cli/common/verb.h"
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

enum { LIBRARIES = 40 };

/* The files of a command with many libraries are mapped, too, as often as the programs can list. */
TEST(test_maps_many_files)
{
	char directory[] = "/tmp/kymo-run-command.XXXXXX", text[1024], line[4096];
	char *argv[] = { text, NULL };
	unsigned n_mappings = 0, n_program = 0, seen[LIBRARIES] = { 0 };
	struct run_command c = { 0 };
	FILE *maps;

	assert_non_null(mkdtemp(directory));
	snprintf(text, sizeof(text),
		 "cd %s && echo 'int f(void) { return 1; }' >f.c && cc -shared -o lib-0.so f.c && "
		 "i=1 && while [ $i -lt %d ]; do cp lib-0.so lib-$i.so && i=$((i + 1)); done && "
		 "echo 'int main(void) { return 0; }' >main.c && "
		 "cc -Wl,--no-as-needed -o program main.c $PWD/lib-*.so",
		 directory, LIBRARIES);
	assert_int_equal(system(text), 0); // NOLINT(cert-env33-c)
	snprintf(text, sizeof(text), "%s/program", directory);
	assert_int_equal(run_command_prepare(&c, argv, &mask, true), 0);
	snprintf(line, sizeof(line), "/proc/%d/maps", (int)c.prepared);
	maps = fopen(line, "re");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		const char *library = strstr(line, "/lib-");
		unsigned i;

		if (!strstr(line, " r-xp "))
			continue;
		n_mappings++;
		n_program += strstr(line, "/program\n") != NULL;
		if (library && sscanf(library, "/lib-%u.so", &i) == 1 && i < LIBRARIES)
			seen[i]++;
	}
	fclose(maps);
	assert_in_range(n_mappings, LIBRARIES, UNWIND_MAPPINGS_MAX);
	assert_in_range(n_program, 2, UNWIND_MAPPINGS_MAX);
	for (unsigned i = 0; i < LIBRARIES; i++)
		assert_int_equal(seen[i], n_program);
	assert_int_equal(run_command_exec(&c), 0);
	assert_soon(run_command_poll(&c));
	assert_int_equal(run_command_report(&c, "program"), 0);
	snprintf(text, sizeof(text), "rm -r %s", directory);
	assert_int_equal(system(text), 0); // NOLINT(cert-env33-c)
}

/* ---- processes that hang before exec ---- */

static int held_fds[2] = { -1, -1 };

/* Runs in each child of fork(), before it maps files: waits until it is let go. */
static void hold_child(void)
{
	char go;

	if (held_fds[0] >= 0 && read(held_fds[0], &go, 1) != 1)
		_exit(1);
}

/* Prepares a command whose process hangs. */
static void prepare_held(struct run_command *c, char **argv)
{
	assert_int_equal(pipe(held_fds), 0);
	assert_int_equal(run_command_prepare(c, argv, &mask, true), 0);
	close(held_fds[0]);
	held_fds[0] = -1;
}

/* The process tells late that it has mapped its files. That is not the result of exec. */
TEST(test_maps_late)
{
	char *argv[] = { (char *)"/no/such/command", NULL };
	struct run_command c = { 0 };

	prepare_held(&c, argv);
	assert_int_equal(write(held_fds[1], "", 1), 1);
	assert_int_equal(run_command_exec(&c), -ENOENT);
	assert_int_equal(c.pid, 0);
	close(held_fds[1]);
}

static bool call_off(void)
{
	return true;
}

static pid_t held_pid;

/* Lets the process go on, and waits until it has executed the program. */
static void let_execute(void)
{
	assert_int_equal(write(held_fds[1], "", 1), 1);
	assert_soon(task_state_has_executed(held_pid));
	held_pid = 0;
}

static unsigned n_asked;

/* The process executes the program after the last look at its pipe. */
static bool call_off_late(void)
{
	if (++n_asked == 10)
		let_execute();
	return true;
}

static bool executes_at_kill;

/* (instead of the C library's) */
int kill(pid_t pid, int number)
{
	if (executes_at_kill && number == SIGKILL && pid == held_pid)
		let_execute();
	return (int)syscall(SYS_kill, pid, number);
}

/* A program that has begun is not killed, or the result is that of the command. */
TEST(test_begins_late)
{
	char *argv[] = { (char *)"/bin/sleep", (char *)"0.1", NULL };
	struct run_command c = { .is_called_off = call_off_late };

	prepare_held(&c, argv);
	held_pid = c.prepared;
	assert_int_equal(run_command_exec(&c), 0);
	assert_true(n_asked >= 10);
	assert_soon(run_command_poll(&c));
	assert_int_equal(run_command_report(&c, "sleep"), 0);
	close(held_fds[1]);

	c = (struct run_command){ .is_called_off = call_off };
	argv[1] = (char *)"300";
	prepare_held(&c, argv);
	held_pid = c.prepared;
	executes_at_kill = true;
	assert_int_equal(run_command_exec(&c), 0);
	assert_int_equal(held_pid, 0);
	assert_soon(run_command_poll(&c));
	assert_int_equal(run_command_report(&c, "sleep"), CLI_SIGNALLED + SIGKILL);
	executes_at_kill = false;
	close(held_fds[1]);
}

/* The process hangs until it is killed. */
TEST(test_hangs)
{
	char *argv[] = { (char *)"/bin/true", NULL };
	struct run_command c = { .is_called_off = call_off };

	prepare_held(&c, argv);
	run_command_cancel(&c);
	assert_int_equal(c.prepared, 0);
	close(held_fds[1]);
	prepare_held(&c, argv);
	assert_int_equal(run_command_exec(&c), -EINTR);
	assert_int_equal(c.prepared, 0);
	assert_int_equal(c.pid, 0);
	close(held_fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_killed_before_exec),
		cmocka_unit_test(test_maps_files),
		cmocka_unit_test(test_maps_many_files),
		cmocka_unit_test(test_maps_late),
		cmocka_unit_test(test_hangs),
		cmocka_unit_test(test_begins_late),
	};

	/* (as the command does, which writes to the process) */
	signal(SIGPIPE, SIG_IGN);
	pthread_atfork(NULL, NULL, hold_child);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
