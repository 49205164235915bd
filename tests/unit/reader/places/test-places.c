/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions, lines and arguments of programs that are built here, compared with nm, gdb and the
 * source.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader/places/place-arguments.h"
#include "reader/places/place-functions.h"
#include "reader/places/place-lines.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/fixtures/place-text.h"
#include "tests/support/fixtures/symbol-program.h"
#include "tests/support/unit.h"

#define SOURCE SOURCE_ROOT "/tests/support/loads/place-methods.cc"

static const char *const programs[] = { "plain", "fast", "clang", "stripped" };

static bool has_programs;

static int set_up(void **state)
{
	int r = own_directory_set_up(state);

	has_programs =
		r == 0 && try_command("g++ -g -O0 -o plain %s", SOURCE) == 0 &&
		try_command("g++ -g -O2 -o fast %s", SOURCE) == 0 &&
		try_command("clang++ -g -O2 -o clang %s", SOURCE) == 0 &&
		try_command("objcopy --only-keep-debug plain stripped.debug && "
			    "strip -o stripped plain && "
			    "objcopy --add-gnu-debuglink=stripped.debug stripped && "
			    "strip -o bare -R .gnu_debuglink plain && "
			    "cp fast fast-bare && strip fast-bare && strip -g -o symbols plain") ==
			0;
	return r;
}

static struct places *open_program(const char *name)
{
	if (!has_programs)
		skip();
	return open_places(name);
}

/* ---- functions ---- */

static const struct function_row {
	const char *pattern;
	size_t n;         /* 0 = none */
	const char *name; /* of the first function, or a similar name */
} function_rows[] = {
	{ "plain_one", 1, "plain_one" },
	{ "plain_*", 2, "plain_one" },
	{ "shop::Counter::add", 2, NULL },
	{ "shop::Counter::add(int, char const*)", 1, "shop::Counter::add(int, char const*)" },
	{ "shop::Counter::add(shop::Point, shop::Colour) const", 1,
	  "shop::Counter::add(shop::Point, shop::Colour) const" },
	{ "Counter::add", 2, NULL },
	{ "add", 2, NULL },
	{ "shop::*", 0, NULL }, /* (any number) */
	{ "shop::twice<int>", 1, "int shop::twice<int>(int)" },
	{ "twice<long>", 1, "long shop::twice<long>(long)" },
	{ "_ZN4shop7Counter3addEiPKc", 1, "shop::Counter::add(int, char const*)" },
	{ "plain_onw", 0, "plain_one" },
	{ "shop::pricee", 0, "shop::price" },
	{ "nothing_like_any_other", 0, "" },
};

static void check_functions(const char *program)
{
	struct places *p = open_program(program);
	struct place_functions f;

	for (size_t i = 0; i < ARRAY_SIZE(function_rows); i++) {
		const struct function_row *row = &function_rows[i];

		assert_int_equal(place_functions_find(p, row->pattern, &f), 0);
		if (strcmp(row->pattern, "shop::*") == 0)
			assert_true(f.n >= 6);
		else
			assert_int_equal(f.n, row->n);
		if (row->name)
			assert_string_equal(row->n ? f.list[0].name : f.nearest, row->name);
		place_functions_deinit(&f);
	}
	places_free(p);
}

static void test_functions(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		check_functions(programs[i]);
}

static void test_function_addresses(void **state)
{
	struct places *p = open_program("plain");
	struct place_functions f;
	char line[64];

	(void)state;
	read_command(line, sizeof(line), "nm plain | grep _ZN4shop5priceE | cut -d' ' -f1");
	assert_int_equal(place_functions_find(p, "shop::price", &f), 0);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.list[0].vaddr, strtoull(line, NULL, 16));
	place_functions_deinit(&f);
	assert_int_equal(place_functions_around(p, strtoull(line, NULL, 16) + 4, &f), 0);
	assert_string_equal(f.list[0].symbol + 0, "_ZN4shop5priceENS_5MixedENS_5LargeENS_4SizeEbf");
	place_functions_deinit(&f);
	assert_int_equal(place_functions_around(p, 1, &f), -ENOENT);
	places_free(p);
}

