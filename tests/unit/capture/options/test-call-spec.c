/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Specifications of calls: their meanings, and errors of wrong ones.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/options/call-spec.h"
#include "tests/support/unit.h"

static struct call_spec spec;
static struct call_spec_error error;

static void take(const char *text)
{
	int r = call_spec_parse(text, &spec, &error);

	if (r < 0)
		fail_msg("%s: at %zu: %s", text, error.at, error.why);
}

TEST(test_whole)
{
	take("libc.so.6:fopen(str path, str mode) -> ptr");
	assert_string_equal(spec.file, "libc.so.6");
	assert_string_equal(spec.function, "fopen");
	assert_int_equal(spec.n_args, 2);
	assert_string_equal(spec.args[0].name, "path");
	assert_int_equal(spec.args[0].type.form, CALL_STR);
	assert_string_equal(spec.args[1].name, "mode");
	assert_int_equal(spec.ret.form, CALL_PTR);
	assert_int_equal(spec.condition.op, CALL_OP_NONE);
	assert_false(call_spec_is_glob(&spec));
}

TEST(test_least)
{
	take("/bin/x:f()");
	assert_string_equal(spec.file, "/bin/x");
	assert_int_equal(spec.n_args, 0);
	assert_int_equal(spec.ret.form, CALL_VOID);
	take("  x:mem*( )->void ");
	assert_true(call_spec_is_glob(&spec));
	assert_int_equal(spec.ret.form, CALL_VOID);
}

TEST(test_types)
{
	static const struct {
		const char *name;
		enum call_form form;
		unsigned bits;
		const char *shown;
	} rows[] = {
		{ "int", CALL_INT, 32, "int" },       { "int8", CALL_INT, 8, "int8" },
		{ "int16", CALL_INT, 16, "int16" },   { "long", CALL_INT, 64, "int64" },
		{ "ssize_t", CALL_INT, 64, "int64" }, { "uint", CALL_UINT, 32, "uint" },
		{ "uint8", CALL_UINT, 8, "uint8" },   { "size_t", CALL_UINT, 64, "uint64" },
		{ "hex", CALL_HEX, 64, "hex" },       { "hex32", CALL_HEX, 32, "hex32" },
		{ "bool", CALL_BOOL, 8, "bool" },     { "fd", CALL_FD, 32, "fd" },
		{ "ptr", CALL_PTR, 64, "ptr" },       { "str", CALL_STR, 64, "str" },
	};
	char text[64];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(text, sizeof(text), "x:f(%s a) -> %s", rows[i].name, rows[i].name);
		take(text);
		assert_int_equal(spec.args[0].type.form, rows[i].form);
		assert_int_equal(spec.args[0].type.bits, rows[i].bits);
		assert_int_equal(spec.ret.form, rows[i].form);
		assert_string_equal(call_type_name(&spec.ret), rows[i].shown);
	}
	take("x:f() -> errno");
	assert_int_equal(spec.ret.form, CALL_ERRNO);
}

TEST(test_results)
{
	take("x:f() -> slice[4] limit 3/s");
	assert_int_equal(spec.ret.form, CALL_SLICE);
	assert_int_equal(spec.ret.count, 4);
	assert_true(spec.ret.in_hex);
	assert_int_equal(spec.limit, 3);
	take("x:f() -> view");
	assert_int_equal(spec.ret.form, CALL_VIEW);
	assert_int_equal(spec.ret.count, 1);
	take("x:f(int n) -> ptr{int8 a, int b.c, uint8 d@20>>2:3, ptr e@?whole, ...} if $n > 1");
	assert_int_equal(spec.ret.form, CALL_POINTED);
	assert_int_equal(spec.n_members, 4);
	assert_int_equal(spec.members[1].at, 4);
	assert_string_equal(spec.members[1].name, "b.c");
	assert_int_equal(spec.members[2].at, 20);
	assert_int_equal(spec.members[2].shift, 2);
	assert_int_equal(spec.members[2].width, 3);
	assert_int_equal(spec.members[3].reason, CALL_REASON_NO_NUMBER);
	assert_true(spec.members_are_cut);
	assert_int_equal(spec.condition.op, CALL_OP_GT);
}

TEST(test_buffers)
{
	take("x:write(fd to, buf[n] what, size_t n, buf[16] more) -> ssize_t");
	assert_int_equal(spec.n_args, 4);
	assert_int_equal(spec.args[1].type.form, CALL_BUF);
	assert_int_equal(spec.args[1].type.count_arg, 2);
	assert_int_equal(spec.args[1].type.count, 0);
	assert_int_equal(spec.args[3].type.count, 16);
}

