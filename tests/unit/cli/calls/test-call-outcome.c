/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results of system calls that are more than a number.
 */
#include <fcntl.h>

#include "base/cleanup.h"
#include "cli/calls/call-outcome.h"
#include "tests/support/unit.h"

static const char *shown(const char *function, const struct call_value *args, unsigned n,
			 int64_t result)
{
	static char to[1024];
	const struct event ev = {
		.kind = EVENT_CALL,
		.call = { .function = function,
			  .args = args,
			  .n_args = n,
			  .left_by = "",
			  .result = { .form = CALL_VALUE_INT, .i64 = result } },
	};

	return call_outcome_format(&ev, to, sizeof(to)) > 0 ? to : "";
}

static const char *of_fcntl(const char *command, int64_t result)
{
	const struct call_value args[] = {
		{ .name = "fd", .form = CALL_VALUE_INT },
		{ .name = "command", .form = CALL_VALUE_TEXT, .text = command },
	};

	return shown("fcntl", args, ARRAY_SIZE(args), result);
}

TEST(test_flags)
{
	assert_string_equal(of_fcntl("F_GETFL", O_RDWR | O_NONBLOCK),
			    "0x802 (flags O_RDWR|O_NONBLOCK)");
	assert_string_equal(of_fcntl("F_GETFL", 0), "0 (flags O_RDONLY)");
	assert_string_equal(of_fcntl("F_GETFD", FD_CLOEXEC), "0x1 (flags FD_CLOEXEC)");
	assert_string_equal(of_fcntl("F_GETFD", 0), "");
	assert_string_equal(of_fcntl("F_DUPFD", 4), "");
	assert_string_equal(of_fcntl("F_GETFL", -1), "");
	assert_string_equal(shown("fcntl", NULL, 0, 1), "");
	assert_string_equal(shown("rt_sigtimedwait", NULL, 0, 10), "10 (SIGUSR1)");
}

TEST(test_waits)
{
	const struct call_value args[] = {
		{ .name = "n", .form = CALL_VALUE_INT },
		{ .name = EVENT_CALL_READY,
		  .form = CALL_VALUE_TEXT,
		  .text = "[{fd=3, revents=POLLIN}]" },
	};

	assert_string_equal(shown("poll", args, 1, 0), "0 (Timeout)");
	assert_string_equal(shown("pselect6", NULL, 0, 0), "0 (Timeout)");
	assert_string_equal(shown("poll", args, 1, 1), "");
	assert_string_equal(shown("poll", args, 2, 1), "1 ([{fd=3, revents=POLLIN}])");
	assert_string_equal(shown("read", args, 1, 0), "");
}

TEST(test_never)
{
	struct event ev = { .kind = EVENT_CALL, .call = { .function = "exit_group" } };

	assert_true(call_outcome_is_never(&ev));
	ev.call.function = "exit";
	assert_true(call_outcome_is_never(&ev));
	ev.call.function = "read";
	assert_false(call_outcome_is_never(&ev));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_never),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
