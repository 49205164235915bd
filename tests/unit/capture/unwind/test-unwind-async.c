/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files on a file system that may never answer: a thread that hangs there delays neither the owner
 * nor the threads that read files of other file systems.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/unwind/unwind-async.h"
#include "tests/support/fakes/mute-fuse.h"
#include "tests/support/unit.h"

enum { MUTE_DEVICE = 1, OTHER_DEVICE = 2 };

static char directory[] = "/tmp/kymo-unwind-async.XXXXXX";
static struct unwind_ask mute_ask, own_ask;
static struct unwind_async *async;
static int done_fd;

/* Maps PATH into this process. Its table is requested. */
static struct unwind_ask map_file(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);

	assert_true(fd >= 0);
	assert_true(at != MAP_FAILED);
	return (struct unwind_ask){
		.pid = (uint32_t)getpid(),
		.seen_pid = (uint32_t)getpid(),
		.start = (uintptr_t)at,
		.end = (uintptr_t)at + 4096,
	};
}

static void begin(struct unwind_ask ask, uint32_t device)
{
	struct unwind_async_file file = { .ask = ask, .device = device, .changes = device };

	assert_int_equal(unwind_async_open(async, &file), 0);
}

static struct unwind_async_file next(void)
{
	struct unwind_async_file file;

	assert_soon(unwind_async_next(async, &file));
	return file;
}

static void read_other(void)
{
	struct unwind_async_file file;

	begin(own_ask, OTHER_DEVICE);
	file = next();
	assert_int_equal(file.step, UNWIND_ASYNC_OPENED);
	assert_int_equal(file.result, 0);
	assert_int_equal(file.changes, OTHER_DEVICE);
	unwind_async_read(async, &file, true);
	file = next();
	assert_int_equal(file.step, UNWIND_ASYNC_READ);
	assert_int_equal(file.result, 0);
	assert_true(file.table.n_rows > 0);
	assert_int_equal(file.fd, -1);
	unwind_table_deinit(&file.table);
}

/*
 * Waits until N requests wait, or (0) none. One of the previous test can be read late and be among
 * them.
 */
static void wait_for_waiting(unsigned n)
{
	assert_soon(n > 0 ? mute_fuse_waiting() >= n : mute_fuse_waiting() == 0);
}

FIXTURE(setup)
{
	done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return unwind_async_new(done_fd, &async);
}

/* Closes everything that is open, so that no thread hangs in the next test. */
static void finish(void)
{
	struct unwind_async_file file;

	for (int ms = 0; async && ms < SOON_MS && unwind_async_is_busy(async); ms++) {
		while (unwind_async_next(async, &file)) {
			unwind_async_read(async, &file, false);
			unwind_table_deinit(&file.table);
		}
		usleep(1000);
	}
}

FIXTURE(teardown)
{
	mute_fuse_be_mute_to(0);
	finish();
	async = unwind_async_free(async);
	close_fd(done_fd);
	return 0;
}

TEST(test_mute)
{
	struct unwind_async_file file;
	uint64_t rung;

	mute_fuse_be_mute_to(getpid());
	begin(mute_ask, MUTE_DEVICE);
	begin(mute_ask, MUTE_DEVICE);
	wait_for_waiting(1);
	read_other();
	assert_true(unwind_async_is_busy(async));
	/* The second one has waited for the first, and for no other. */
	assert_true(mute_fuse_waiting() >= 1);
	assert_false(unwind_async_next(async, &file));
	mute_fuse_be_mute_to(0);
	for (unsigned n_opened = 0, n_read = 0; n_opened < 2 || n_read < 1;) {
		file = next();
		assert_int_equal(file.changes, MUTE_DEVICE);
		if (file.step == UNWIND_ASYNC_OPENED) {
			unwind_async_read(async, &file, n_opened++ == 0);
			continue;
		}
		/* It is no program. */
		assert_true(file.result < 0);
		n_read++;
	}
	assert_int_equal(read(done_fd, &rung, sizeof(rung)), sizeof(rung));
}

TEST(test_let_go)
{
	mute_fuse_be_mute_to(getpid());
	begin(mute_ask, MUTE_DEVICE);
	wait_for_waiting(1);
	async = unwind_async_free(async);
	/* The file has not answered yet, and nothing waited for it. */
	assert_true(mute_fuse_waiting() >= 1);
	mute_fuse_be_mute_to(0);
	wait_for_waiting(0);
}

