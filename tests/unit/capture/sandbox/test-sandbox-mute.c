/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file whose file system does not answer is read in the sandbox. The process that waits for its
 * page cannot be killed. It must delay neither its parent nor files of other file systems.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/sandbox/child-end.h"
#include "capture/sandbox/sandbox.h"
#include "tests/support/fakes/mute-fuse.h"
#include "tests/support/unit.h"

#define SECOND UINT64_C(1000000000)

static int mute_fd, other_fd;

static int read_byte(const void *data, size_t n, struct outbuf *answer)
{
	char byte = *(const volatile char *)data;

	(void)n;
	return outbuf_append(answer, &byte, 1);
}

static int run(int fd, uint64_t timeout_ns)
{
	struct outbuf answer = { 0 };
	int r = sandbox_run(fd, read_byte, timeout_ns, 1, &answer);

	assert_int_equal(answer.size, r == 0 ? 1 : 0);
	outbuf_deinit(&answer);
	return r;
}

/*
 * (a process that is killed before its request has reached the file system ends, so that the next
 * one is tried)
 */
TEST(test_mute)
{
	mute_fuse_keep_pages(true);
	assert_soon(run(mute_fd, SECOND / 2) == -EBUSY);
	assert_int_equal(child_end_n_left(), 1);
	assert_true(mute_fuse_waiting() >= 1);
	assert_int_equal(run(other_fd, 60 * SECOND), 0);
	assert_int_equal(run(mute_fd, 60 * SECOND), -EBUSY);
	mute_fuse_keep_pages(false);
	assert_soon(child_end_n_left() == 0);
	assert_int_equal(run(mute_fd, 60 * SECOND), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_mute) };

	mute_fd = mute_fuse_open();
	if (mute_fd < 0)
		return 77;
	other_fd = memfd_create("other", MFD_CLOEXEC);
	if (other_fd < 0 || write(other_fd, "x", 1) != 1)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
