/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A search that cannot be killed, since it waits for a file system that does not answer. The
 * process that was stopped for it runs again at the end of its time.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/outbuf.h"
#include "capture/sandbox/child-end.h"
#include "tests/support/fakes/mute-fuse.h"
#include "tests/support/fixtures/reach-child.h"
#include "tests/support/unit.h"
#include "tests/support/valgrind.h"

#define SECOND UINT64_C(1000000000)

static int mute_fd;

/* Runs in the search process, and waits as a read of the other process's memory can wait. */
static int ask_file_system(struct outbuf *to, void *unused)
{
	struct stat st;

	(void)to, (void)unused;
	return fstat(mute_fd, &st) < 0 ? -errno : 0;
}

/* Likewise, and lists nothing. */
static int list_nothing(struct outbuf *to, void *unused)
{
	(void)to, (void)unused;
	return 0;
}

static int search(int (*list_blocks)(struct outbuf *to, void *unused), uint64_t timeout_ns)
{
	const struct reach_request request = {
		.pid = child,
		.list_blocks = list_blocks,
		.keep = &mute_fd,
		.n_keep = 1,
		.blocks_max = 1,
		.hold = true,
		.timeout_ns = timeout_ns,
	};
	struct reach_result result;
	struct reach_block *blocks;
	size_t n;
	int r = reach_find(&request, &blocks, &n, &result);

	if (r == 0)
		free(blocks);
	return r;
}

static bool has_hangup(int fd)
{
	struct pollfd pollfd = { .fd = fd };

	return poll(&pollfd, 1, 0) == 1 && pollfd.revents & POLLHUP;
}

TEST(test_mute)
{
	int ticks, fds[2];

	begin_child(true);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	mute_fuse_be_mute_to(getpid());
	/* (on a busy machine, the time can be over before the file system is asked) */
	assert_soon(search(ask_file_system, 3 * SECOND) == -ETIME && mute_fuse_waiting() >= 1);
	/* The process that hangs keeps nothing of this one. */
	close(fds[1]);
	assert_soon(has_hangup(fds[0]));
	close(fds[0]);
	ticks = places->ticks;
	assert_soon(places->ticks != ticks);
	assert_true(mute_fuse_waiting() >= 1);
	mute_fuse_be_mute_to(0);
	assert_soon(mute_fuse_waiting() == 0 && child_end_n_left() == 0);
	end_child();
}

/* A search that cannot end, but has its result, is not waited for. */
TEST(test_mute_end)
{
	uint64_t begin_ns = clock_read_ns(CLOCK_MONOTONIC);

	begin_child(true);
	mute_fuse_be_mute_to(getpid());
	assert_int_equal(search(list_nothing, 600 * SECOND), 0);
	assert_true(clock_read_ns(CLOCK_MONOTONIC) - begin_ns < 300 * SECOND);
	assert_true(mute_fuse_waiting() >= 1);
	mute_fuse_be_mute_to(0);
	assert_soon(mute_fuse_waiting() == 0 && child_end_n_left() == 0);
	end_child();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mute),
		cmocka_unit_test(test_mute_end),
	};

	if (under_valgrind()) {
		printf("skip: valgrind's own threads and memory are not those of the program\n");
		return 77;
	}
	mute_fd = mute_fuse_open();
	return mute_fd < 0 ? 77 : cmocka_run_group_tests(tests, NULL, NULL);
}