TEST(test_conditions)
{
	static const struct {
		const char *text;
		uint8_t op;
		uint64_t value;
	} rows[] = {
		{ "x:f(int a) if $a == 7", CALL_OP_EQ, 7 },
		{ "x:f(int a) if $a != -1", CALL_OP_NE, UINT64_MAX },
		{ "x:f(int a) -> int if $a<0x10", CALL_OP_LT, 16 },
		{ "x:f(int a) if $a <= 0", CALL_OP_LE, 0 },
		{ "x:f(size_t a) if $ a > 18446744073709551615", CALL_OP_GT, UINT64_MAX },
		{ "x:f(int a) if $a >= 4096", CALL_OP_GE, 4096 },
		{ "x:f(hex a) if $a & 0x80", CALL_OP_AND, 128 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		take(rows[i].text);
		assert_int_equal(spec.condition.op, rows[i].op);
		assert_int_equal(spec.condition.arg, 0);
		assert_int_equal(spec.condition.value, rows[i].value);
	}
	take("x:f(int a, int b) if $b == 7");
	assert_int_equal(spec.condition.arg, 1);
	/* (memory of unknown content can be a number instead) */
	take("syscall:ioctl if $arg > 0");
	assert_int_equal(spec.condition.arg, 2);
	take("syscall:fcntl if $arg & 0x800");
	assert_int_equal(spec.condition.arg, 2);
}

TEST(test_limits)
{
	take("x:f(int a) -> int if $a < 7 limit 100/s");
	assert_int_equal(spec.limit, 100);
	assert_int_equal(spec.condition.value, 7);
	take("libc.so.6:malloc limit 4294967295 /s");
	assert_int_equal(spec.limit, UINT32_MAX);
	assert_int_equal(spec.n_args, 1);
	take("x:f()");
	assert_int_equal(spec.limit, 0);
}

TEST(test_ranges)
{
	take("/bin/x:+0x1200+0x40='ns::f(int)'(int n) -> int");
	assert_string_equal(spec.function, "ns::f(int)");
	assert_true(spec.range.is_used && !spec.range.is_point);
	assert_int_equal(spec.range.begin, 0x1200);
	assert_int_equal(spec.range.bytes, 0x40);
	assert_false(call_spec_has_locations(&spec));
	take("x:+16+8@7='a*'()");
	assert_true(spec.range.is_point);
	assert_int_equal(spec.range.at, 7);
	assert_false(call_spec_is_glob(&spec));
}

TEST(test_locations)
{
	take("x:f(int a@r5, int p.x@r4>>32, ptr b@r6-16, long c@[r7+8], int d@=-3, double e, "
	     "float g@[r7], int h@?optimised)");
	assert_int_equal(spec.n_args, 8);
	assert_true(call_spec_has_locations(&spec));
	assert_int_equal(spec.args[0].location.kind, CALL_ORIGIN_REGISTER);
	assert_int_equal(spec.args[0].location.reg, 5);
	assert_string_equal(spec.args[1].name, "p.x");
	assert_int_equal(spec.args[1].location.shift, 32);
	assert_int_equal(spec.args[2].location.offset, -16);
	assert_int_equal(spec.args[3].location.kind, CALL_ORIGIN_MEMORY);
	assert_int_equal(spec.args[3].location.offset, 8);
	assert_int_equal(spec.args[4].location.kind, CALL_ORIGIN_CONSTANT);
	assert_int_equal(spec.args[4].location.offset, -3);
	assert_int_equal(spec.args[5].location.reason, CALL_REASON_VECTOR);
	assert_int_equal(spec.args[6].location.kind, CALL_ORIGIN_MEMORY);
	assert_int_equal(spec.args[7].location.reason, CALL_REASON_OPTIMISED);
	assert_int_equal(spec.ret_reason, CALL_REASON_NONE);
	take("x:f(int a@[r16+64], int b@[r0+r1*8-16], int c@[r7+r16*1])");
	assert_int_equal(spec.args[0].location.reg, 16);
	assert_int_equal(spec.args[0].location.scale, 0);
	assert_int_equal(spec.args[1].location.reg, 0);
	assert_int_equal(spec.args[1].location.index, 1);
	assert_int_equal(spec.args[1].location.scale, 8);
	assert_int_equal(spec.args[1].location.offset, -16);
	assert_int_equal(spec.args[2].location.index, 16);
	take("x:f(int n) -> uint64@?wide if $n > 1");
	assert_int_equal(spec.ret_reason, CALL_REASON_WIDE);
	take("x:f(int a@r5>>3:4, int b@[r7+8]>>60:4, long c@r5>>0:64)");
	assert_int_equal(spec.args[0].location.shift, 3);
	assert_int_equal(spec.args[0].location.width, 4);
	assert_int_equal(spec.args[1].location.kind, CALL_ORIGIN_MEMORY);
	assert_int_equal(spec.args[1].location.offset, 8);
	assert_int_equal(spec.args[1].location.shift, 60);
	assert_int_equal(spec.args[1].location.width, 4);
	assert_int_equal(spec.args[2].location.width, 64);
}

TEST(test_words)
{
	take("x:f(enum{RED=0,ns::GREEN=-1} a, enum8{} b, enum{C=7} c) -> enum16{D=1}");
	assert_string_equal(spec.words + spec.args[0].type.words - 1, "RED=0,ns::GREEN=-1");
	assert_int_equal(spec.args[0].type.bits, 32);
	assert_int_equal(spec.args[1].type.bits, 8);
	assert_string_equal(spec.words + spec.args[2].type.words - 1, "C=7");
	assert_string_equal(spec.words + spec.ret.words - 1, "D=1");
	assert_int_equal(spec.ret.bits, 16);
}

/* The place of the error, and a part of the message. */
struct wrong {
	const char *text;
	size_t at;
	const char *why;
};

static void check_wrong(const struct wrong *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(call_spec_parse(rows[i].text, &spec, &error), -EINVAL);
		if (error.at != rows[i].at || !strstr(error.why, rows[i].why))
			fail_msg("%s: at %zu: %s", rows[i].text, error.at, error.why);
	}
}