static void test_base_names(void **state)
{
	static const char *const rows[][2] = {
		{ "f", "f" },
		{ "ns::f(int)", "ns::f" },
		{ "int ns::f<int>(int (*)(char)) const", "ns::f<int>" },
		{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f" },
		{ "ns::operator()(int)", "ns::operator()" },
		{ "ns::T::operator bool() const", "ns::T::operator bool" },
		{ "core::fmt::write", "core::fmt::write" },
		{ "<T as core::Any>::type_id", "<T as core::Any>::type_id" },
		{ "<fn(i32) -> i32 as n::Trait>::f", "<fn(i32) -> i32 as n::Trait>::f" },
	};
	char base[PLACES_NAME_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		place_function_base_name(rows[i][0], base);
		assert_string_equal(base, rows[i][1]);
	}
}

/* Methods of generic types of Rust, by rustc's names in the new scheme. */
static void test_generic_methods(void **state)
{
	static const struct {
		const char *pattern;
		size_t n;
	} rows[] = {
		{ "g::shop::Boxed::plus", 2 },
		{ "shop::Boxed::plus", 2 },
		{ "Boxed::plus", 2 },
		{ "plus", 2 },
		{ "Boxed<i32>::plus", 1 },
		{ "<g::shop::Boxed<i32>>::plus", 1 },
		{ "g::shop::Boxed::with", 1 },
		{ "Boxed::with", 1 },
		{ "g::shop::Boxed::price", 1 },
		{ "Boxed::price", 1 },
		{ "Boxed<u8>::price", 1 },
		{ "g::shop::Boxed::p*", 3 },
		/* <fn(i32) -> i32 as g::Price>::price */
		{ "price", 2 },
		{ "fn(i32) -> i32::price", 1 },
		{ "Price>::price", 0 },
		{ "Boxed::other", 0 },
	};
	struct places *p;

	(void)state;
	if (!has_programs ||
	    try_command(
		    "{ i=0; for name in _RNvMNtCshhNdl82Kjmm_1g4shopINtB2_5BoxedhE4plusB4_ "
		    "_RNvMNtCshhNdl82Kjmm_1g4shopINtB2_5BoxedlE4plusB4_ "
		    "_RINvMNtCshhNdl82Kjmm_1g4shopINtB3_5BoxedlE4withlEB5_ "
		    "_RNvXs_NtCshhNdl82Kjmm_1g4shopINtB4_5BoxedhENtB4_5Price5priceB6_ "
		    "_RNvXCshhNdl82Kjmm_1gFlElNtB2_5Price5priceB2_; do i=$((i + 1)); "
		    "printf 'int f%%d(int n) __asm__(\"%%s\"); int f%%d(int n) { return n + %%d; }\n' "
		    "$i $name $i $i; done; echo 'int main(void) { return 0; }'; } >g.c && "
		    "gcc -o generic g.c") != 0)
		skip();
	p = open_program("generic");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct place_functions f;

		assert_int_equal(place_functions_find(p, rows[i].pattern, &f), 0);
		if (f.n != rows[i].n)
			fail_msg("%s: %zu functions, such as '%s'", rows[i].pattern, f.n,
				 f.n ? f.list[0].name : "");
		place_functions_deinit(&f);
	}
	places_free(p);
}

static void test_without_symbols(void **state)
{
	struct places *p = open_program("bare");
	struct place_functions f;
	struct place_line line;
	char why[PLACES_WHY_MAX], price[64];
	uint64_t vaddr;

	(void)state;
	assert_false(places_have_symbols(p));
	assert_false(places_have_debug(p));
	assert_int_equal(place_lines_find(p, "place-methods.cc", 5, &line, why, sizeof(why)),
			 -ENODATA);
	assert_non_null(strstr(why, "no debug information"));
	/* (behind the instructions that make the frame) */
	read_command(price, sizeof(price), "nm plain | grep _ZN4shop5priceE | cut -d' ' -f1");
	vaddr = strtoull(price, NULL, 16);
	assert_int_equal(place_functions_around(p, vaddr + 16, &f), 0);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.list[0].vaddr, vaddr);
	assert_true(f.list[0].bytes > 16);
	place_functions_deinit(&f);
	places_free(p);
}

