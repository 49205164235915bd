/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Static probes of programs that are built here, and their arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader/places/place-usdt.h"
#include "reader/places/places.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/fixtures/place-text.h"
#include "tests/support/fixtures/symbol-program.h"
#include "tests/support/unit.h"

static bool has_programs;

static int set_up(void **state)
{
	int r = own_directory_set_up(state);

	has_programs = r == 0 && try_command("g++ -g -O2 -o fast " SOURCE_ROOT
					     "/tests/support/loads/place-methods.cc && "
					     "strip -o fast-bare fast") == 0;
	return r;
}

static void test_usdt(void **state)
{
	struct places *p;
	struct place_usdts u;
	char text[64];

	(void)state;
	if (!has_programs)
		skip();
	p = open_places("fast-bare");
	assert_int_equal(place_usdts_find(p, "kymotest", "entered", &u), 0);
	assert_int_equal(u.n, 1);
	assert_int_equal(u.n_all, 2);
	assert_int_equal(u.list[0].arguments.n, 3);
	assert_int_equal(u.list[0].arguments.list[0].kind, 'i');
	assert_int_equal(u.list[0].arguments.list[2].load.offset, -7);
	read_command(
		text, sizeof(text),
		"readelf -n fast | grep -A1 'Name: entered' | tail -1 | grep -o '0x[0-9a-f]*' | "
		"head -1");
	assert_int_equal(u.list[0].vaddr, strtoull(text, NULL, 16));
	place_usdts_deinit(&u);
	assert_int_equal(place_usdts_find(p, "", "guard*", &u), 0);
	assert_int_equal(u.n, 1);
	assert_string_equal(u.list[0].name, "guarded");
	place_usdts_deinit(&u);
	assert_int_equal(place_usdts_find(p, "kymotest", "enterde", &u), 0);
	assert_int_equal(u.n, 0);
	assert_string_equal(u.nearest, "kymotest:entered");
	place_usdts_deinit(&u);
	assert_int_equal(place_usdts_find(p, "kymotets", "*", &u), 0);
	assert_int_equal(u.n, 0);
	assert_string_equal(u.nearest, "kymotest:*");
	place_usdts_deinit(&u);
	places_free(p);
}

static void test_usdt_arguments(void **state)
{
	static const struct {
		const char *text, *expected;
	} rows[] = {
		{ "-4@%edi", "arg1 i4 r5+0" },
		{ "1@%ah", "arg1 u1 r0+8" },
		{ "8@-16(%rbp) 2@(%rsp)", "arg1 u8 [r6+-16], arg2 u2 [r7+0]" },
		{ "8f@%xmm0", "arg1 f8 ?" },
		{ "8@(%rax,%rdx,8)", "arg1 u8 [r0+r1*8+0]" },
		{ "4@-4(%rbp,%r9)", "arg1 u4 [r6+r9*1+-4]" },
		{ "4@-4+8(%rip)", "arg1 u4 [r16+4]" },
		{ "4@(,%rax,8)", "arg1 u4 ?" },
		{ "4@(%rax,%rdx,", "arg1 u4 ?" },
		{ "4@(%rax,%rip,8) 4@(%rax,%rdx,3) 4@(%rax,%rdx,) 4@(%rax,) 4@()",
		  "arg1 u4 ?, arg2 u4 ?, arg3 u4 ?, arg4 u4 ?, arg5 u4 ?" },
		{ "4@(%eax) 4@(%r8d,%rax,1) 4@%fs:4 4@-name(%rip) 4@8(%rax",
		  "arg1 u4 ?, arg2 u4 ?, arg3 u4 ?, arg4 u4 ?, arg5 u4 ?" },
		{ "4@name+4(%rip)", "arg1 u4 ?" },
		{ "4@4096", "arg1 u4 ?" },
		{ "3@%eax", "arg1 u0 ?" },
		{ "%rbx", "arg1 u8 r3+0" },
		{ "-", "arg1 i8 ?" },
		{ "8@", "arg1 u8 ?" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct place_arguments a;
		char text[512] = "";

		assert_int_equal(place_usdt_arguments(NULL, 0x1000, rows[i].text, &a), 0);
		for (size_t k = 0; k < a.n; k++) {
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s",
				 k ? ", " : "");
			write_argument(text, sizeof(text), &a.list[k]);
		}
		assert_string_equal(text, rows[i].expected);
		place_arguments_deinit(&a);
	}
}

/* Symbols: data of a program, also one with fixed addresses, and names that are not unique. */
static void test_usdt_symbols(void **state)
{
	static const char source[] =
		"asm(\".data; .globl table; table: .quad 1, 2; twin: .quad 3; alias = twin; \"\n"
		"    \".globl other; other: .quad 4; .text\");\n"
		"int main(void) { return 0; }\n";
	static const struct {
		const char *text;
		bool pie, fixed; /* the argument is available */
	} rows[] = {
		{ "4@table+4(%rip)", true, true },
		{ "8@alias(%rip)", true, true },
		{ "8@table", false, true },
		{ "8@table(,%rax,8)", false, true },
		{ "8@table(%rdx)", false, true },
		{ "8@none(%rip)", false, false },
		{ "8@table+twin(%rip)", false, false },
	};
	FILE *to = fopen(directory_path("symbols.c"), "w");

	(void)state;
	if (!has_programs)
		skip();
	assert_non_null(to);
	fputs(source, to);
	fclose(to);
	assert_int_equal(try_command("gcc -fPIE -pie -o pie symbols.c && "
				     "gcc -no-pie -o fixed symbols.c && nm fixed | "
				     "awk '$3 == \"table\" { print $1 }' >table"),
			 0);
	for (size_t i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		bool fixed = i % 2;
		struct places *p = open_places(fixed ? "fixed" : "pie");
		struct place_arguments a;

		assert_int_equal(place_usdt_arguments(p, 0x401000, rows[i / 2].text, &a), 0);
		assert_int_equal(a.n, 1);
		assert_int_equal(a.list[0].reason == PLACE_REASON_NONE,
				 fixed ? rows[i / 2].fixed : rows[i / 2].pie);
		if (fixed && i / 2 == 0) {
			char text[32];
			uint64_t table;

			read_command(text, sizeof(text), "cat table");
			table = strtoull(text, NULL, 16);
			assert_int_equal(a.list[0].load.reg, 16);
			assert_int_equal(a.list[0].load.offset, table + 4 - 0x401000);
			assert_int_equal(place_usdt_arguments(p, 0x401000, "8@table+8(%rdx)", &a),
					 0);
			assert_int_equal(a.list[0].load.reg, 1);
			assert_int_equal(a.list[0].load.offset, table + 8);
		}
		place_arguments_deinit(&a);
		places_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usdt),
		cmocka_unit_test(test_usdt_arguments),
		cmocka_unit_test(test_usdt_symbols),
	};

	return cmocka_run_group_tests(tests, set_up, own_directory_tear_down);
}
