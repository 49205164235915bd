/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Structures in calls, in the format of strace, also incomplete ones.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "model/calls/call-structs.h"
#include "base/cleanup.h"
#include "tests/support/unit.h"

enum { TEXT_ROOM = 512, BYTES_MAX = 600 };

static unsigned struct_number(const char *name)
{
	unsigned number = call_struct_find(name, strlen(name));

	assert_int_not_equal(number, CALL_STRUCT_NONE);
	return number;
}

static const char *shown(const char *name, const void *from, size_t n)
{
	static char text[TEXT_ROOM];
	size_t length = call_struct_format(struct_number(name), from, n, text, sizeof(text));

	assert_int_equal(length, strlen(text));
	return text;
}

static const char *shown_array(const char *name, const void *from, size_t n, size_t count)
{
	static char text[TEXT_ROOM];
	size_t length =
		call_struct_format_array(struct_number(name), from, n, count, text, sizeof(text));

	assert_int_equal(length, strlen(text));
	return text;
}

TEST(test_find)
{
	assert_int_equal(call_struct_find("struct:", 7), CALL_STRUCT_NONE);
	assert_int_equal(call_struct_find("struct:nobody", 13), CALL_STRUCT_NONE);
	assert_int_equal(call_struct_find("timespec", 8), CALL_STRUCT_NONE);
	assert_null(call_struct_by_number(CALL_STRUCT_NONE));
	assert_null(call_struct_by_number(1000));
	assert_string_equal(call_struct_by_number(struct_number("struct:timespec"))->name,
			    "timespec");
}

TEST(test_values)
{
	const struct timespec time = { .tv_sec = 5, .tv_nsec = -1 };
	const struct rlimit limit = { .rlim_cur = 8 << 20, .rlim_max = RLIM_INFINITY };
	const uint64_t few = 1 << 1 | 1 << 9, most = ~few;
	const int exited = 3 << 8, number = -7;

	assert_string_equal(shown("struct:timespec", &time, sizeof(time)),
			    "{tv_sec=5, tv_nsec=-1}");
	assert_string_equal(shown("struct:rlimit", &limit, sizeof(limit)),
			    "{rlim_cur=8192*1024, rlim_max=RLIM64_INFINITY}");
	assert_string_equal(shown("struct:sigset", &few, sizeof(few)), "[INT USR1]");
	assert_string_equal(shown("struct:sigset", &most, sizeof(most)), "~[INT USR1]");
	assert_string_equal(shown("struct:status", &exited, sizeof(exited)),
			    "{WIFEXITED(s) && WEXITSTATUS(s) == 3}");
	assert_string_equal(shown("struct:int", &number, sizeof(number)), "-7");
}

/* Values that strace shows with a comment, or in a form of their own. */
TEST(test_comments)
{
	const struct timespec time = { .tv_sec = 1, .tv_nsec = 5 }, now = { .tv_nsec = UTIME_NOW };
	const int64_t ticks[4] = { 1, 0, 250, 0 }, offset = 3;
	const uint64_t mask = 1 << 1;
	siginfo_t info = { .si_signo = SIGCHLD, .si_code = CLD_EXITED };

	setenv("TZ", "UTC", 1);
	assert_string_equal(shown("struct:date", &time, sizeof(time)),
			    "{tv_sec=1, tv_nsec=5} /* 1970-01-01T00:00:01.000000005+0000 */");
	assert_string_equal(shown("struct:date", &now, sizeof(now)), "UTIME_NOW");
	assert_string_equal(shown("struct:tms", ticks, sizeof(ticks)),
			    "{tms_utime=1 /* 0.01 s */, tms_stime=0, tms_cutime=250 /* 2.50 s */, "
			    "tms_cstime=0}");
	assert_string_equal(shown("struct:offset", &offset, sizeof(offset)), "3");
	assert_string_equal(shown("struct:sigreturn", &mask, sizeof(mask)), "{mask=[INT]}");
	assert_string_equal(shown("struct:name", "thread\0.........", 16), "\"thread\"");
	assert_string_equal(shown("struct:name", "jemalloc_bg_thd", 16), "\"jemalloc_bg_thd\"...");
	info.si_pid = 7;
	info.si_status = 3;
	assert_string_equal(shown("struct:siginfo_child", &info, sizeof(info)),
			    "{si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=7, si_uid=0, "
			    "si_status=3, si_utime=0, si_stime=0}");
	info.si_code = CLD_KILLED;
	info.si_status = SIGKILL;
	assert_string_equal(shown("struct:siginfo_child", &info, sizeof(info)),
			    "{si_signo=SIGCHLD, si_code=CLD_KILLED, si_pid=7, si_uid=0, "
			    "si_status=SIGKILL, si_utime=0, si_stime=0}");
	info.si_signo = SIGUSR1;
	info.si_code = SI_USER;
	assert_string_equal(shown("struct:siginfo", &info, sizeof(info)),
			    "{si_signo=SIGUSR1, si_code=SI_USER, si_pid=7, si_uid=0}");
	/* Lists are shown elsewhere. */
	assert_string_equal(shown("struct:argv", ticks, sizeof(ticks)), "");
}