TEST(test_wrong)
{
	static const struct wrong rows[] = {
		{ "", 0, "no ':'" },
		{ "fopen(str path)", 0, "no ':'" },
		{ ":f()", 0, "the file is missing" },
		{ "x:()", 2, "the function is missing" },
		{ "x:f -> int", 4, "'(' is missing" },
		{ "x:f(out int a)", 4, "is only for str, buf and struct" },
		{ "x:f(flags:opn a)", 4, "unknown set" },
		{ "x:a/b()", 3, "name of a function" },
		{ "x:f(", 4, "a type is missing" },
		{ "x:f(strg path)", 4, "unknown type 'strg'" },
		{ "x:f(str)", 7, "the name of the argument is missing" },
		{ "x:f(str 1a)", 8, "begin with a digit" },
		{ "x:f(str a, int a)", 15, "another argument has this name" },
		{ "x:f(str a int b)", 10, "',' or ')'" },
		{ "x:f(str a,)", 10, "a type is missing" },
		{ "x:f(void a)", 4, "only for results" },
		{ "x:f(errno a)", 4, "only for results" },
		{ "x:f(buf a)", 8, "the length is missing" },
		{ "x:f(buf[0] a)", 8, "1 to 65536" },
		{ "x:f(buf[65537] a)", 8, "1 to 65536" },
		{ "x:f(buf[n] a)", 8, "no argument of this name" },
		{ "x:f(buf[b] a, str b)", 8, "not a number" },
		{ "x:f(buf[16 a)", 11, "']' is missing" },
		{ "x:f(buf[16a] a)", 10, "unexpected character in a number" },
		{ "x:f(buf[] a)", 8, "a number is missing" },
		{ "x:f() ->", 8, "a type is missing" },
		{ "x:f() - int", 6, "unexpected text" },
		{ "x:f() limit", 11, "a number is missing" },
		{ "x:f() limit 5", 13, "'/s' is missing" },
		{ "x:f() limit 0/s", 12, "1 to 4294967295 calls per second" },
		{ "x:f() limit -1/s", 12, "1 to 4294967295 calls per second" },
		{ "x:f() limit 4294967296/s", 12, "1 to 4294967295 calls per second" },
		{ "x:f limit 5/s if $a > 1", 14, "unexpected text" },
		{ "x:f() -> int int", 13, "unexpected text" },
		{ "x:f(int a) if a > 1", 14, "'$'" },
		{ "x:f(int a) if $b > 1", 15, "no argument of this name" },
		{ "x:f(str a) if $a > 1", 15, "does not see the memory there" },
		{ "x:f(buf[2] a) if $a > 1", 18, "does not see the memory there" },
		{ "x:f(struct:stat a) if $a > 1", 23, "does not see the memory there" },
		{ "x:f(int a) if $a 1", 17, "one of" },
		{ "x:f(int a) if $a > b", 19, "a number is missing" },
		{ "x:f(int a) if $a > 99999999999999999999", 19, "too large" },
		{ "x:f(int a) if $a > 1 or", 21, "unexpected text" },
		{ "x:f(int a,int b,int c,int d,int e,int f,int g)", 45, "at most 6" },
		{ "x:f(int a2345678901234567890123456789012)", 8, "longer than 31" },
		{ "x:+16='f'()", 5, "size of the function" },
		{ "x:+16+0='f'()", 2, "unexpected text in the description" },
		{ "x:+16+8@8='f'()", 2, "unexpected text in the description" },
		{ "x:+16+8()", 7, "='NAME' is missing" },
		{ "x:+16+8='f()", 12, "not closed" },
		{ "x:+16+8=''()", 9, "the name is missing" },
		{ "x:f(int a@)", 10, "is expected" },
		{ "x:f(int a@r17)", 13, "r0 to r16" },
		{ "x:f(int a@[r5)", 13, "']' is missing" },
		{ "x:f(int a@r5>>64)", 16, "64 bits" },
		{ "x:f(int a@r5>>3:0)", 17, "1 to 64 bits" },
		{ "x:f(int a@r5>>3:62)", 18, "1 to 64 bits" },
		{ "x:f(int a@?because)", 11, "unknown reason" },
		{ "x:f(int a) -> int@?because", 19, "unknown reason" },
		{ "x:f(enum{A} a)", 9, "NAME=NUMBER" },
		{ "x:f(enum{A=x} a)", 11, "decimal number" },
		{ "x:f(enum{A=1 a)", 9, "'}' is missing" },
		{ "x:f(double d) if $d > 1", 18, "not a number" },
		{ "x:f(int d@?vector) if $d > 1", 23, "in a vector register" },
	};

	check_wrong(rows, ARRAY_SIZE(rows));
}

