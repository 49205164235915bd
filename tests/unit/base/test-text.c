/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text-set.h"
#include "base/text.h"
#include "tests/support/unit.h"

#define BAD "\xef\xbf\xbd" /* U+FFFD */

/* A literal and its length, NULs in it included. */
#define BYTES(s) s, sizeof(s) - 1

TEST(test_is_utf8)
{
	static const struct {
		const char *text;
		size_t n;
		bool is;
	} rows[] = {
		{ BYTES(""), true },
		{ BYTES("plain\0\x7f"), true },
		{ BYTES("\xc2\x80 \xdf\xbf"), true },
		{ BYTES("\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf"), true },
		{ BYTES("\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf"), true },
		{ BYTES("\x80"), false },     /* continues nothing */
		{ BYTES("\xc0\xaf"), false }, /* overlong */
		{ BYTES("\xc1\xbf"), false },
		{ BYTES("\xe0\x9f\xbf"), false },
		{ BYTES("\xf0\x8f\xbf\xbf"), false },
		{ BYTES("\xed\xa0\x80"), false }, /* a surrogate */
		{ BYTES("\xed\xbf\xbf"), false },
		{ BYTES("\xf4\x90\x80\x80"), false }, /* beyond U+10FFFF */
		{ BYTES("\xf5\x80\x80\x80"), false },
		{ BYTES("\xff"), false },
		{ BYTES("\xc3"), false }, /* cut off */
		{ BYTES("a\xe2\x82"), false },
		{ BYTES("\xf0\x9f\x98"), false },
		{ BYTES("\xe2\x28\xa1"), false }, /* continues with another byte */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(text_is_utf8(rows[i].text, rows[i].n), rows[i].is);
}

/* A text is cut before a character. */
TEST(test_cut)
{
	static const char text[] = "a\xc3\xbc"
				   "b\xe2\x82\xac\xf0\x9f\x98\x80";
	static const size_t cuts[] = { 0, 1, 1, 3, 4, 4, 4, 7, 7, 7, 7, 11, 11 };
	static const char continued[] = "\x80\x80\x80\x80\x80\x80";

	for (size_t max = 0; max < ARRAY_SIZE(cuts); max++) {
		assert_int_equal(text_cut(text, sizeof(text) - 1, max), cuts[max]);
		assert_true(text_is_utf8(text, cuts[max]));
	}
	assert_int_equal(text_cut(text, 2, 2), 2);
	assert_int_equal(text_cut("", 0, 0), 0);
	/* (not UTF-8) */
	assert_int_equal(text_cut(continued, 6, 5), 2);
	assert_int_equal(text_cut(continued, 6, 2), 0);
}

/* The kernel marks the paths of removed files. */
TEST(test_path_length)
{
	static const char mark[] = " (deleted)";
	struct text_set set = { 0 };

	assert_int_equal(text_path_length(""), 0);
	assert_int_equal(text_path_length("/a/b"), 4);
	assert_int_equal(text_path_length("/a/b (deleted)"), 4);
	assert_int_equal(text_path_length("/a/b (deleted)c"), 15);
	/* (it is the whole name) */
	assert_int_equal(text_path_length(mark), sizeof(mark) - 1);
	assert_string_equal(text_set_keep_path(&set, "/a/b (deleted)"), "/a/b");
	assert_ptr_equal(text_set_keep_path(&set, "/a/b"), text_set_keep(&set, "/a/b"));
	text_set_deinit(&set);
}

TEST(test_clean)
{
	static const struct {
		const char *from;
		size_t n;
		size_t room;
		const char *to;
	} rows[] = {
		{ BYTES(""), 64, "" },
		{ BYTES("plain"), 64, "plain" },
		{ BYTES("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"), 64,
		  "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80" },
		{ BYTES("a\tb\nc\x1b"
			"d\x7f"
			"e\0f"),
		  64, "a\tb" BAD "c" BAD "d" BAD "e" BAD "f" },
		/* what terminals interpret as ESC and a letter, and neighbours */
		{ BYTES("\xc2\x80 \xc2\x9b"
			"2J\xc2\x9f\xc2\xa0"),
		  64, BAD " " BAD "2J" BAD "\xc2\xa0" },
		/*
		 * U+202E reverses the following text, such as an .exe shown as a .txt; and
		 * neighbours
		 */
		{ BYTES("a\xe2\x80\xaetxt.exe"), 64, "a" BAD "txt.exe" },
		{ BYTES("\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xaa\xe2\x80\xaf"), 64,
		  "\xe2\x80\xa7" BAD BAD "\xe2\x80\xaf" },
		{ BYTES("\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xb0"), 64,
		  BAD BAD BAD "\xe2\x81\xb0" },
		{ BYTES("\xe2\x80\x8a\xe2\x80\x8b\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\x90"), 64,
		  "\xe2\x80\x8a" BAD BAD BAD "\xe2\x80\x90" },
		{ BYTES("\xd8\x9b\xd8\x9c\xd8\x9e"), 64, "\xd8\x9b" BAD "\xd8\x9e" },
		{ BYTES("\xef\xbb\xbf\xc2\xad\xf3\xa0\x81\x81\xf3\xa0\x84\x80"), 64,
		  BAD BAD BAD "\xf3\xa0\x84\x80" },
		{ BYTES("\xff\xfe"), 64, BAD BAD },
		{ BYTES("\xed\xa0\x80"), 64, BAD BAD BAD }, /* one for each byte */
		{ BYTES("\xe2\x82"
			"x"),
		  64, BAD BAD "x" },
		{ BYTES("x\xe2\x82"), 64, "x" BAD BAD },
		/* no room */
		{ BYTES("abc"), 1, "" },
		{ BYTES("abc"), 3, "ab" },
		{ BYTES("abc"), 4, "abc" },
		{ BYTES("a\xe2\x82\xac"
			"b"),
		  4, "a" },
		{ BYTES("a\xe2\x82\xac"
			"b"),
		  5, "a\xe2\x82\xac" },
		{ BYTES("\xff"
			"b"),
		  3, "" },
		{ BYTES("\xff"
			"b"),
		  4, BAD },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *from = malloc(rows[i].n + 1);
		_cleanup_free_ char *to = malloc(rows[i].room);

		/* Both buffers have the exact size, so that a sanitizer detects an extra byte. */
		from = realloc(from, rows[i].n ? rows[i].n : 1);
		memcpy(from, rows[i].from, rows[i].n);
		assert_int_equal(text_clean(to, rows[i].room, from, rows[i].n), strlen(rows[i].to));
		assert_string_equal(to, rows[i].to);
	}
}

/* With any bytes, the result is UTF-8 and fits. */
TEST(test_clean_any_bytes)
{
	uint64_t random = 1;

	for (unsigned round = 0; round < 20000; round++) {
		char from[24], to[16];
		size_t room, n;

		for (size_t i = 0; i < sizeof(from); i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			from[i] = (char)(random >> 56);
		}
		room = 1 + (random >> 20) % sizeof(to);
		n = text_clean(to, room, from, (random >> 30) % (sizeof(from) + 1));
		assert_true(n < room);
		assert_int_equal(to[n], 0);
		assert_true(text_is_utf8(to, n));
	}
}

TEST(test_join_args)
{
	static const struct {
		const char *args;
		size_t n;
		size_t room;
		const char *to;
		bool is_cut;
	} rows[] = {
		{ BYTES(""), 64, "" },
		{ BYTES("\0\0"), 64, "" },
		{ BYTES("ls\0"), 64, "ls" },
		{ BYTES("ls\0-l\0/tmp\0"), 64, "ls -l /tmp" },
		{ BYTES("ls\0-l"), 64, "ls -l" },  /* cut by the kernel */
		{ BYTES("a\0\0b\0"), 64, "a  b" }, /* an empty argument */
		{ BYTES("\0b\0"), 64, " b" },
		{ BYTES("a\nb\0\xff\0"), 64, "a" BAD "b " BAD },
		{ BYTES("ab\0cd\0"), 1, "" },
		{ BYTES("ab\0cd\0"), 3, "ab" },
		{ BYTES("ab\0cd\0"), 4, "..." },
		{ BYTES("ab\0cd\0"), 5, "a..." },
		{ BYTES("ab\0cd\0"), 6, "ab cd" },
		/* The first character that does not fit ends the text: nothing later is added. */
		{ BYTES("ab\xe2\x82\xac\0c\0"), 7, "ab..." },
		{ BYTES("ab\xe2\x82\xac\0c\0"), 8, "ab\xe2\x82\xac c" },
		{ BYTES("abcdef\0g\0"), 7, "abc..." },
		{ BYTES("abcdef\0g\0"), 8, "abcd..." },
		{ BYTES("abcdef\0g\0"), 9, "abcdef g" },
		/* The process has more. */
		{ BYTES("abc\0d"), 64, "abc d...", true },
		{ BYTES("abc\0"), 64, "abc ...", true },
		{ BYTES("abcdef"), 7, "abc...", true },
		/* The process has shortened its command line. */
		{ BYTES("title\0\0\0\0\0\0\0\0"), 64, "title ...", true },
		{ BYTES("a\0\0b\0\0"), 64, "a  b ...", true },
		{ BYTES("\0\0\0"), 64, "...", true },
		{ BYTES(""), 64, "...", true },
		{ BYTES("abc"), 3, "ab", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *to = malloc(rows[i].room);

		assert_int_equal(text_join_args(to, rows[i].room, rows[i].args, rows[i].n,
						rows[i].is_cut),
				 strlen(rows[i].to));
		assert_string_equal(to, rows[i].to);
	}
}

struct number_row {
	const char *text;
	int r;
	uint64_t value;
};

TEST(test_parse_size)
{
	static const struct number_row rows[] = {
		{ "0", 0, 0 },
		{ "512", 0, 512 },
		{ "512B", 0, 512 },
		{ "1K", 0, 1024 },
		{ "1k", 0, 1024 },
		{ "4KiB", 0, 4096 },
		{ "4KB", 0, 4096 },
		{ "3M", 0, 3 << 20 },
		{ "2GiB", 0, UINT64_C(2) << 30 },
		{ "1T", 0, UINT64_C(1) << 40 },
		{ "16777215T", 0, UINT64_C(16777215) << 40 },
		{ "16777216T", -ERANGE, 0 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "K", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 },
		{ "1 K", -EINVAL, 0 },
		{ "1.5M", -EINVAL, 0 },
		{ "1Ki", -EINVAL, 0 },
		{ "1iB", -EINVAL, 0 },
		{ "1KBB", -EINVAL, 0 },
		{ "1KK", -EINVAL, 0 },
		{ "1P", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t v = 77;

		assert_int_equal(text_parse_size(rows[i].text, &v), rows[i].r);
		assert_int_equal(v, rows[i].r < 0 ? 77 : rows[i].value);
	}
}

TEST(test_parse_time)
{
	static const struct number_row rows[] = {
		{ "0", 0, 0 },
		{ "5", 0, UINT64_C(5000000000) },
		{ "5s", 0, UINT64_C(5000000000) },
		{ "0.25", 0, 250000000 },
		{ "250ms", 0, 250000000 },
		{ "1.5ms", 0, 1500000 },
		{ "10us", 0, 10000 },
		{ "7ns", 0, 7 },
		{ "1.9ns", 0, 1 },
		{ "2m", 0, UINT64_C(120000000000) },
		{ "1.5h", 0, UINT64_C(5400000000000) },
		{ "1d", 0, UINT64_C(86400000000000) },
		{ "0.000000001", 0, 1 },
		{ "0.0000000019", 0, 1 },
		{ "18446744073709551615ns", 0, UINT64_MAX },
		{ "18446744073.709551615", 0, UINT64_MAX },
		{ "18446744073.709551616", -ERANGE, 0 },
		{ "18446744074", -ERANGE, 0 },
		{ "213504d", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ ".5", -EINVAL, 0 },
		{ "5.", -EINVAL, 0 },
		{ "5.s", -EINVAL, 0 },
		{ "1.2.3", -EINVAL, 0 },
		{ "-5", -EINVAL, 0 },
		{ "5 s", -EINVAL, 0 },
		{ "5min", 0, UINT64_C(300000000000) },
		{ "1h 30min", 0, UINT64_C(5400000000000) },
		{ "1s  500msec 1usec 1nsec", 0, UINT64_C(1500001001) },
		{ "1w", 0, UINT64_C(604800000000000) },
		{ "5minutes", -EINVAL, 0 },
		{ "5s ", -EINVAL, 0 },
		{ " 5s", -EINVAL, 0 },
		{ "1h30min", -EINVAL, 0 },
		{ "10000000000 10000000000", -ERANGE, 0 },
		{ "s", -EINVAL, 0 },
		{ "1e3", -EINVAL, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t v = 77;

		assert_int_equal(text_parse_time(rows[i].text, &v), rows[i].r);
		assert_int_equal(v, rows[i].r < 0 ? 77 : rows[i].value);
	}
}

TEST(test_parse_u64)
{
	static const struct {
		const char *text;
		uint64_t max;
		int r;
		uint64_t value;
	} rows[] = {
		{ "0", 0, 0, 0 },
		{ "1", 0, -ERANGE, 0 },
		{ "100", 100, 0, 100 },
		{ "101", 100, -ERANGE, 0 },
		{ "007", 100, 0, 7 },
		{ "18446744073709551615", UINT64_MAX, 0, UINT64_MAX },
		{ "18446744073709551616", UINT64_MAX, -ERANGE, 0 },
		{ "", 100, -EINVAL, 0 },
		{ "12a", 100, -EINVAL, 0 },
		{ "-1", 100, -EINVAL, 0 },
		{ " 1", 100, -EINVAL, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t v = 77;

		assert_int_equal(text_parse_u64(rows[i].text, rows[i].max, &v), rows[i].r);
		assert_int_equal(v, rows[i].r < 0 ? 77 : rows[i].value);
	}
}

TEST(test_format_size)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = {
		{ 0, "0 B" },
		{ 512, "512 B" },
		{ 1023, "1023 B" },
		{ 1024, "1.0 KiB" },
		{ 1536, "1.5 KiB" },
		{ (1 << 20) - 1, "1.0 MiB" },
		{ 1 << 20, "1.0 MiB" },
		{ UINT64_C(3) << 30, "3.0 GiB" },
		{ UINT64_MAX, "16.0 EiB" },
	};
	char to[TEXT_FORMAT_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_string_equal(text_format_size(to, rows[i].bytes), rows[i].text);
}

TEST(test_nouns)
{
	assert_string_equal(text_s(0), "s");
	assert_string_equal(text_s(1), "");
	assert_string_equal(text_s(2), "s");
	assert_string_equal(text_is(1), "is");
	assert_string_equal(text_is(2), "are");
	assert_string_equal(text_was(1), "was");
	assert_string_equal(text_was(0), "were");
}

TEST(test_format_time)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} rows[] = {
		{ 0, "0 ns" },
		{ 850, "850 ns" },
		{ 999, "999 ns" },
		{ 1000, "1.00 us" },
		{ 17400, "17.4 us" },
		{ 999499, "999 us" },
		{ 999500, "1.00 ms" },
		{ 9994000, "9.99 ms" },
		{ 9996000, "10.0 ms" },
		{ 17400000, "17.4 ms" },
		{ 99960000, "100 ms" },
		{ UINT64_C(3002000000), "3.00 s" },
		{ UINT64_C(3600000000000), "3600 s" },
		{ UINT64_MAX, "18446744074 s" },
	};
	char to[TEXT_FORMAT_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_string_equal(text_format_time(to, rows[i].ns), rows[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_utf8),
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_clean_any_bytes),
		cmocka_unit_test(test_join_args),
		cmocka_unit_test(test_parse_size),
		cmocka_unit_test(test_parse_time),
		cmocka_unit_test(test_parse_u64),
		cmocka_unit_test(test_format_size),
		cmocka_unit_test(test_nouns),
		cmocka_unit_test(test_format_time),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_path_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
