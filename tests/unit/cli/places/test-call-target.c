/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file and the code that an argument of --call names.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/places/call-target.h"
#include "tests/support/unit.h"

TEST(test_targets)
{
	static const struct {
		const char *text, *file;
		enum call_target_kind kind;
		const char *name;
		uint64_t number;
		bool is_source_name;
		const char *tail;
	} rows[] = {
		{ "a:f", "a", CALL_TARGET_NAME, "f", 0, false, "" },
		{ "a:", "a", CALL_TARGET_NAME, "", 0, false, "" },
		{ "/x/y.so.1:f*?", "/x/y.so.1", CALL_TARGET_NAME, "f*?", 0, false, "" },
		{ "a:f(int n) if $n > 1", "a", CALL_TARGET_NAME, "f", 0, false,
		  "(int n) if $n > 1" },
		{ "a:f limit 3/s", "a", CALL_TARGET_NAME, "f", 0, false, " limit 3/s" },
		{ "'a:(b)':f\tif $n", "a:(b)", CALL_TARGET_NAME, "f", 0, false, "\tif $n" },
		{ "a:memcpy@0x12", "a", CALL_TARGET_NAME, "memcpy@0x12", 0, false, "" },
		{ "a:n::f", "a", CALL_TARGET_NAME, "n::f", 0, true, "" },
		{ "a:~T", "a", CALL_TARGET_NAME, "~T", 0, true, "" },
		{ "a:f<int>(int n)", "a", CALL_TARGET_NAME, "f<int>", 0, true, "(int n)" },
		/* (parts of names that contain characters which otherwise end them) */
		{ "a:f<unsigned int>(int n)", "a", CALL_TARGET_NAME, "f<unsigned int>", 0, true,
		  "(int n)" },
		{ "a:f<void (*)(int)> if $n", "a", CALL_TARGET_NAME, "f<void (*)(int)>", 0, true,
		  " if $n" },
		{ "a:T<(E)1>::f", "a", CALL_TARGET_NAME, "T<(E)1>::f", 0, true, "" },
		{ "a:<T as n::Trait>::f", "a", CALL_TARGET_NAME, "<T as n::Trait>::f", 0, true,
		  "" },
		/* (no brackets) */
		{ "a:T::operator<(int n)", "a", CALL_TARGET_NAME, "T::operator<", 0, true,
		  "(int n)" },
		{ "a:f if $n < 3", "a", CALL_TARGET_NAME, "f", 0, false, " if $n < 3" },
		{ "a:f<int", "a", CALL_TARGET_NAME, "f<int", 0, true, "" },
		{ "a:'n::f(int, char)'(int n)", "a", CALL_TARGET_NAME, "n::f(int, char)", 0, true,
		  "(int n)" },
		{ "a:'f'x", "a", CALL_TARGET_NAME, "f", 0, true, "x" },
		{ "a:x.c:12", "a", CALL_TARGET_LINE, "x.c", 12, false, "" },
		{ "a:d/x.c:999999999 if $n", "a", CALL_TARGET_LINE, "d/x.c", 999999999, false,
		  " if $n" },
		{ "a:x.c:0", "a", CALL_TARGET_LINE, "x.c", 0, false, "" },
		/* (no lines) */
		{ "a:x.c:9999999999", "a", CALL_TARGET_NAME, "x.c:9999999999", 0, true, "" },
		{ "a:n::12", "a", CALL_TARGET_NAME, "n::12", 0, true, "" },
		{ "a::12", "a", CALL_TARGET_NAME, ":12", 0, true, "" },
		{ "a:12", "a", CALL_TARGET_NAME, "12", 0, false, "" },
		{ "a:0x1f", "a", CALL_TARGET_ADDRESS, "0x1f", 0x1f, false, "" },
		{ "a:0xffffffffffffffff(int n)", "a", CALL_TARGET_ADDRESS, "0xffffffffffffffff",
		  UINT64_MAX, false, "(int n)" },
		{ "a:usdt:p:n", "a", CALL_TARGET_USDT, "p:n", 0, true, "" },
		{ "a:usdt:n* if $arg1 == 2", "a", CALL_TARGET_USDT, "n*", 0, false,
		  " if $arg1 == 2" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char why[PLACES_WHY_MAX] = "";
		struct call_target t;

		if (call_target_parse(rows[i].text, &t, why) != 1)
			fail_msg("%s: %s", rows[i].text, why);
		assert_string_equal(t.file, rows[i].file);
		assert_string_equal(t.name, rows[i].name);
		assert_string_equal(t.tail, rows[i].tail);
		if (t.kind != rows[i].kind || t.number != rows[i].number ||
		    t.is_source_name != rows[i].is_source_name)
			fail_msg("%s: %d %ju %d", rows[i].text, t.kind, (uintmax_t)t.number,
				 t.is_source_name);
	}
}

/* Texts that the recorder resolves, or refuses, by itself. */
TEST(test_left)
{
	static const char *const rows[] = {
		"", "f", ":f", "'':f", "a(int n)", "'a':", "syscall:openat", "a:+0x10+0x20='f'()",
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char why[PLACES_WHY_MAX] = "";
		struct call_target t;

		assert_int_equal(call_target_parse(rows[i], &t, why), strcmp(rows[i], "'a':") == 0);
		assert_string_equal(why, "");
	}
}

static void check_refused(const char *text, const char *reason)
{
	char why[PLACES_WHY_MAX] = "";
	struct call_target t;

	assert_int_equal(call_target_parse(text, &t, why), -EINVAL);
	assert_string_equal(why, reason);
}

TEST(test_refused)
{
	char text[CALL_FILE_MAX + PLACES_NAME_MAX + 8], expected[64];

	check_refused("a:''", "the name in quotes is missing");
	check_refused("a:'f", "the name in quotes is not closed, or too long");
	check_refused("a:0x", "'0x' is not an address");
	check_refused("a:0xg", "'0xg' is not an address");
	check_refused("a:0x1g", "'0x1g' is not an address");
	check_refused("a:0x10000000000000000", "'0x10000000000000000' is not an address");
	memcpy(text, "a:", 2);
	memset(text + 2, 'f', PLACES_NAME_MAX);
	text[2 + PLACES_NAME_MAX] = '\0';
	snprintf(expected, sizeof(expected), "the name is longer than %d bytes",
		 PLACES_NAME_MAX - 1);
	check_refused(text, expected);
	strcpy(text + 2 + PLACES_NAME_MAX, ":1");
	check_refused(text, expected);
	text[2] = '\'';
	strcpy(text + PLACES_NAME_MAX + 3, "'");
	check_refused(text, "the name in quotes is not closed, or too long");
}

/* The longest names fit. */
TEST(test_longest)
{
	char text[CALL_FILE_MAX + PLACES_NAME_MAX + 16], why[PLACES_WHY_MAX] = "";
	struct call_target t;

	memset(text, 'a', CALL_FILE_MAX - 1);
	text[CALL_FILE_MAX - 1] = ':';
	memset(text + CALL_FILE_MAX, 'f', PLACES_NAME_MAX - 1);
	text[CALL_FILE_MAX + PLACES_NAME_MAX - 1] = '\0';
	assert_int_equal(call_target_parse(text, &t, why), 1);
	assert_int_equal(strlen(t.file), CALL_FILE_MAX - 1);
	assert_int_equal(strlen(t.name), PLACES_NAME_MAX - 1);
	strcpy(text + CALL_FILE_MAX + PLACES_NAME_MAX - 1, ":7");
	assert_int_equal(call_target_parse(text, &t, why), 1);
	assert_int_equal(t.kind, CALL_TARGET_LINE);
	assert_int_equal(strlen(t.name), PLACES_NAME_MAX - 1);
	/* (a longer file is the recorder's to refuse) */
	memmove(text + 1, text, strlen(text) + 1);
	text[0] = 'a';
	assert_int_equal(call_target_parse(text, &t, why), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_longest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