/* The family selects the members, if all of them are there. */
TEST(test_addresses)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(80) };
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "/tmp/s" };

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_string_equal(
		shown("struct:sockaddr", &in, sizeof(in)),
		"{sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr(\"127.0.0.1\")}");
	assert_string_equal(shown("struct:sockaddr", &in, 4),
			    "{sa_family=AF_INET, sa_data=\"\\0P\"}");
	assert_string_equal(shown("struct:sockaddr", &un, sizeof(un)),
			    "{sa_family=AF_UNIX, sun_path=\"/tmp/s\"}");
	assert_string_equal(shown("struct:sockaddr", &un, 6),
			    "{sa_family=AF_UNIX, sun_path=\"/tmp\"}");
	memcpy(un.sun_path, "\0abs", 4);
	assert_string_equal(shown("struct:sockaddr", &un, 6),
			    "{sa_family=AF_UNIX, sun_path=@\"abs\"}");
	assert_string_equal(shown("struct:sockaddr", &un, 1), "");
}

TEST(test_arrays)
{
	const struct pollfd fds[] = { { .fd = 3, .events = POLLIN }, { .fd = -1 } };

	assert_string_equal(shown_array("struct:pollfd", fds, sizeof(fds), 2),
			    "[{fd=3, events=POLLIN}, {fd=-1}]");
	assert_string_equal(shown_array("struct:pollfd", fds, sizeof(fds), 5),
			    "[{fd=3, events=POLLIN}, {fd=-1}, ...]");
	assert_string_equal(shown_array("struct:pollfd", fds, 7, 2), "[...]");
	assert_string_equal(shown_array("struct:pollfd", fds, 0, 0), "[]");
}

/*
 * Any bytes, of any number, in buffers of any size. (Allocated with exactly that size, so that
 * sanitizers detect errors.)
 */
TEST(test_any_bytes)
{
	static const uint8_t fills[] = { 0x00, 0x01, 0x41, 0xff };
	char text[TEXT_ROOM];

	for (unsigned number = 1; call_struct_by_number(number); number++)
		for (size_t n = 0; n < BYTES_MAX; n += n < 160 ? 1 : 13) {
			_cleanup_free_ uint8_t *bytes = malloc(n + (n == 0));

			assert_non_null(bytes);
			memset(bytes, fills[n % ARRAY_SIZE(fills)], n);
			/* (families of addresses) */
			if (n > 1)
				memcpy(bytes, &(uint16_t){ n % 20 }, sizeof(uint16_t));
			for (size_t room = 1; room <= sizeof(text); room *= 8) {
				assert_true(call_struct_format(number, bytes, n, text, room) <
					    room);
				assert_true(call_struct_format_array(number, bytes, n, n, text,
								     room) < room);
			}
		}
	/* Without a known structure. */
	assert_string_equal(shown("struct:raw", "0123456789012345678901234567890", 32), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),      cmocka_unit_test(test_values),
		cmocka_unit_test(test_addresses), cmocka_unit_test(test_arrays),
		cmocka_unit_test(test_any_bytes), cmocka_unit_test(test_comments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