/* Symbols that a stripped file has in compressed form. */
static void test_packed_symbols(void **state)
{
	struct place_functions f;
	struct places *p;

	(void)state;
	if (!has_programs || !have_command("xz"))
		skip();
	command("strip -g -o mini plain && xz -kf mini && "
		"objcopy --add-section .gnu_debugdata=mini.xz bare with-mini && "
		"head -c 200 mini.xz >cut.xz && "
		"objcopy --add-section .gnu_debugdata=cut.xz bare with-cut");
	p = open_program("with-mini");
	assert_true(places_have_symbols(p));
	assert_false(places_have_own_symbols(p));
	assert_string_equal(places_problem(p), "");
	assert_int_equal(place_functions_find(p, "shop::price", &f), 0);
	assert_int_equal(f.n, 1);
	place_functions_deinit(&f);
	places_free(p);
	p = open_program("with-cut");
	assert_false(places_have_symbols(p));
	assert_true(places_have_own_symbols(p));
	assert_non_null(strstr(places_problem(p), ".gnu_debugdata is damaged"));
	places_free(p);
}

/* Debug information in another file is not read, and that is not silent. */
static void check_split(const char *version)
{
	const char *items[] = { "args" };
	struct place_query query = { .items = items, .n_items = 1 };
	struct place_arguments a;
	struct place_functions f;
	struct place_locals l;
	struct place_line line;
	char why[PLACES_WHY_MAX];
	struct places *p;

	command("g++ %s -gsplit-dwarf -O0 -c -o split.o %s && g++ -o split split.o", version,
		SOURCE);
	p = open_program("split");
	assert_true(places_have_debug(p));
	assert_int_equal(place_functions_find(p, "shop::price", &f), 0);
	assert_int_equal(f.n, 1);
	assert_int_equal(place_arguments_at_entry(p, f.list[0].vaddr, &a), -ENODATA);
	assert_string_equal(places_split_file(p, f.list[0].vaddr), "split.dwo");
	assert_null(places_split_file(p, 1));
	query.vaddr = f.list[0].vaddr;
	assert_int_equal(place_locals_find(p, &query, &l, why, sizeof(why)), -ENODATA);
	assert_non_null(strstr(why, "in another file (split.dwo)"));
	assert_int_equal(place_lines_find(p, "place-methods.cc", 60, &line, why, sizeof(why)),
			 -ENOENT);
	assert_non_null(strstr(why, "(such as split.dwo)"));
	place_functions_deinit(&f);
	places_free(p);
}

static void test_split(void **state)
{
	struct places *p = open_program("plain");

	(void)state;
	assert_null(places_split_file(p, 0));
	places_free(p);
	check_split("-gdwarf-5");
	check_split("-gdwarf-4");
}

static void test_open_errors(void **state)
{
	char why[PLACES_WHY_MAX];
	struct places *p;

	(void)state;
	assert_int_equal(places_open(&p, "/no/such", &(struct places_options){ 0 }, why,
				     sizeof(why)),
			 -ENOENT);
	assert_string_equal(why, "/no/such: No such file or directory");
	assert_true(places_open(&p, SOURCE, &(struct places_options){ 0 }, why, sizeof(why)) < 0);
	assert_non_null(strstr(why, "place-methods.cc"));
}

/* ---- lines ---- */

/* The line of SOURCE that contains TEXT. */
static uint32_t line_of(const char *text)
{
	FILE *f = fopen(SOURCE, "re");
	uint32_t n = 0;
	char line[512];

	assert_non_null(f);
	do {
		assert_non_null(fgets(line, sizeof(line), f));
		n++;
	} while (!strstr(line, text));
	fclose(f);
	return n;
}

/* Checks that gdb stops at each of the places, and nowhere else. */
static void compare_with_gdb(const char *program, uint32_t line, const struct place_line *found)
{
	char text[256];
	uint64_t vaddr;

	read_command(
		text, sizeof(text),
		"gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'break place-methods.cc:%u' %s "
		"-ex 'info breakpoints' | grep -o '0x[0-9a-f]*.*' | grep -c ' in \\|^0x.* in '",
		line, program);
	assert_int_equal(strtoul(text, NULL, 10), found->n);
	for (size_t i = 0; i < found->n; i++) {
		read_command(text, sizeof(text),
			     "gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'break "
			     "place-methods.cc:%u' %s -ex 'info breakpoints' | grep -o "
			     "'0x[0-9a-f]* in ' | cut -d' ' -f1 | sort | sed -n %zup",
			     line, program, i + 1);
		vaddr = strtoull(text, NULL, 16);
		assert_int_equal(found->vaddrs[i], vaddr);
	}
}