TEST(test_wrong_results)
{
	static const struct wrong rows[] = {
		{ "x:f(size_t n) -> buf[n]", 21, "the length of a result is a number" },
		{ "x:f() -> buf", 12, "the length is missing" },
		{ "x:f() -> double", 9, "in a vector register" },
		{ "syscall:read(fd a) -> str", 22, "the result of a system call is a number" },
		{ "syscall:read(fd a) -> int128", 22, "the result of a system call is a number" },
		{ "x:f() -> struct:raw", 9, "length of this structure is unknown" },
		{ "x:f() -> struct:sockaddr", 9, "length of this structure is unknown" },
		{ "x:f() -> slice[0]", 15, "1 to 65536 bytes" },
		{ "x:f() -> slice[4", 16, "']' is missing" },
		{ "x:f(slice a)", 4, "only for results" },
		{ "x:f(int128 a)", 4, "only for results" },
		{ "x:f() -> struct{}", 16, "a type is missing" },
		{ "x:f() -> struct{int}", 19, "the name of the member is missing" },
		{ "x:f() -> struct{str a}", 16, "a member is a number or an address" },
		{ "x:f() -> struct{int a int b}", 22, "',' or '}' is missing" },
		{ "x:f() -> struct{ptr a, ptr b, int8 c}", 35, "at most 16 bytes" },
		{ "x:f() -> ptr{int a@65536}", 24, "at most 65536 bytes" },
	};

	check_wrong(rows, ARRAY_SIZE(rows));
}

TEST(test_long)
{
	char text[CALL_SPEC_TEXT_MAX + 1];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(call_spec_parse(text, &spec, &error), -EINVAL);
	assert_int_equal(error.at, 0);
	text[CALL_FILE_MAX] = ':';
	text[CALL_FILE_MAX + 4] = '\0';
	assert_int_equal(call_spec_parse(text, &spec, &error), -EINVAL);
	assert_string_equal(error.why, "the file is longer than 511 bytes");
}

TEST(test_values)
{
	const struct call_type i8 = { .form = CALL_INT, .bits = 8 };
	const struct call_type u8 = { .form = CALL_UINT, .bits = 8 };
	const struct call_type fd = { .form = CALL_FD, .bits = 32 };
	const struct call_type u64 = { .form = CALL_UINT, .bits = 64 };

	assert_int_equal((int64_t)call_type_value(&i8, 0x12ff), -1);
	assert_int_equal(call_type_value(&u8, 0x12ff), 255);
	assert_int_equal((int64_t)call_type_value(&fd, 0xffffffff), -1);
	assert_int_equal(call_type_value(&fd, UINT64_C(0x100000003)), 3);
	assert_int_equal(call_type_value(&u64, UINT64_MAX), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),     cmocka_unit_test(test_least),
		cmocka_unit_test(test_types),     cmocka_unit_test(test_buffers),
		cmocka_unit_test(test_results),   cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_limits),    cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_locations), cmocka_unit_test(test_words),
		cmocka_unit_test(test_wrong),     cmocka_unit_test(test_long),
		cmocka_unit_test(test_values),    cmocka_unit_test(test_wrong_results),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
