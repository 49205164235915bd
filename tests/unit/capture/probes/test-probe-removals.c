/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Removals of probes, as other recorders know them: while they last, afterwards, and when the
 * remover is killed. And invalid files.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/probes/probe-removals.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/unit.h"

enum { SLOT = 7, OTHER = 8, REMOVERS = 6, REMOVALS = 500 };

FIXTURE(set_up)
{
	int r = own_directory_set_up(state);

	probe_removals_set_parent("run");
	return r;
}

static struct probe_removals *open_removals(void)
{
	struct probe_removals *r = NULL;

	assert_int_equal(probe_removals_open(&r), 0);
	return r;
}

TEST(test_removal)
{
	_cleanup_(probe_removals_freep) struct probe_removals *remover = open_removals();
	_cleanup_(probe_removals_freep) struct probe_removals *second = open_removals();
	_cleanup_(probe_removals_freep) struct probe_removals *reader = open_removals();
	uint64_t before_ns = clock_boot_ns(), within_ns, between_ns;

	assert_false(probe_removals_since(reader, SLOT, before_ns));
	probe_removals_begin(remover, SLOT);
	probe_removals_begin(remover, SLOT);
	within_ns = clock_boot_ns();
	/* While it lasts, its begin does not matter. */
	assert_true(probe_removals_since(reader, SLOT, UINT64_MAX));
	assert_false(probe_removals_since(reader, OTHER, before_ns));
	/* Nobody waits for another remover of the same slot. */
	probe_removals_begin(second, SLOT);
	probe_removals_end(remover);
	between_ns = clock_boot_ns();
	assert_true(probe_removals_since(reader, SLOT, UINT64_MAX));
	probe_removals_end(second);
	assert_false(probe_removals_since(reader, SLOT, UINT64_MAX));
	/* (noted times are a little late) */
	assert_soon(!probe_removals_since(reader, SLOT, clock_boot_ns()));
	assert_true(probe_removals_since(reader, SLOT, between_ns));
	assert_true(probe_removals_since(reader, SLOT, within_ns));
	assert_true(probe_removals_since(reader, SLOT, before_ns));
	assert_false(probe_removals_since(reader, OTHER, before_ns));
	/* Without the file, removals are unknown. */
	probe_removals_begin(NULL, SLOT);
	probe_removals_end(NULL);
	assert_true(probe_removals_since(NULL, SLOT, UINT64_MAX));
}

/* Removes probes many times, and returns whether each of these removals is known afterwards. */
static bool remove_often(void)
{
	struct probe_removals *remover = open_removals(), *reader = open_removals();

	for (unsigned i = 0; i < REMOVALS; i++) {
		uint64_t since_ns;

		probe_removals_begin(remover, SLOT);
		since_ns = clock_boot_ns();
		probe_removals_end(remover);
		if (!probe_removals_since(reader, SLOT, since_ns))
			return false;
	}
	return true;
}

/* The notes of several removers at once do not hide each other. */
TEST(test_many)
{
	int status;

	for (unsigned i = 0; i < REMOVERS; i++)
		if (fork() == 0)
			_exit(!remove_often());
	for (unsigned i = 0; i < REMOVERS; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
}

/* A killed remover cannot note the end, but its lock ends, too: when its last child has ended. */
TEST(test_killed)
{
	_cleanup_(probe_removals_freep) struct probe_removals *reader = open_removals();
	uint64_t before_ns = clock_boot_ns();
	int go[2], said[2], status;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(go) | pipe(said), 0);
	pid = fork();
	if (pid == 0) {
		struct probe_removals *remover = open_removals();

		probe_removals_begin(remover, SLOT);
		if (fork() == 0) {
			close(go[1]);
			(void)!read(go[0], &byte, 1);
			_exit(0);
		}
		(void)!write(said[1], "", 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(said[0], &byte, 1), 1);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(probe_removals_since(reader, SLOT, UINT64_MAX));
	close(go[1]);
	assert_soon(!probe_removals_since(reader, SLOT, UINT64_MAX));
	assert_true(probe_removals_since(reader, SLOT, before_ns));
	close(go[0]);
	close(said[0]);
	close(said[1]);
}

/* The kernel closes the lowest descriptor last. */
TEST(test_lowest)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct probe_removals *r;
	struct stat st, own;

	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	r = open_removals();
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(stat("run/probes/removals", &own), 0);
	assert_int_equal(st.st_ino, own.st_ino);
	assert_int_equal(own.st_mode & 07777, 0600);
	probe_removals_free(r);
}