static void check_line(const char *program, const char *text, size_t n)
{
	struct places *p = open_program(program);
	struct dwarf_frame frames[8];
	struct place_line found;
	char why[PLACES_WHY_MAX];
	uint32_t line = line_of(text);

	if (place_lines_find(p, "place-methods.cc", line, &found, why, sizeof(why)) != 0)
		fail_msg("%s", why);
	assert_int_equal(found.n, n);
	assert_string_equal(found.file, SOURCE);
	for (size_t i = 0; i < n; i++) {
		assert_true(place_lines_at(p, found.vaddrs[i], frames, ARRAY_SIZE(frames)) > 0);
		/* (in optimised code, an address can belong to several lines) */
		if (strcmp(program, "fast") != 0)
			assert_int_equal(frames[0].line, line);
	}
	if (strcmp(program, "stripped") != 0)
		compare_with_gdb(program, line, &found);
	places_free(p);
}

static void test_lines(void **state)
{
	(void)state;
	if (!have_command("gdb"))
		skip();
	check_line("plain", "line of the sum", 1);
	check_line("stripped", "line of the sum", 1);
	check_line("fast", "line of the sum", 1);
	check_line("plain", "line that is inlined", 2);
	check_line("fast", "line that is inlined", 2);
}

static void test_lines_errors(void **state)
{
	struct places *p = open_program("plain");
	struct place_line found;
	char why[PLACES_WHY_MAX];

	(void)state;
	assert_int_equal(place_lines_find(p, "place-methods.cc", 1, &found, why, sizeof(why)),
			 -ENOENT);
	assert_non_null(
		strstr(why, "line 1 of place-methods.cc has no code; the nearest line is "));
	assert_int_equal(place_lines_find(p, "methods.cc", 1, &found, why, sizeof(why)), -ENOENT);
	assert_int_equal(place_lines_find(p, "place-method.cc", 1, &found, why, sizeof(why)),
			 -ENOENT);
	assert_non_null(strstr(why, "did you mean 'place-methods.cc'?"));
	places_free(p);
}

/* ---- arguments ---- */

static void write_arguments(const char *program, const char *function, char *text, size_t size)
{
	struct places *p = open_program(program);
	struct place_arguments a;
	struct place_functions f;

	*text = '\0';
	assert_int_equal(place_functions_find(p, function, &f), 0);
	assert_int_equal(f.n, 1);
	assert_int_equal(place_arguments_at_entry(p, f.list[0].vaddr, &a), 0);
	for (size_t i = 0; i < a.n; i++) {
		snprintf(text + strlen(text), size - strlen(text), "%s", i ? ", " : "");
		write_argument(text, size, &a.list[i]);
	}
	if (a.result.kind) {
		snprintf(text + strlen(text), size - strlen(text), " -> ");
		write_argument(text, size, &a.result);
	}
	place_arguments_deinit(&a);
	place_functions_deinit(&f);
	places_free(p);
}

