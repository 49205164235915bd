/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for values of calls: flags in the format of strace, numbers with names, and the sets
 * themselves.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/calls/call-sets.h"
#include "base/cleanup.h"
#include "tests/support/unit.h"

static const char *shown(const char *set, uint64_t value)
{
	static char text[CALL_SET_TEXT_MAX];
	unsigned number = call_set_find(set, strlen(set));
	size_t n;

	if (number == CALL_SET_NONE)
		fail_msg("there is no set %s", set);
	n = call_set_format(number, value, text, sizeof(text));
	assert_int_equal(n, strlen(text));
	return text;
}

static uint64_t set_mask(const struct call_set *set)
{
	return UINT64_MAX >> (64 - set->bits);
}

TEST(test_flags)
{
	assert_string_equal(shown("flags:open", 0), "O_RDONLY");
	assert_string_equal(shown("flags:open", O_CLOEXEC | 0x20000000),
			    "O_RDONLY|O_CLOEXEC|0x20000000");
	assert_string_equal(shown("flags:open", O_WRONLY | O_CREAT | O_TRUNC),
			    "O_WRONLY|O_CREAT|O_TRUNC");
	assert_string_equal(shown("flags:open", O_RDWR | O_SYNC), "O_RDWR|O_SYNC");
	assert_string_equal(shown("flags:open", O_RDWR | O_DSYNC), "O_RDWR|O_DSYNC");
	assert_string_equal(shown("flags:open", O_RDWR | O_TMPFILE), "O_RDWR|O_TMPFILE");
	assert_string_equal(shown("flags:open", O_DIRECTORY), "O_RDONLY|O_DIRECTORY");
	assert_string_equal(shown("flags:open", 3), "0x3");
	assert_string_equal(shown("flags:mmap_prot", PROT_NONE), "PROT_NONE");
	assert_string_equal(shown("flags:mmap_prot", PROT_READ | PROT_EXEC), "PROT_READ|PROT_EXEC");
	assert_string_equal(shown("flags:mmap", MAP_PRIVATE | MAP_ANONYMOUS),
			    "MAP_PRIVATE|MAP_ANONYMOUS");
	assert_string_equal(shown("flags:mmap", MAP_SHARED_VALIDATE), "MAP_SHARED_VALIDATE");
	assert_string_equal(shown("flags:socktype", SOCK_STREAM | SOCK_CLOEXEC),
			    "SOCK_STREAM|SOCK_CLOEXEC");
	assert_string_equal(shown("flags:access", 0), "F_OK");
	assert_string_equal(shown("flags:msg", 0), "0");
	assert_string_equal(shown("flags:clone", CLONE_VM | SIGCHLD), "CLONE_VM|SIGCHLD");
	assert_string_equal(shown("flags:clone", CLONE_VM | SIGUSR1), "CLONE_VM|0xa");
}

TEST(test_modes)
{
	assert_string_equal(shown("flags:mode", 0644), "0644");
	assert_string_equal(shown("flags:mode", 0), "000");
	assert_string_equal(shown("flags:mode", S_IFIFO | 0600), "S_IFIFO|0600");
	assert_string_equal(shown("flags:mode", S_IFSOCK), "S_IFSOCK|000");
	assert_string_equal(shown("flags:mode", S_ISVTX | 0777), "S_ISVTX|0777");
}

TEST(test_enums)
{
	assert_string_equal(shown("enum:seek", SEEK_END), "SEEK_END");
	assert_string_equal(shown("enum:seek", 77), "77");
	assert_string_equal(shown("enum:seek", UINT64_C(0xffffffff)), "-1");
	assert_string_equal(shown("enum:ioctl", 0xdeadbeef), "0xdeadbeef");
	assert_string_equal(shown("enum:errno", 2), "ENOENT");
	assert_string_equal(shown("enum:errno", 11), "EAGAIN");
	assert_string_equal(shown("enum:signal", SIGKILL), "SIGKILL");
	assert_string_equal(shown("enum:dirfd", (uint32_t)AT_FDCWD), "AT_FDCWD");
	assert_string_equal(shown("enum:dirfd", 3), "3");
	/* only the type's bits of the register count */
	assert_string_equal(shown("enum:af", UINT64_C(0x1200000002)), "AF_INET");
}

TEST(test_none)
{
	char text[8];

	assert_int_equal(call_set_find("flags:seek", 10), CALL_SET_NONE);
	assert_int_equal(call_set_find("flags:opens", 11), CALL_SET_NONE);
	assert_int_equal(call_set_find("flags:open", 9), CALL_SET_NONE);
	assert_int_equal(call_set_find("open", 4), CALL_SET_NONE);
	assert_int_equal(call_set_find("", 0), CALL_SET_NONE);
	assert_null(call_set_by_number(CALL_SET_NONE));
	assert_null(call_set_by_number(100000));
	assert_int_equal(call_set_format(CALL_SET_NONE, 17, text, sizeof(text)), 4);
	assert_string_equal(text, "0x11");
}

/* A text that does not fit is cut, and nothing is written behind the buffer. */
TEST(test_room)
{
	char text[24];

	for (size_t size = 1; size < sizeof(text); size++) {
		memset(text, '#', sizeof(text));
		assert_int_equal(call_set_format(call_set_find("flags:open", 10),
						 O_RDWR | O_CREAT | O_TRUNC, text, size),
				 size - 1);
		assert_memory_equal(text, "O_RDWR|O_CREAT|O_TRUNC", size - 1);
		assert_int_equal(text[size - 1], '\0');
		assert_int_equal(text[size], '#');
	}
}

static void check_word(unsigned number, const struct call_set *set, size_t i)
{
	const struct call_set_word *word = &set->words[i];
	char text[CALL_SET_TEXT_MAX];

	assert_int_equal(word->value & ~set_mask(set), 0);
	call_set_format(number, word->value, text, sizeof(text));
	if (!strstr(text, word->name))
		fail_msg("%s: %s is shown as %s", set->name, word->name, text);
	for (size_t j = 0; j < i; j++)
		if (strcmp(set->words[j].name, word->name) == 0)
			fail_msg("%s: %s is there twice", set->name, word->name);
}

/* Each set is sorted by name, found by name, and each of its words is found. */
TEST(test_sets)
{
	const struct call_set *set, *last = NULL;
	char name[64], text[CALL_SET_TEXT_MAX];
	unsigned number = 1;

	for (; (set = call_set_by_number(number)); number++, last = set) {
		snprintf(name, sizeof(name), "%s:%s", call_set_prefix(set), set->name);
		assert_int_equal(call_set_find(name, strlen(name)), number);
		if (last && strcmp(last->name, set->name) >= 0)
			fail_msg("%s is not behind %s", set->name, last->name);
		for (size_t i = 0; i < set->n_words; i++)
			check_word(number, set, i);
		assert_true(call_set_format(number, UINT64_MAX, text, sizeof(text)) <
			    sizeof(text) - 1);
	}
	assert_true(number > 70);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flags), cmocka_unit_test(test_modes),
		cmocka_unit_test(test_enums), cmocka_unit_test(test_none),
		cmocka_unit_test(test_room),  cmocka_unit_test(test_sets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