/* Two files of one size share a slot, since overlayfs can show one file as two. */
TEST(test_slot)
{
	unsigned slots[3], i = 0;

	put_bytes("", "a", "1234", 4);
	put_bytes("", "b", "5678", 4);
	put_bytes("", "c", "12345", 5);
	for (const char *name = "abc"; *name; name++) {
		const char path[] = { *name, '\0' };
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		assert_true(fd >= 0);
		slots[i] = probe_removals_slot(fd);
		assert_true(slots[i++] < PROBE_REMOVALS_SLOTS);
		close(fd);
	}
	assert_int_equal(slots[0], slots[1]);
	assert_int_not_equal(slots[0], slots[2]);
	assert_int_equal(probe_removals_slot(-1), 0);
}

TEST(test_invalid)
{
	struct probe_removals *r = NULL;

	probe_removals_free(open_removals());
	assert_int_equal(chmod("run/probes/removals", 0644), 0);
	assert_int_equal(probe_removals_open(&r), -EPERM);
	assert_int_equal(unlink("run/probes/removals"), 0);
	assert_int_equal(symlink("elsewhere", "run/probes/removals"), 0);
	assert_int_equal(probe_removals_open(&r), -ELOOP);
	assert_int_equal(unlink("run/probes/removals"), 0);
	assert_int_equal(mkfifo("run/probes/removals", 0600), 0);
	assert_int_equal(probe_removals_open(&r), -EPERM);
	assert_null(r);
}

/* A file that is changed while it is open: then removals are unknown, until the next one. */
TEST(test_changed)
{
	_cleanup_(probe_removals_freep) struct probe_removals *remover = open_removals();
	_cleanup_(probe_removals_freep) struct probe_removals *reader = open_removals();
	static const char path[] = "run/probes/removals";
	char garbage[4096];

	memset(garbage, 'x', sizeof(garbage));
	assert_int_equal(size_of_file(path), sizeof(garbage));
	assert_false(probe_removals_since(reader, SLOT, 0));
	put_bytes("", path, garbage, sizeof(garbage));
	assert_true(probe_removals_since(reader, SLOT, UINT64_MAX));
	probe_removals_begin(remover, SLOT);
	probe_removals_end(remover);
	assert_false(probe_removals_since(reader, SLOT, UINT64_MAX));
	assert_true(probe_removals_since(reader, OTHER, UINT64_MAX));
	assert_int_equal(truncate(path, 1), 0);
	assert_true(probe_removals_since(reader, SLOT, UINT64_MAX));
	probe_removals_free(open_removals());
	assert_int_equal(size_of_file(path), sizeof(garbage));
	assert_int_equal(unlink(path), 0);
	assert_true(probe_removals_since(reader, SLOT, UINT64_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_removal, set_up, own_directory_tear_down),
		cmocka_unit_test_setup_teardown(test_many, set_up, own_directory_tear_down),
		cmocka_unit_test_setup_teardown(test_killed, set_up, own_directory_tear_down),
		cmocka_unit_test_setup_teardown(test_lowest, set_up, own_directory_tear_down),
		cmocka_unit_test_setup_teardown(test_slot, set_up, own_directory_tear_down),
		cmocka_unit_test_setup_teardown(test_invalid, set_up, own_directory_tear_down),
		cmocka_unit_test_setup_teardown(test_changed, set_up, own_directory_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