static void check_arguments(const char *program, const char *function, const char *expected)
{
	char text[2048];

	write_arguments(program, function, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void test_arguments(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		const char *program = programs[i];

		check_arguments(program, "plain_one", "n i4 r5+0, c h1 r4+0, where p8 r1+0 -> i4");
		check_arguments(program, "shop::Counter::add(int, char const*)",
				"this p8 r5+0, by i4 r4+0, why S8 r1+0 -> i4");
		check_arguments(program, "shop::Counter::add(shop::Point, shop::Colour) const",
				"this p8 r5+0, by.x i4 r4+0, by.y i4 r4+32, "
				"colour e4{RED=0,GREEN=1,BLUE=7,} r1+0 -> i4");
		check_arguments(program, "shop::price",
				"m.id i8 r5+0, m.price f8 ?, l.id i8 [r7+8], l.from i8 [r7+16], "
				"l.to i8 [r7+24], size e1{SMALL=1,LARGE=2,} r4+0, yes b1 r1+0, "
				"rate f4 ? -> i8");
		check_arguments(program, "plain_two",
				"a i4 r5+0, b i4 r4+0, c i4 r1+0, d i4 r2+0, e i4 r8+0, "
				"f i4 r9+0, g i4 [r7+8], last S8 [r7+16] -> i4");
	}
}

/*
 * An argument that the compiler has removed is not guessed: its register contains the next one.
 * (Some versions remove nothing.)
 */
static void test_rust(void **state)
{
	char text[2048];

	(void)state;
	if (!has_programs || try_command("rustc -g -O -o rust %s/tests/support/loads/place-shop.rs",
					 SOURCE_ROOT) != 0)
		skip();
	write_arguments("rust", "place_shop::shop::Counter::add", text, sizeof(text));
	assert_memory_equal(text, "self p8 r5+0, by i8 r4+0, often u4 ", 35);
	/* (if the compiler says that the structure is at an address, the next one is known) */
	write_arguments("rust", "unmangled", text, sizeof(text));
	if (!strchr(text, '?'))
		assert_string_equal(text, "big.a u8 [r5+0], big.b u8 [r5+8], big.c u8 [r5+16], "
					  "n i4 r4+0 -> i4");
	write_arguments("rust", "shop::label", text, sizeof(text));
	if (strcmp(text, "text.data_ptr p8 r5+0, text.length u8 r4+0, n u8 r1+0 -> u8") != 0)
		assert_non_null(strstr(text, "text.data_ptr p8 ?, "));
	/* "<place_shop::shop::Counter>::add" */
	if (try_command("rustc -g -O -C symbol-mangling-version=v0 -o rust %s/tests/support/loads/"
			"place-shop.rs",
			SOURCE_ROOT) != 0)
		return;
	write_arguments("rust", "place_shop::shop::Counter::add", text, sizeof(text));
	assert_memory_equal(text, "self p8 r5+0, by i8 r4+0, often u4 ", 35);
	write_arguments("rust", "Counter::add", text, sizeof(text));
	assert_memory_equal(text, "self p8 r5+0, by i8 r4+0, often u4 ", 35);
}

/*
 * clang describes a class only in the unit with its constructor. In other units, the places of its
 * values, and of what is behind them, are unknown.
 */
static void test_declared(void **state)
{
	(void)state;
	if (!has_programs ||
	    try_command("printf 'struct Declared { long a, b; Declared(long n); };\n"
			"struct Part { Declared d; };\nstruct Parts { Declared d[1]; };\n"
			"int plain(Declared d, int n) { (void)d; return n; }\n"
			"int part(int m, Part p, int n) { (void)p; return m + n; }\n"
			"int parts(Parts p, int n) { (void)p; return n; }\n"
			"Declared result(int n) { return Declared(n); }\n"
			"int pointer(Declared *d, int n) { return d ? n : 0; }\n"
			"int main() { return 0; }\n' >declared.cc && "
			"printf 'struct Declared { long a, b; Declared(long n); };\n"
			"Declared::Declared(long n) : a(n), b(n) {}\n' >constructor.cc && "
			"clang++ -g -O0 -o declared declared.cc constructor.cc") != 0)
		skip();
	check_arguments("declared", "plain", "n i4 ? -> i4");
	check_arguments("declared", "part", "m i4 r5+0, n i4 ? -> i4");
	check_arguments("declared", "parts", "p.d a0 ?, n i4 ? -> i4");
	check_arguments("declared", "result", "n i4 ? -> u8");
	check_arguments("declared", "pointer", "d p8 r5+0, n i4 r4+0 -> i4");
}

/* A bit field of 2^64 - 1 bits, which no compiler writes, is no number. */
static void test_wide_bits(void **state)
{
	(void)state;
	if (!has_programs ||
	    try_command("printf 'struct bits { unsigned a : 3, b : 5, c; };\n"
			"int wide(struct bits s) { return s.c; }\nint main(void) { return 0; }\n' "
			">bits.c && cc -g -O0 -dA -S -o - bits.c | "
			"sed -e '/DW_AT_bit_size)/{n;s/0xb/0xd/}' "
			"-e '/DW_AT_bit_size$/s/\\.byte.*/.byte 0x7f/' >bits.s && "
			"cc -o bits bits.s") != 0)
		skip();
	check_arguments("bits", "wide", "s.a x4 ?, s.b x4 ?, s.c u4 [r7+12] -> i4");
}

/*
 * Without AVX, a result that is larger than the vector registers is in memory, and its address is
 * the first argument. Only the compiler's locations tell. LLVM uses two registers for a vector.
 */
static void test_wide_results(void **state)
{
	static const char *const compilers[] = { "gcc", "clang" };
	static const char *const unknown = "a i4 ?, b i4 ? -> u8";

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(compilers); i++) {
		bool is_gcc = i == 0;

		if (!has_programs ||
		    try_command(
			    "printf 'typedef int large __attribute__((vector_size(32)));\n"
			    "struct box { large l; };\n"
			    "__attribute__((noinline)) large vector(int a, int b)\n"
			    "{ return (large){ a, b }; }\n"
			    "__attribute__((noinline)) struct box box(int a, int b)\n"
			    "{ return (struct box){ { a, b } }; }\n"
			    "int main(void) { return vector(1, 2)[1] + box(1, 2).l[1]; }\n' >wide.c && "
			    "%s -w -g -O0 -o wide-O0 wide.c && %s -w -g -O2 -o wide-O2 wide.c",
			    compilers[i], compilers[i]) != 0)
			skip();
		check_arguments("wide-O0", "vector",
				is_gcc ? unknown : "a i4 r5+0, b i4 r4+0 -> u8");
		check_arguments("wide-O0", "box", unknown);
		check_arguments("wide-O2", "vector",
				is_gcc ? "a i4 r4+0, b i4 r1+0 -> u8"
				       : "a i4 r5+0, b i4 r4+0 -> u8");
		check_arguments("wide-O2", "box", "a i4 r4+0, b i4 r1+0 -> u8");
	}
}

