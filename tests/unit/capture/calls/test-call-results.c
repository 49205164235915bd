/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The results of calls: memory, values of two registers, and members of structures.
 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/calls/call-results.h"
#include "capture/calls/call-targets.h"
#include "tests/support/unit.h"

static struct call_spec spec;
static char text[CALL_VALUE_TEXT_MAX];

static void take(const char *result)
{
	struct call_spec_error error;
	char whole[512];

	snprintf(whole, sizeof(whole), "x:f(size_t size) -> %s", result);
	if (call_spec_parse(whole, &spec, &error) < 0)
		fail_msg("%s: at %zu: %s", whole, error.at, error.why);
}

/* Returns the text of a result with these registers, and N bytes of memory; -1 = unreadable. */
static const char *shown(uint64_t low, uint64_t high, const void *bytes, int n, bool is_cut)
{
	struct call_text memory = { .bytes = n, .cut = is_cut };
	const struct call_result r = { .low = low, .high = high, .memory = bytes ? &memory : NULL };
	struct call_value v;

	if (n > 0)
		memcpy(memory.text, bytes, (size_t)n);
	v = call_result_value(&spec, &r, text);
	if (v.form == CALL_VALUE_POINTER)
		snprintf(text, sizeof(text), "address %#jx", (uintmax_t)v.u64);
	else if (v.form == CALL_VALUE_INT)
		snprintf(text, sizeof(text), "number %jd", (intmax_t)v.i64);
	else
		assert_int_equal(v.form, CALL_VALUE_TEXT);
	return v.form == CALL_VALUE_TEXT ? v.text : text;
}

TEST(test_texts)
{
	take("str");
	assert_string_equal(shown(0x5000, 9, "a\"b", 3, false), "\"a\\\"b\"");
	assert_string_equal(shown(0x5000, 9, "abc", 3, true), "\"abc\"...");
	assert_string_equal(shown(0x5000, 9, "", 0, false), "\"\"");
	assert_string_equal(shown(0x5000, 9, "", -14, false), "address 0x5000");
	assert_string_equal(shown(0x5000, 9, NULL, 0, false), "address 0x5000");
	assert_string_equal(shown(0, 9, "", -1, false), "address 0");
	take("bytes[3]");
	assert_string_equal(shown(0x5000, 9, "abc", 3, false), "\"\\x61\\x62\\x63\"");
	take("struct:timespec");
	assert_string_equal(shown(0x5000, 9, "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0", 16, false),
			    "{tv_sec=1, tv_nsec=2}");
	assert_string_equal(shown(0x5000, 9, "", -14, false), "address 0x5000");
	take("int");
	assert_string_equal(shown(UINT32_MAX, 9, NULL, 0, false), "number -1");
}

/* The length is in the second register, or in the first one, and nowhere else. */
TEST(test_slices)
{
	take("slice");
	assert_string_equal(shown(0x5000, 3, "abc", 3, false), "\"abc\"");
	assert_string_equal(shown(0x5000, 300, "abc", 3, true), "\"abc\"...");
	assert_string_equal(shown(0x5000, 3, "", -14, false), "{0x5000, 3}");
	assert_string_equal(shown(0, 3, "", -1, false), "{NULL, 3}");
	assert_string_equal(shown(0, 0, "", -1, false), "\"\"");
	assert_string_equal(shown(1, 0, "", 0, false), "\"\"");
	take("view");
	assert_string_equal(shown(3, 0x5000, "abc", 3, false), "\"abc\"");
	assert_string_equal(shown(3, 0x5000, NULL, 0, false), "{0x5000, 3}");
	take("slice[2]");
	assert_string_equal(shown(0x5000, 1, "ab", 2, false), "\"\\x61\\x62\"");
}

TEST(test_wide_numbers)
{
	take("int128");
	assert_string_equal(shown(7, 0, NULL, 0, false), "7");
	assert_string_equal(shown(UINT64_MAX, UINT64_MAX, NULL, 0, false), "-1");
	assert_string_equal(shown(0, UINT64_C(1) << 63, NULL, 0, false),
			    "-170141183460469231731687303715884105728");
	take("uint128");
	assert_string_equal(shown(0, 0, NULL, 0, false), "0");
	assert_string_equal(shown(UINT64_MAX, UINT64_MAX, NULL, 0, false),
			    "340282366920938463463374607431768211455");
}

