/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The outcomes of calls that wait.
 */
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/cleanup.h"
#include "capture/calls/call-waits.h"
#include "tests/support/unit.h"

static struct call_text copy_of(const void *bytes, size_t n)
{
	struct call_text text = { .bytes = (int32_t)n };

	memcpy(text.text, bytes, n);
	return text;
}

static const char *shown(long number, const __u64 *args, const struct call_copies *copies)
{
	static char to[CALL_VALUE_TEXT_MAX];

	return call_wait_format(number, args, copies, to, sizeof(to)) > 0 ? to : "";
}

TEST(test_sets)
{
	const uint64_t bits = 1 << 3 | 1 << 5, none = 0;
	const struct timespec rest = { 2, 7 };
	struct call_text set = copy_of(&bits, sizeof(bits)), empty = copy_of(&none, sizeof(none));
	struct call_text left = copy_of(&rest, sizeof(rest));
	struct call_copies copies[6] = {
		[1].out = &set, [2].out = &empty, [3].out = &set, [4].out = &left
	};
	__u64 args[8] = { 6 };

	assert_string_equal(shown(SYS_pselect6, args, copies),
			    "in [3 5], except [3 5], left {tv_sec=2, tv_nsec=7}");
#ifdef SYS_select
	assert_string_equal(shown(SYS_select, args, copies),
			    "in [3 5], except [3 5], left {tv_sec=2, tv_usec=7}");
#endif
	/* The copy has not all descriptors of a set; and a negative number is an error. */
	args[0] = 500;
	copies[3].out = copies[4].out = NULL;
	assert_string_equal(shown(SYS_pselect6, args, copies), "in [3 5 ...], out [...]");
	args[0] = UINT32_MAX;
	assert_string_equal(shown(SYS_pselect6, args, copies), "");
	set.bytes = left.bytes = -1;
	args[0] = 6;
	copies[4].out = &left;
	assert_string_equal(shown(SYS_pselect6, args, copies), "");
}

TEST(test_others)
{
	const struct pollfd fd = { 3, POLLIN, POLLIN };
	const struct timespec rest = { 0, 1 };
	struct call_text fds = copy_of(&fd, sizeof(fd)), left = copy_of(&rest, sizeof(rest));
	struct call_copies copies[6] = { [0].out = &fds, [2].out = &left, [4].out = &left };
	const __u64 args[8] = { 0x1000, 1 };

	assert_string_equal(shown(SYS_ppoll, args, copies),
			    "[{fd=3, revents=POLLIN}], left {tv_sec=0, tv_nsec=1}");
	assert_string_equal(shown(SYS_recvmmsg, args, copies), "left {tv_sec=0, tv_nsec=1}");
	assert_string_equal(shown(SYS_read, args, copies), "");
	assert_true(call_wait_changes(SYS_ppoll));
	assert_false(call_wait_changes(SYS_read));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