TEST(test_unwanted)
{
	struct unwind_async_file file;

	begin(own_ask, OTHER_DEVICE);
	file = next();
	assert_true(fcntl(file.fd, F_GETFD) >= 0);
	unwind_async_read(async, &file, false);
	assert_soon(!unwind_async_is_busy(async));
	assert_int_equal(fcntl(file.fd, F_GETFD), -1);
}

TEST(test_gone)
{
	struct unwind_ask nowhere = { .seen_pid = (uint32_t)getpid(), .start = 4096, .end = 8192 };
	struct unwind_async_file file;

	begin(nowhere, OTHER_DEVICE);
	file = next();
	assert_int_equal(file.result, -ENOENT);
	unwind_async_read(async, &file, true);
	assert_false(unwind_async_is_busy(async));
	/* The id of the process is that of another pid namespace, and of another process here. */
	nowhere = own_ask;
	nowhere.seen_pid = 0;
	assert_int_equal(unwind_open_mapped(&nowhere), -ESRCH);
}

TEST(test_full)
{
	struct unwind_async_file file = { .ask = mute_ask, .device = MUTE_DEVICE };

	mute_fuse_be_mute_to(getpid());
	for (unsigned i = 0; i < UNWIND_ASYNC_FILES_MAX; i++)
		begin(mute_ask, MUTE_DEVICE);
	assert_int_equal(unwind_async_open(async, &file), -EAGAIN);
}

/* Opens the file of mute_ask with each thread that `async` can have. */
static void open_all(struct unwind_async_file files[static UNWIND_ASYNC_THREADS_MAX])
{
	for (uint32_t i = 0; i < UNWIND_ASYNC_THREADS_MAX; i++)
		begin(mute_ask, 10 + i);
	for (uint32_t i = 0; i < UNWIND_ASYNC_THREADS_MAX; i++) {
		files[i] = next();
		assert_int_equal(files[i].result, 0);
	}
}

/* While all threads hang in closing files, none can close others. One does so later. */
TEST(test_left_alone)
{
	enum { N = UNWIND_ASYNC_ALL_MAX / UNWIND_ASYNC_THREADS_MAX };
	struct unwind_async *own = async, *others[N];
	struct unwind_async_file file, files[N][UNWIND_ASYNC_THREADS_MAX];

	begin(own_ask, OTHER_DEVICE);
	file = next();
	assert_true(file.fd >= 0);
	for (unsigned i = 0; i < N; i++) {
		assert_int_equal(unwind_async_new(done_fd, &others[i]), 0);
		async = others[i];
		open_all(files[i]);
	}
	mute_fuse_be_mute_to(getpid());
	for (unsigned i = 0; i < N; i++) {
		for (unsigned n = 0; n < UNWIND_ASYNC_THREADS_MAX; n++)
			unwind_async_read(others[i], &files[i][n], false);
		wait_for_waiting((i + 1) * UNWIND_ASYNC_THREADS_MAX);
	}
	async = unwind_async_free(own);
	assert_true(fcntl(file.fd, F_GETFD) >= 0);
	mute_fuse_be_mute_to(0);
	assert_soon(fcntl(file.fd, F_GETFD) < 0);
	for (unsigned i = 0; i < N; i++)
		unwind_async_free(others[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_mute, setup, teardown),
		cmocka_unit_test_setup_teardown(test_let_go, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unwanted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_left_alone, setup, teardown),
	};
	char path[sizeof(directory) + sizeof(MUTE_FUSE_FILE)];
	int r = mkdtemp(directory) ? mute_fuse_mount(directory, 0) : -errno;

	if (r < 0) {
		rmdir(directory);
		fprintf(stderr, "cannot mount a file system: %s\n", strerror(-r));
		return 77;
	}
	snprintf(path, sizeof(path), "%s/%s", directory, MUTE_FUSE_FILE);
	mute_ask = map_file(path);
	own_ask = map_file("/proc/self/exe");
	/* (mappings keep the file system) */
	umount2(directory, MNT_DETACH);
	rmdir(directory);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