TEST(test_members)
{
	take("struct{int x, int16 y, bool z, ptr p}");
	assert_string_equal(shown(UINT64_C(0x1fffe00000005), 0, NULL, 0, false),
			    "{x=5, y=-2, z=true, p=NULL}");
	take("struct{int8 a@0>>3:3, uint8 b@0>>3:3, ptr c@?vector, "
	     "enum8{ON=1,OFF=2} state@9, float f@12}");
	assert_string_equal(shown(0x38, UINT64_C(0x3fc0000000000200), NULL, 0, false),
			    "{a=-1, b=7, c=<unavailable: in a vector register>, state=OFF, f=1.5}");
	take("ptr{int x, uint8 y@5, uint8 z@300, ...}");
	assert_int_equal(spec.ret.count, 301);
	assert_string_equal(shown(0x5000, 0, "\1\0\0\0\2\3", 6, true), "{x=1, y=3, ...}");
	assert_string_equal(shown(0x5000, 0, "\1\0", 2, true), "{...}");
	assert_string_equal(shown(0x5000, 0, "", -14, false), "address 0x5000");
	take("ptr{int x}");
	assert_string_equal(shown(0x5000, 0, "\1\0\0\0", 4, false), "{x=1}");
}

/* Readers take the name of an errno for an error. The name of another value is not one. */
TEST(test_words_like_errors)
{
	take("enum{EOPEN=1,EPERM=2,EBUSY=-3}");
	assert_string_equal(shown(1, 0, NULL, 0, false), "EOPEN");
	assert_string_equal(shown(2, 0, NULL, 0, false), "EPERM=2");
	assert_string_equal(shown((uint32_t)-3, 0, NULL, 0, false), "EBUSY=-3");
	assert_string_equal(shown(7, 0, NULL, 0, false), "number 7");
	take("errno");
	assert_string_equal(shown((uint32_t)-1, 0, NULL, 0, false), "EPERM");
	take("enum:errno");
	assert_string_equal(shown(1, 0, NULL, 0, false), "EPERM");
}

TEST(test_unavailable)
{
	take("int64@?wide");
	assert_string_equal(shown(7, 0, NULL, 0, false), "<unavailable: larger than a register>");
	take("double@?vector");
	assert_string_equal(shown(7, 0, NULL, 0, false), "<unavailable: in a vector register>");
}

/* The memory that the eBPF programs copy for each type. */
TEST(test_settings)
{
	static const struct call_place place;
	static const struct {
		const char *result;
		uint32_t kind, unit;
	} rows[] = {
		{ "int", CALL_RESULT_PLAIN, 0 },
		{ "ptr", CALL_RESULT_PLAIN, 0 },
		{ "int128", CALL_RESULT_PLAIN, 0 },
		{ "struct{int x}", CALL_RESULT_PLAIN, 0 },
		{ "str", CALL_RESULT_STRING, 0 },
		{ "str@?optimised", CALL_RESULT_PLAIN, 0 },
		{ "buf[9]", CALL_RESULT_MEMORY, 9 },
		{ "struct:timespec", CALL_RESULT_MEMORY, 16 },
		{ "ptr{int x, ptr y}", CALL_RESULT_MEMORY, 16 },
		{ "slice", CALL_RESULT_SLICE, 1 },
		{ "view[8]", CALL_RESULT_VIEW, 8 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct call_target target = { .spec = &spec, .place = &place };
		struct call_watch watch;

		take(rows[i].result);
		watch = call_target_watch(&target);
		assert_int_equal(watch.result, rows[i].kind);
		if (rows[i].kind != CALL_RESULT_PLAIN)
			assert_int_equal(watch.result_unit, rows[i].unit);
		/* Only the first register of a number says whether a call has failed. */
		assert_int_equal(call_target_has_result(&target),
				 !spec.ret_reason && spec.ret.form < CALL_SLICE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_wide_numbers),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_unavailable),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_words_like_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