/* Only gcc is known to put both halves of a number of 128 bits on the stack. */
static void test_producers(void **state)
{
	static const char *const rows[][2] = {
		{ "GNU D 12.2.0 -g", "f.low u8 [r7+8], f.high i8 [r7+16], g i4 r9+0 -> i4" },
		{ "zig 0.13.0", "f.low u8 ?, f.high i8 ?, g i4 ? -> i4" },
		{ "flang version 14.0.6", "f.low u8 ?, f.high i8 ?, g i4 ? -> i4" },
		{ "LDC 1.30.0 (LLVM v14.0.6)", "f.low u8 ?, f.high i8 ?, g i4 ? -> i4" },
		{ "", "f.low u8 ?, f.high i8 ?, g i4 ? -> i4" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char expected[256];

		if (!has_programs ||
		    try_command(
			    "printf 'int halves(int a, int b, int c, int d, int e, __int128 f, "
			    "int g) { return g; }\nint main(void) { return 0; }\n' >halves.c && "
			    "gcc -g -O0 -S -o - halves.c | "
			    "sed 's/\"GNU C[^\"]*\"/\"%s\"/' >halves.s && gcc -o halves halves.s",
			    rows[i][0]) != 0)
			skip();
		snprintf(expected, sizeof(expected),
			 "a i4 r5+0, b i4 r4+0, c i4 r1+0, d i4 r2+0, e i4 r8+0, %s", rows[i][1]);
		check_arguments("halves", "halves", expected);
	}
}

/*
 * A clone without an argument has those behind it in other registers, also if they are passed by
 * their addresses. (gcc describes the missing argument last. Here, it is described first.)
 */
static void test_fortran_clones(void **state)
{
	(void)state;
	if (!has_programs ||
	    try_command(
		    "printf 'module m\ncontains\ninteger function both(a, x, b)\n"
		    "integer, intent(in) :: a, b\nreal, intent(in) :: x\n"
		    "both = a + int(x) + b\nend function\nend module\n"
		    "program main\nuse m\ninteger :: i\ndo i = 1, 3\n"
		    "print *, both(7, real(i), i)\nend do\nend program\n' >both.f90 && "
		    "gfortran -g -O2 -fno-inline -fno-ipa-sra -fipa-cp-clone -S -dA "
		    "-o - both.f90 | awk '{ line[NR] = $0 } END { for (i = 1; i <= NR; i++) {\n"
		    "if (line[i] ~ /TAG_subprogram/) first = 0\n"
		    "if (line[i] ~ /TAG_formal_parameter/ && !first) first = i\n"
		    "if (line[i] ~ /TAG_formal_parameter/ && line[i + 2] ~ /end of children/ &&\n"
		    "line[i + 1] ~ /abstract_origin/) { moved[first] = i; gone[i] = gone[i + 1] = 1 }\n"
		    "} for (i = 1; i <= NR; i++) { if (i in moved) print line[moved[i]] \"\\n\" "
		    "line[moved[i] + 1]\nif (!(i in gone)) print line[i] } }' >both.s && "
		    "gfortran -o both both.s && nm both | grep -F both.constprop.0") != 0)
		skip();
	check_arguments("both", "__m_MOD_both.constprop.0",
			"a i4 ?, x f4 [r5+0], b i4 [r4+0] -> i4");
}

/* (the members of what is before depend on the version) */
static void check_tail(const char *program, const char *function, const char *expected)
{
	char text[2048];
	size_t n;

	write_arguments(program, function, text, sizeof(text));
	n = strlen(text);
	assert_true(n >= strlen(expected));
	assert_string_equal(text + n - strlen(expected), expected);
}

/* Without optimisation, the debug information does not tell the registers. They are not guessed
 * behind an argument or result that Rust can pass in several ways. */
static void test_rust_unoptimised(void **state)
{
	(void)state;
	if (!has_programs ||
	    try_command("rustc -g -o plain-rust %s/tests/support/loads/place-shop.rs",
			SOURCE_ROOT) != 0)
		skip();
	check_arguments("plain-rust", "place_shop::shop::label",
			"text.data_ptr p8 r5+0, text.length u8 r4+0, n u8 r1+0 -> u8");
	check_arguments("plain-rust", "place_shop::pass::numbers",
			"n i4 r5+0, pair.data_ptr p8 r4+0, pair.length u8 r1+0, what.__0 u4 ?, "
			"what.__1 u4 ?, what.__2 u4 ?, a i4 ? -> i4");
	check_arguments("plain-rust", "place_shop::pass::option", "n i4 r5+0, a i4 ? -> i4");
	check_tail("plain-rust", "place_shop::pass::string", ", a i4 ? -> i4");
	check_arguments("plain-rust", "place_shop::pass::array", "n i4 ? -> u8");
	check_arguments("plain-rust", "place_shop::pass::text", "n i4 r4+0 -> M8");
}

/*
 * A function of Rust can have the convention of C, and its name does not tell. Values that the
 * conventions pass in different places are not guessed.
 */
static void test_rust_conventions(void **state)
{
	(void)state;
	if (!has_programs ||
	    try_command("rustc -g -o conventions %s/tests/support/loads/place-shop.rs",
			SOURCE_ROOT) != 0)
		skip();
	/* (c.data_ptr is in r9 and c.length on the stack; in C, both would be on the stack) */
	check_arguments("conventions", "place_shop::convention::Own::texts",
			"self p8 r5+0, a.data_ptr p8 r4+0, a.length u8 r1+0, b.data_ptr p8 r2+0, "
			"b.length u8 r8+0, c.data_ptr p8 ?, c.length u8 ?, n i4 ? -> i4");
	check_arguments("conventions", "place_shop::convention::Own::full",
			"self p8 r5+0, a.data_ptr p8 r4+0, a.length u8 r1+0, b.data_ptr p8 r2+0, "
			"b.length u8 r8+0, n i4 r9+0, c.data_ptr p8 [r7+8], c.length u8 [r7+16], "
			"m i4 [r7+24] -> i4");
	check_arguments("conventions", "place_shop::convention::callback",
			"big.a u8 ?, big.b u8 ?, big.c u8 ?, n i4 ? -> i4");
	check_arguments("conventions", "unmangled",
			"big.a u8 ?, big.b u8 ?, big.c u8 ?, n i4 ? -> i4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_base_names),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_function_addresses),
		cmocka_unit_test(test_generic_methods),
		cmocka_unit_test(test_without_symbols),
		cmocka_unit_test(test_packed_symbols),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_open_errors),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_lines_errors),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_rust),
		cmocka_unit_test(test_declared),
		cmocka_unit_test(test_wide_bits),
		cmocka_unit_test(test_wide_results),
		cmocka_unit_test(test_producers),
		cmocka_unit_test(test_fortran_clones),
		cmocka_unit_test(test_rust_unoptimised),
		cmocka_unit_test(test_rust_conventions),
	};

	return cmocka_run_group_tests(tests, set_up, own_directory_tear_down);
}
