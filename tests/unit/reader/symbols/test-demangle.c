/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "reader/symbols/demangle.h"
#include "tests/support/unit.h"

TEST(test_demangle_names)
{
	static const struct {
		const char *mangled, *text;
	} rows[] = {
		/* C++ */
		{ "_Z1fv", "f()" },
		{ "_ZN3foo3barEi", "foo::bar(int)" },
		{ "_ZNSt6vectorIiSaIiEE9push_backEOi",
		  "std::vector<int, std::allocator<int> >::push_back(int&&)" },
		{ "_ZN3FooC1ERKS_", "Foo::Foo(Foo const&)" },
		{ "_ZN3FooD0Ev", "Foo::~Foo()" },
		{ "_ZNK3FoocvbEv", "Foo::operator bool() const" },
		{ "_Z3maxIdET_S0_S0_", "double max<double>(double, double)" },
		{ "_ZZ4mainENKUlT_E_clIiEEDaS_",
		  "auto main::{lambda(auto:1)#1}::operator()<int>(int) const" },
		{ "_Z3fooi.cold", "foo(int) [clone .cold]" },
		{ "_Z3fooi.part.0.constprop.0", "foo(int) [clone .part.0] [clone .constprop.0]" },
		{ "_ZThn16_N3Foo3barEv", "non-virtual thunk to Foo::bar()" },
		{ "_ZGVZ1fvE1x", "guard variable for f()::x" },
		/* Rust, legacy */
		{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
		{ "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
		  "<Test + 'static as foo::Bar<Test>>::bar" },
		/* Rust, v0 */
		{ "_RNvC6_123foo3bar", "123foo::bar" },
		{ "_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar" },
		{ "_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>" },
		{ "_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
		  "utf8_idents::\u10e1\u10d0\u10ed\u10db\u10d4\u10da\u10d0\u10d3_\u10d2\u10d4\u10db\u10e0\u10d8\u10d4\u10da\u10d8_\u10e1\u10d0\u10d3\u10d8\u10da\u10d8" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[1024] = "";

		assert_int_equal(demangle(text, sizeof(text), rows[i].mangled),
				 strlen(rows[i].text));
		assert_string_equal(text, rows[i].text);
	}
}

TEST(test_demangle_refuses_what_is_no_name)
{
	static const char *const rows[] = { "",
					    "main",
					    "_",
					    "_Z",
					    "_ZN",
					    "_ZNoclass",
					    "__libc_start_main",
					    "_R",
					    "_RNvC",
					    "Z1fv",
					    "_Z99999999999f",
					    "_ZN3fooEEE" };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[64];

		assert_int_equal(demangle(text, sizeof(text), rows[i]), 0);
	}
}

TEST(test_demangle_cuts)
{
	char text[12];

	assert_int_equal(demangle(text, sizeof(text), "_ZN3foo3barEi"), 11);
	assert_string_equal(text, "foo::bar...");
	assert_int_equal(demangle(text, sizeof(text), "_RNvNtCs1234_7mycrate3foo3bar"), 11);
	assert_string_equal(text, "mycrate:...");
}

/* BEGIN, then PIECE as often as it fits, then END. */
static void repeat(char *to, size_t room, const char *begin, const char *piece, size_t n,
		   const char *end)
{
	size_t at = (size_t)snprintf(to, room, "%s", begin);

	for (size_t i = 0; i < n && at + strlen(piece) + strlen(end) < room; i++)
		at += (size_t)snprintf(to + at, room - at, "%s", piece);
	snprintf(to + at, room - at, "%s", end);
}

/* A number below 62 plus one, in Rust's format of references. */
static char base_62(unsigned int n)
{
	static const char digits[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	assert_true(n > 0 && n <= 62);
	return digits[n - 1];
}

/* Names that would take forever, or all of the stack. */
TEST(test_demangle_hostile)
{
	static const struct {
		const char *begin, *piece;
		size_t n;
		const char *end;
	} rows[] = {
		{ "_Z1f", "P", 4000, "i" },           { "_Z", "N", 4000, "" },
		{ "_Z1fI", "1aI", 1300, "" },         { "_Z1f", "DpDp", 1000, "i" },
		{ "_Z1fI", "J", 4000, "" },           { "_Z", "Z", 4000, "" },
		{ "_Z1fIX", "ng", 2000, "Li1EEEvv" }, { "_Z1fIX", "cvi", 1300, "Li1EEEvv" },
		{ "_RNvC1a1b", "", 0, "" },           { "_RI", "C1a", 1000, "" },
		{ "_RINvC1a1b", "T", 4000, "E" },     { "_RINvC1a1b", "RRRR", 1000, "hE" },
		{ "_RINvC1a1b", "B_", 1000, "E" },    { "_RI", "B_", 1000, "E" },
	};
	char name[DEMANGLE_NAME_MAX + 100], text[4096];
	size_t at;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		repeat(name, DEMANGLE_NAME_MAX, rows[i].begin, rows[i].piece, rows[i].n,
		       rows[i].end);
		assert_true(demangle(text, sizeof(text), name) < sizeof(text));
	}
	/*
	 * Each type contains the previous one twice: all of them are visited, and nothing is
	 * printed.
	 */
	at = (size_t)snprintf(name, sizeof(name), "_Z1fIiEvDpFvFvT_T_E");
	for (unsigned int i = 1; i < 36; i++) {
		char digit = (char)(i < 10 ? '0' + i : 'A' + i - 10);

		at += (size_t)snprintf(name + at, sizeof(name) - at, "FvS%c_S%c_E", digit, digit);
	}
	snprintf(name + at, sizeof(name) - at, "E");
	assert_int_equal(demangle(text, sizeof(text), name), 0);
	/* A few of them are accepted, and so is a result that becomes too long. */
	assert_true(demangle(text, sizeof(text), "_Z1fIJiEEvDpFvFvT_T_EFvS1_S1_EE") > 0);
	at = (size_t)snprintf(name, sizeof(name), "_Z1fFivEFiS_S_E");
	for (unsigned int i = 0; i < 14; i++) {
		char digit = (char)(i < 10 ? '0' + i : 'A' + i - 10);

		at += (size_t)snprintf(name + at, sizeof(name) - at, "FiS%c_S%c_E", digit, digit);
	}
	assert_int_equal(demangle(text, sizeof(text), name), sizeof(text) - 1);
	/* The same in Rust: each tuple contains the previous one twice. */
	at = (size_t)snprintf(name, sizeof(name), "_RINvC1a1b");
	for (unsigned int i = 0, before = 8; i < 50; i++) {
		unsigned int here = (unsigned int)at - 2;

		if (i == 0)
			at += (size_t)snprintf(name + at, sizeof(name) - at, "ThhE");
		else
			at += (size_t)snprintf(name + at, sizeof(name) - at, "TB%c_B%c_E",
					       base_62(before), base_62(before));
		before = here;
		if (before > 61)
			break;
	}
	snprintf(name + at, sizeof(name) - at, "E");
	assert_true(demangle(text, sizeof(text), name) > 0);
	/* Too long to be demangled. */
	memset(name, 'P', sizeof(name));
	memcpy(name, "_Z1f", 4);
	snprintf(name + DEMANGLE_NAME_MAX, 2, "i");
	assert_int_equal(demangle(text, sizeof(text), name), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_demangle_names),
		cmocka_unit_test(test_demangle_refuses_what_is_no_name),
		cmocka_unit_test(test_demangle_cuts),
		cmocka_unit_test(test_demangle_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
