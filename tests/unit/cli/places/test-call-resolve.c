/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Specifications of the user, and the resulting ones for the recorder.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture/options/call-spec.h"
#include "cli/places/call-resolve.h"
#include "cli/places/call-text.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/fixtures/symbol-program.h"
#include "tests/support/unit.h"

#define SOURCE  SOURCE_ROOT "/tests/support/loads/place-methods.cc"
#define NAMES   SOURCE_ROOT "/tests/support/loads/place-names.cc"
#define PASSING SOURCE_ROOT "/tests/support/loads/place-passing.cc"

static bool has_programs, has_clang;

static const struct capture_filter no_filter;

static int set_up(void **state)
{
	int r = own_directory_set_up(state);

	has_programs = r == 0 && try_command("g++ -g -O2 -o whole %s && strip -o bare whole && "
					     "strip -g -o symbols whole && "
					     "g++ -g -O2 -fipa-cp-clone -o names %s && "
					     "strip -g -o bare-names names && "
					     "g++ -g -O0 -o passing %s",
					     SOURCE, NAMES, PASSING) == 0;
	has_clang = has_programs &&
		    try_command("for o in -O0 -O2 '-O0 -fomit-frame-pointer'; do "
				"clang++ -g $o -o \"passing-clang${o##* }\" %s || exit 1; done",
				PASSING) == 0;
	return r;
}

static void need_programs(void)
{
	if (!has_programs || sizeof(void *) != 8)
		skip();
}

/*
 * Resolves TEXT, with the path of PROGRAM before it, and expects N specifications. FIRST is the
 * first of them without its path.
 */
static void check(const char *program, const char *text, size_t n, const char *first)
{
	struct call_resolved resolved;
	char whole[1024], why[PLACES_WHY_MAX];
	struct call_spec_error error;
	struct call_spec spec;
	const char *label;

	snprintf(whole, sizeof(whole), "%s:%s", directory_path(program), text);
	if (call_resolve(whole, &no_filter, &resolved, why) != 0)
		fail_msg("%s: %s", text, why);
	assert_int_equal(resolved.n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(call_spec_parse(resolved.list[i].spec, &spec, &error), 0);
	label = strstr(resolved.list[0].spec, "='");
	assert_string_equal(
		label ? label + 1 : resolved.list[0].spec + strlen(whole) - strlen(text), first);
	call_resolved_deinit(&resolved);
}

static void test_resolved(void **state)
{
	static const struct {
		const char *program, *text;
		size_t n;
		const char *first;
	} rows[] = {
		{ "whole", "plain_one", 1, "'plain_one'(int32 n, uint8 c, ptr where) -> int32" },
		{ "whole", "plain_one if $n > 3", 1,
		  "'plain_one'(int32 n, uint8 c, ptr where) -> int32 if $n > 3" },
		{ "whole", "plain_one(int a) -> int", 1, "plain_one(int a) -> int" },
		{ "whole", "'shop::Counter::add(int, char const*)'", 1,
		  "'shop::Counter::add'(ptr this, int32 by, str why) -> int32" },
		{ "whole", "'add(int, char const*)'(ptr me) if $me != 0", 1,
		  "'shop::Counter::add'(ptr me) if $me != 0" },
		{ "whole", "shop::Counter::add", 2,
		  "'shop::Counter::add(int, char const*)'(ptr this, int32 by, str why) -> int32" },
		{ "whole", "shop::price", 1,
		  "'shop::price'(int64 m.id, double m.price@?vector, int64 l.id@[r7+8], "
		  "int64 l.from@[r7+16], int64 l.to@[r7+24], "
		  "enum8{SMALL=1,LARGE=2,} size@r4, bool yes@r1, float rate@?vector) -> int64" },
		{ "whole", "twice<int>", 1, "'shop::twice<int>'(int32 value) -> int32" },
		{ "whole", "twice<int>(int n) if $n > 3", 1,
		  "'shop::twice<int>'(int n) if $n > 3" },
		{ "whole", "shop::twice*", 2, "'shop::twice<int>'(int32 value) -> int32" },
		{ "symbols", "shop::price", 1, "'shop::price'()" },
		{ "symbols", "plain_*", 1, "plain_*" },
		{ "symbols", "plain_one", 1, "plain_one" },
		{ "symbols", "Counter::add", 2, "'shop::Counter::add(int, char const*)'()" },
		{ "bare", "plain_one", 1, "plain_one" },
		{ "bare", "+16+16='f'()", 1, "'f'()" },
		{ "whole", "shop::twice", 2, "'shop::twice<int>'(int32 value) -> int32" },
		{ "names", "twice", 1, "'twice<int>'(int32 value) -> int32" },
		{ "names", "tagged", 1, "'tagged[abi:v2]'(int32 n) -> int32" },
		{ "names", "generic", 1, "'a::generic::<i32>'(int32 n) -> int32" },
		{ "names", "a::generic", 1, "'a::generic::<i32>'(int32 n) -> int32" },
		{ "names", "pass_ended", 1,
		  "'pass_ended'(int32 what.v@[r5], int64 what.w@[r5+8], int32 n@r4) -> int32" },
		{ "names", "pass_copied", 1, "'pass_copied'(int32 what.v@[r5], int32 n) -> int32" },
		{ "names", "pass_moved", 1, "'pass_moved'(int32 what.v@[r5], int32 n) -> int32" },
		{ "names", "pass_outer", 1,
		  "'pass_outer'(int64 what.before@[r5], uint64 what.inner@?whole, "
		  "int32 what.behind@[r5+24], int32 n@r4) -> int32" },
		{ "names", "pass_derived", 1,
		  "'pass_derived'(int32 what.v@[r5], int32 what.u@[r5+4], int32 n@r4) -> int32" },
		{ "names", "pass_virtual", 1,
		  "'pass_virtual'(ptr what._vptr.Virtual@[r5], int32 what.v@[r5+8], "
		  "int32 n@r4) -> int32" },
		{ "names", "pass_plain", 1,
		  "'pass_plain'(int32 what.v, int64 what.w, int32 n) -> int32" },
		{ "names", "pass_box", 1, "'pass_box'(int32 what.v, int32 n) -> int32" },
		{ "names", "pass_bits", 1,
		  "'pass_bits'(int32 what.x, uint32 what.f@r5>>32:4, int32 what.s@r5>>36:5, "
		  "int64 what.y@r4>>0:40, int32 n@r1) -> int32" },
		{ "names", "pass_many_bits", 1,
		  "'pass_many_bits'(int32 what.b.x@[r7+8], uint32 what.b.f@[r7+12]>>0:4, "
		  "int32 what.b.s@[r7+12]>>4:5, int64 what.b.y@[r7+16]>>0:40, "
		  "int64 what.last@[r7+24], int32 n@r5) -> int32" },
		{ "names", "wide_sum", 1,
		  "'wide_sum'(uint64 a.low, uint64 a.high, uint64 b.low, uint64 b.high) "
		  "-> uint128" },
		{ "names", "wide", 1,
		  "'wide'(int32 k, uint64 n.low, int64 n.high, bool yes) -> int128" },
		{ "names", "wide_late", 1,
		  "'wide_late'(int64 a, int64 b, int64 c, int64 d, int64 e, uint64 n.low@[r7+8], "
		  "int64 n.high@[r7+16], int64 f@r9) -> int32" },
		{ "names", "wide*", 3,
		  "'wide'(int32 k, uint64 n.low, int64 n.high, bool yes) -> int128" },
		{ "names", "part_of_clone", 1,
		  "'part_of_clone'(uint64 what.a.low@?complex, uint64 what.a.high@?complex, "
		  "int64 what.m@[r7+24], int32 n@=7) -> int32" },
		{ "bare-names", "generic", 1, "'a::generic::<i32>'()" },
		{ "bare-names", "cloned", 1, "'cloned.constprop.0'()" },
		{ "bare-names", "cloned.constprop.0(int n)", 1, "cloned.constprop.0(int n)" },
	};

	(void)state;
	need_programs();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check(rows[i].program, rows[i].text, rows[i].n, rows[i].first);
}

/* The registers of arguments and results of all types, without optimisation: the debug information
 * does not tell them. */
static void test_passing(void **state)
{
#define IN_FIRST "int32 n, int32 a, int32 b, int32 c, int32 d, int32 e) -> int32"
#define FROM_RDI "int32 n@r5, int32 a@r4, int32 b@r1, int32 c@r2, int32 d@r8, int32 e@r9) -> int32"
#define FROM_RSI "int32 n, int32 a, int32 b, int32 c, int32 d, int32 e@[r7+8]) -> int32"
#define FROM_RDX                                                                                   \
	"int32 n@r1, int32 a@r2, int32 b@r8, int32 c@r9, int32 d@[r7+8], int32 e@[r7+16]) -> int32"
	static const struct {
		const char *function, *spec;
	} rows[] = {
		{ "pass_empty", "(" IN_FIRST },
		{ "pass_doubles", "(uint64 what.v@?whole, " FROM_RDI },
		{ "pass_floats_first", "(uint64 what.v@?whole, int32 what.i@r5, int32 n@r4, "
				       "int32 a@r1, int32 b@r2, int32 c@r8, int32 d@r9, "
				       "int32 e@[r7+8]) -> int32" },
		{ "pass_aligned", "(int32 what.x, " FROM_RSI },
		{ "pass_union_floats", "(uint64 what@?whole, " FROM_RDI },
		{ "pass_union_mixed", "(uint64 what@?whole, " FROM_RSI },
		{ "pass_union_large", "(uint64 what@?whole, " FROM_RDI },
		{ "pass_long_double_in", "(double what.x@?whole, " FROM_RDI },
		{ "pass_packed", "(int8 what.c@[r7+8], int64 what.i@[r7+9], " FROM_RDI },
		{ "pass_wide_bits",
		  "(int64 what.a@[r7+8]>>0:40, uint64 what.b@?whole, uint64 what.c@?whole, "
		  "int32 n@r5, int32 a@r4, int32 b@r1, int32 c@r2, int32 d@r8) -> int32" },
		{ "pass_vector", "(uint64 what@?whole, " FROM_RDI },
		{ "pass_complex", "(uint64 what@?whole, " FROM_RDI },
		{ "pass_complex_float", "(uint64 what@?whole, " FROM_RDI },
		{ "pass_complex_long", "(uint64 what@?whole, " FROM_RDI },
		{ "pass_float128", "(double what@?whole, " FROM_RDI },
		{ "pass_long_double", "(double what@?whole, " FROM_RDI },
		{ "pass_null", "(uint64 what@?whole, " FROM_RSI },
		{ "pass_member_function", "(uint64 what@?whole, " FROM_RDX },
		{ "pass_member", "(uint64 what@?whole, " FROM_RSI },
		{ "pass_on_stack", "(uint64 unnamed@?whole, double what.x@?whole, "
				   "int32 what.y@[r7+56], int32 n@r5) -> int32" },
		{ "return_single", "(int32 n) -> int32" },
		{ "return_pair", "(int32 n) -> struct{int32 a@0, int32 b@4}" },
		{ "return_double", "(int32 n) -> double@?vector" },
		{ "return_floats", "(int32 n) -> uint64@?vector" },
		{ "return_mixed", "(int32 n) -> uint64" },
		{ "return_large", "(int32 n@r4) -> ptr" },
		{ "return_long_double", "(int32 n) -> uint64@?wide" },
		{ "return_long_double_first", "(int32 n@r4) -> ptr{double x@?whole, int32 y@16}" },
		{ "return_packed", "(int32 n@r4) -> ptr{int8 c@0, int64 i@1}" },
		{ "return_ended", "(int32 n@r4) -> ptr{int64 x@0}" },
		{ "return_empty", "(int32 n)" },
		{ "return_deep", "(int32 n) -> uint64@?whole" },
		{ "return_vector", "(int32 n) -> uint64@?wide" },
		{ "return_complex_long", "(int32 n) -> uint64@?wide" },
		{ "return_wide", "(int32 n) -> int128" },
		{ "return_member", "(int32 n) -> uint64@?whole" },
	};
	static const char *const late_programs[] = { "passing", "passing-clang-O0",
						     "passing-clang-O2",
						     "passing-clang-fomit-frame-pointer" };

	(void)state;
	need_programs();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char expected[512];

		snprintf(expected, sizeof(expected), "'%s'%s", rows[i].function, rows[i].spec);
		check("passing", rows[i].function, 1, expected);
		if (has_clang)
			check("passing-clang-O0", rows[i].function, 1, expected);
	}
	for (size_t i = 0; i < ARRAY_SIZE(late_programs); i++)
		if (i == 0 || has_clang)
			check(late_programs[i], "pass_late", 1,
			      "'pass_late'(int32 n, int32 a, int32 b, int32 c, int32 d, int32 e, "
			      "int32 g@[r7+8], int32 h@[r7+16]) -> int32");
}

/* A program that uses a function of a library, and a library that no longer has it. */
static void test_of_libraries(void **state)
{
	struct call_resolved resolved;
	char whole[1024], why[PLACES_WHY_MAX];

	(void)state;
	need_programs();
	snprintf(whole, sizeof(whole), "%s:printf", directory_path("whole"));
	assert_int_equal(call_resolve(whole, &no_filter, &resolved, why), -ENOENT);
	assert_non_null(strstr(why, "has no function 'printf', but libc.so.6 has one: "
				    "'libc.so.6:printf'"));
}

/*
 * The library that has the function is the first one that the program needs, or that its libraries
 * need. The program names their directory by its own.
 */
static void test_of_needed_libraries(void **state)
{
	static const struct {
		const char *function, *library;
	} rows[] = { { "in_inner", "libinner.so" }, { "in_both", "libouter.so" } };
	struct call_resolved resolved;
	char whole[1024], why[PLACES_WHY_MAX], expected[256];

	(void)state;
	need_programs();
	if (try_command(
		    "echo 'int in_inner(void) { return 1; } int in_both(void) { return 2; }' >i.c && "
		    "echo 'int in_inner(void); int in_both(void) { return in_inner(); }' >o.c && "
		    "echo 'int in_both(void); int main(void) { return in_both(); }' >m.c && "
		    "gcc -shared -fPIC -o libinner.so i.c && "
		    "gcc -shared -fPIC -o libouter.so o.c -L. -linner -Wl,-rpath,'$ORIGIN' && "
		    "gcc -o importer m.c -L. -louter -Wl,-rpath,'$ORIGIN',-rpath-link,.") != 0)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(whole, sizeof(whole), "%s:%s", directory_path("importer"),
			 rows[i].function);
		assert_int_equal(call_resolve(whole, &no_filter, &resolved, why), -ENOENT);
		snprintf(expected, sizeof(expected), "/%s has one: '", rows[i].library);
		if (!strstr(why, expected))
			fail_msg("%s: %s", rows[i].function, why);
	}
}

/* A pattern leaves out the names that are chosen at run time, and says which. */
static void test_left_out(void **state)
{
	struct call_resolved resolved;
	char whole[1024], why[PLACES_WHY_MAX];

	(void)state;
	need_programs();
	if (try_command("printf 'int one_of(int a); int one_plain(int a);\n"
			"int one_plain(int a) { return a; }\n"
			"static int (*choose(void))(int) { return one_plain; }\n"
			"int one_of(int a) __attribute__((ifunc(\"choose\")));\n"
			"int main(void) { return one_of(1); }\n' >c.c && gcc -o chooser c.c") != 0)
		skip();
	snprintf(whole, sizeof(whole), "%s:one_*", directory_path("chooser"));
	assert_int_equal(call_resolve(whole, &no_filter, &resolved, why), 0);
	assert_int_equal(resolved.n, 1);
	assert_non_null(resolved.left_out);
	assert_non_null(strstr(resolved.left_out, "'one_*' does not match 'one_of': each means"));
	call_resolved_deinit(&resolved);
	snprintf(whole, sizeof(whole), "%s:one_pl*", directory_path("chooser"));
	assert_int_equal(call_resolve(whole, &no_filter, &resolved, why), 0);
	assert_null(resolved.left_out);
	call_resolved_deinit(&resolved);
}

/* Without types, one specification means all functions of an IFUNC. A name that only the command
 * knows needs one for each. They have the recorder's names if they have no symbols. */
static void test_stripped_indirect(void **state)
{
	struct call_resolved resolved;
	char whole[1024], why[PLACES_WHY_MAX];

	(void)state;
	need_programs();
	if (try_command("printf 'extern \"C\" {\n"
			"__attribute__((noinline)) static int one(int a) { return a; }\n"
			"__attribute__((noinline)) static int two(int a) { return a + 1; }\n"
			"__attribute__((visibility(\"hidden\"))) volatile int which;\n"
			"__attribute__((visibility(\"hidden\"))) int (*choose(void))(int)\n"
			"{ return which ? one : two; }\n"
			"int one_of(int a) __attribute__((ifunc(\"choose\"))); }\n"
			"namespace n { int of(int a) __attribute__((ifunc(\"choose\"))); }\n' "
			">l.cc && g++ -O1 -shared -fPIC -fasynchronous-unwind-tables -s "
			"-o choosing.so l.cc") != 0)
		skip();
	check("choosing.so", "one_of", 1, "one_of");
	snprintf(whole, sizeof(whole), "%s:one_of", directory_path("choosing.so"));
	assert_int_equal(call_resolve(whole, &no_filter, &resolved, why), 0);
	assert_non_null(resolved.untyped);
	assert_non_null(strstr(resolved.untyped, "'one_of' is recorded without arguments and "
						 "result: there is no debug information"));
	call_resolved_deinit(&resolved);
	snprintf(whole, sizeof(whole), "%s:n::of", directory_path("choosing.so"));
	assert_int_equal(call_resolve(whole, &no_filter, &resolved, why), 0);
	assert_int_equal(resolved.n, 2);
	for (size_t i = 0; i < resolved.n; i++)
		assert_non_null(strstr(resolved.list[i].spec, "='_ZN1n2ofEi@0x"));
	assert_non_null(strstr(resolved.untyped, "'_ZN1n2ofEi@0x"));
	call_resolved_deinit(&resolved);
}

/*
 * The versions that a compiler makes of a function, and the function that chooses one: it has no
 * name in the source.
 */
static void test_versions(void **state)
{
	struct call_resolved resolved;
	char whole[1024], why[PLACES_WHY_MAX];

	(void)state;
	need_programs();
	if (try_command(
		    "printf 'namespace n {\n"
		    "__attribute__((target_clones(\"avx2\", \"default\"), noinline))\n"
		    "int cloned(int a) { return a * 3; }\n"
		    "int plain(int a) { return a + cloned(a); } }\n"
		    "static int one(int a) { return a; } static int two(int a) { return -a; }\n"
		    "namespace n { volatile int which; int (*choose())(int)\n"
		    "{ return which ? one : two; }\n"
		    "int chosen(int a) __attribute__((ifunc(\"_ZN1n6chooseEv\"))); }\n' >v.cc && "
		    "g++ -g -O1 -shared -fPIC -o versions.so v.cc && "
		    "strip -g -o bare-versions.so versions.so && "
		    "strip -o few-versions.so versions.so") != 0)
		skip();
	check("versions.so", "n::cloned", 2, "'n::cloned(int) [clone .default]'(int32 a) -> int32");
	check("versions.so", "n::choose", 1, "'n::choose'() -> ptr");
	check("bare-versions.so", "n::choose", 1, "'n::choose'()");
	check("versions.so", "'_ZN1n6clonedEi.resolver'", 1,
	      "'n::cloned(int) [clone .resolver]'()");
	/* (only the versions, which have no symbols) */
	snprintf(whole, sizeof(whole), "%s:n::cloned", directory_path("few-versions.so"));
	assert_int_equal(call_resolve(whole, &no_filter, &resolved, why), 0);
	assert_int_equal(resolved.n, 2);
	for (size_t i = 0; i < resolved.n; i++)
		assert_non_null(strstr(resolved.list[i].spec, "='_ZN1n6clonedEi@0x"));
	call_resolved_deinit(&resolved);
	snprintf(whole, sizeof(whole), "%s:n::*", directory_path("versions.so"));
	assert_int_equal(call_resolve(whole, &no_filter, &resolved, why), 0);
	assert_non_null(resolved.left_out);
	/* (in the order of the symbols) */
	if (!strstr(resolved.left_out, "'n::cloned'") ||
	    !strstr(resolved.left_out, "'n::choose'") ||
	    !strstr(resolved.left_out, "'n::chosen'") || strstr(resolved.left_out, "resolver"))
		fail_msg("%s", resolved.left_out);
	call_resolved_deinit(&resolved);
}

/* Debug information of assembly has no types. */
static void test_assembly(void **state)
{
	struct call_resolved resolved;
	char whole[1024], why[PLACES_WHY_MAX];

	(void)state;
	need_programs();
	if (!have_command("gcc"))
		skip();
	command("printf '.text\\n.globl by_hand\\n.type by_hand, @function\\nby_hand:\\n"
		"nop\\nnop\\nret\\n.size by_hand, .-by_hand\\n' >h.s && "
		"gcc -g -shared -nostdlib -o by-hand.so h.s");
	snprintf(whole, sizeof(whole), "%s:by_hand", directory_path("by-hand.so"));
	assert_int_equal(call_resolve(whole, &no_filter, &resolved, why), 0);
	assert_non_null(resolved.untyped);
	assert_non_null(strstr(resolved.untyped, "their types are not in the debug information"));
	call_resolved_deinit(&resolved);
}

/* A problem of the debug information is not the reason for an unknown name, which the recorder
 * has. A problem of the symbols can be. */
static void test_problems(void **state)
{
	struct call_resolved resolved;
	char whole[1024], why[PLACES_WHY_MAX];

	(void)state;
	need_programs();
	if (!have_command("objcopy"))
		skip();
	command("printf 'absent.debug\\0\\1\\2\\3\\4\\5\\6\\7\\10' >alt && "
		"objcopy --add-section .gnu_debugaltlink=alt whole shared && "
		"objcopy --add-section .gnu_debugdata=alt bare damaged");
	snprintf(whole, sizeof(whole), "%s:plain_one", directory_path("shared"));
	assert_int_equal(call_resolve(whole, &no_filter, &resolved, why), 0);
	assert_non_null(strstr(resolved.untyped, "there is no debug information: "));
	assert_non_null(strstr(resolved.untyped, "(dwz), which was not found"));
	call_resolved_deinit(&resolved);
	check("shared", "quite_another_name", 1, "quite_another_name");
	snprintf(whole, sizeof(whole), "%s:missing::name", directory_path("shared"));
	assert_int_equal(call_resolve(whole, &no_filter, &resolved, why), -ENOENT);
	assert_null(strstr(why, "debug information"));
	snprintf(whole, sizeof(whole), "%s:quite_another_name", directory_path("damaged"));
	assert_int_equal(call_resolve(whole, &no_filter, &resolved, why), -ENOENT);
	if (!strstr(why, "was not found: its functions have no names: ") &&
	    !strstr(why, "in its few symbols: "))
		fail_msg("%s", why);
}

/* Long labels and names are cut before a character. */
static void test_cut(void **state)
{
	static const char last[] = "\xe2\x82\xac";
	char name[CALL_FUNCTION_MAX + 8], expected[CALL_FUNCTION_MAX + 8];
	struct outbuf to = { 0 };

	(void)state;
	for (int at = CALL_FUNCTION_MAX - 4; at < CALL_FUNCTION_MAX; at++) {
		int kept = at == CALL_FUNCTION_MAX - 4 ? at + 3 : at;

		memset(name, 'x', sizeof(name));
		memcpy(name + at, last, sizeof(last));
		snprintf(expected, sizeof(expected), "='%.*s'", kept, name);
		call_text_put_label(&to, name);
		assert_int_equal(to.size, strlen(expected));
		assert_memory_equal(to.data, expected, to.size);
		outbuf_deinit(&to);
	}
	memcpy(name + CALL_TEXT_SHOWN_MAX - 1, last, sizeof(last));
	call_text_put_shown(&to, name);
	assert_int_equal(to.size, CALL_TEXT_SHOWN_MAX - 1 + 2);
	assert_memory_equal((char *)to.data + to.size - 2, "x'", 2);
	outbuf_deinit(&to);
}

/* Likewise for labels, such as the end of OCaml's code. */
static void test_labels(void **state)
{
	struct call_resolved resolved;
	char whole[1024], why[PLACES_WHY_MAX];

	(void)state;
	need_programs();
	if (try_command("printf 'int lab_a(int a) { return a; }\n"
			"int main(void) { return lab_a(0); }\n"
			"__asm__(\".globl lab_end; lab_end: nop\");\n' >l.c && "
			"gcc -g -o labels l.c") != 0)
		skip();
	snprintf(whole, sizeof(whole), "%s:lab_*", directory_path("labels"));
	assert_int_equal(call_resolve(whole, &no_filter, &resolved, why), 0);
	assert_int_equal(resolved.n, 1);
	assert_non_null(resolved.left_out);
	assert_non_null(strstr(resolved.left_out, "'lab_*' leaves out 'lab_end' of "));
	call_resolved_deinit(&resolved);
	/* (the recorder reports the error) */
	snprintf(whole, sizeof(whole), "%s:lab_end", directory_path("labels"));
	assert_int_equal(call_resolve(whole, &no_filter, &resolved, why), 0);
	assert_int_equal(resolved.n, 1);
	assert_null(resolved.left_out);
	call_resolved_deinit(&resolved);
}

/* A pattern leaves out functions that can have no probe, and names them, also if each function has
 * its own specification, with arguments from debug information. */
static void test_refused(void **state)
{
	static const struct {
		const char *program, *pattern, *names;
		size_t n;
	} rows[] = {
		{ "locks", "l_*", "'l_b', 'l_c', 'l_d' and 1 more of", 2 },
		{ "bare-locks", "l_*", "'l_b', 'l_c', 'l_d' and 1 more of", 1 },
		{ "locks", "l_b*", "'l_b' of", 1 }, /* (the recorder reports the error) */
		{ "locks", "l_a*", NULL, 1 },
	};
	struct call_resolved resolved;
	char whole[1024], why[PLACES_WHY_MAX];

	(void)state;
	need_programs();
	if (try_command(
		    "{ printf 'int l_a(int a) { return a; } int l_f(int a) { return a + 1; }\n';"
		    " for f in b c d e; do printf 'int l_%%s(int *a);\n"
		    "__asm__(\".type l_%%s, @function\\\\nl_%%s: lock incl (%%%%rdi)\\\\nret\\\\n"
		    ".size l_%%s, . - l_%%s\");' $f $f $f $f $f; done; "
		    "printf '\nint main(void) { return l_a(1) + l_f(2); }\n'; } >l.c && "
		    "gcc -g -o locks l.c && strip -g -o bare-locks locks") != 0)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(whole, sizeof(whole), "%s:%s", directory_path(rows[i].program),
			 rows[i].pattern);
		assert_int_equal(call_resolve(whole, &no_filter, &resolved, why), 0);
		assert_int_equal(resolved.n, rows[i].n);
		assert_int_equal(resolved.refused != NULL, rows[i].names != NULL);
		if (rows[i].names && !strstr(resolved.refused, rows[i].names))
			fail_msg("%s: %s", whole, resolved.refused);
		call_resolved_deinit(&resolved);
	}
}

/* More functions than there can be specifications, with names in a debug file only. */
static void test_too_many(void **state)
{
	struct call_resolved resolved;
	char whole[1024], why[PLACES_WHY_MAX];

	(void)state;
	need_programs();
	if (try_command(
		    "for i in $(seq 70); do echo \"int many_$i(int a); int many_$i(int a) "
		    "{ return a + $i; }\"; done >n.c && echo 'int main(void) { return 0; }' >>n.c && "
		    "gcc -g -o many n.c && objcopy --only-keep-debug many many.debug && "
		    "strip many && objcopy --add-gnu-debuglink=many.debug many") != 0)
		skip();
	snprintf(whole, sizeof(whole), "%s:many_*", directory_path("many"));
	assert_int_equal(call_resolve(whole, &no_filter, &resolved, why), -E2BIG);
	if (!strstr(why, "'many_*' matches 70 functions of") ||
	    !strstr(why, "'many_4' and 66 more), but at most 64 are possible"))
		fail_msg("%s", why);
}

/* A function in two parts, whose debug information names the cold part first. */
static void test_cold_part_first(void **state)
{
	(void)state;
	need_programs();
	if (try_command("gcc -g -gdwarf-4 -O2 -S -o s.s %s && "
			"grep -q '^\t.quad\t.LFSB' s.s && "
			"awk '/^\t.quad\t.LFB[0-9]+$/ { b = $0; getline e; "
			"if (e !~ /LHOTE/) { print b; print e; next } getline c; getline d; "
			"print c; print d; print b; print e; next } { print }' s.s >t.s && "
			"! cmp -s s.s t.s && gcc -o parts t.s",
			SOURCE_ROOT "/tests/support/loads/place-split.c") != 0)
		skip();
	check("parts", "split", 1, "'split'(int32 n, str text) -> int32");
}

static void test_left_as_they_are(void **state)
{
	static const char *const rows[] = { "syscall:open*",
					    "'libc.so.6':fopen",
					    "libc.so.6:fopen",
					    "fopen",
					    "",
					    "libc.so.6:fopen if $mode",
					    "/etc/passwd:f" };
	struct call_resolved resolved;
	char why[PLACES_WHY_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (call_resolve(rows[i], &no_filter, &resolved, why) != 0)
			fail_msg("%s: %s", rows[i], why);
		assert_int_equal(resolved.n, 1);
		assert_string_equal(resolved.list[0].spec, rows[i]);
		call_resolved_deinit(&resolved);
	}
}

static void test_static_probes(void **state)
{
	static const char *const programs[] = { "whole", "bare", "whole" };
	static const char *const names[] = { "kymotest:entered", "kymotest:entered", "ent*" };

	(void)state;
	need_programs();
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		struct call_resolved resolved;
		char text[512], why[PLACES_WHY_MAX];
		struct call_spec_error error;
		struct call_spec spec;

		snprintf(text, sizeof(text), "%s:usdt:%s", directory_path(programs[i]), names[i]);
		if (call_resolve(text, &no_filter, &resolved, why) != 0)
			fail_msg("%s", why);
		assert_int_equal(resolved.n, 1);
		assert_int_equal(call_spec_parse(resolved.list[0].spec, &spec, &error), 0);
		assert_true(spec.range.is_point);
		assert_string_equal(spec.function, "kymotest:entered");
		assert_int_equal(spec.n_args, 3);
		assert_int_equal(spec.args[2].location.offset, -7);
		call_resolved_deinit(&resolved);
	}
}

/* An error in one sentence, with the most similar names. */
static void test_errors(void **state)
{
	static const struct {
		const char *program, *text;
		const char *why;
	} rows[] = {
		{ "whole", "plain_onw",
		  "whole has no function 'plain_onw'; did you mean 'plain_one'?" },
		{ "whole", "shop::prise",
		  "no function 'shop::prise'; did you mean 'shop::price'?" },
		{ "whole", "shop::Counter::add(int a)", "matches several functions of" },
		{ "whole", "shop::Counter::add(int a)", "'shop::Counter::add(int, char const*)'" },
		{ "whole", "place-methods.cc:1",
		  "line 1 of place-methods.cc has no code; the nearest line is" },
		{ "whole", "place-method.cc:1", "did you mean 'place-methods.cc'?" },
		{ "whole", "usdt:kymotest:enterde", "did you mean 'kymotest:entered'?" },
		{ "whole", "0x12zz", "'0x12zz' is not an address" },
		{ "whole", "0xffffffff", "no symbol of the function at 0xffffffff" },
		{ "whole", "'shop", "not closed" },
		{ "whole", "''", "missing" },
		{ "whole", "plain_one if $nothing > 1", "there is no argument of this name" },
		{ "whole", "shop::price if $rate > 1", "not a number" },
		{ "bare", "shop::price", "has no symbols (it is stripped)" },
		{ "bare", "place-methods.cc:1", "has no debug information" },
		{ "symbols", "place-methods.cc:1", "has no debug information" },
		{ "none", "f", "none: No such file or directory" },
		{ "names", "cloned(str text, int n)",
		  "names has 'cloned' only as 'cloned.constprop.0', whose arguments" },
	};

	(void)state;
	need_programs();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct call_resolved resolved;
		char text[512], why[PLACES_WHY_MAX];

		snprintf(text, sizeof(text), "%s:%s", directory_path(rows[i].program),
			 rows[i].text);
		assert_true(call_resolve(text, &no_filter, &resolved, why) < 0);
		if (!strstr(why, rows[i].why))
			fail_msg("%s: %s", rows[i].text, why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolved),     cmocka_unit_test(test_left_as_they_are),
		cmocka_unit_test(test_of_libraries), cmocka_unit_test(test_static_probes),
		cmocka_unit_test(test_errors),       cmocka_unit_test(test_of_needed_libraries),
		cmocka_unit_test(test_left_out),     cmocka_unit_test(test_labels),
		cmocka_unit_test(test_too_many),     cmocka_unit_test(test_cold_part_first),
		cmocka_unit_test(test_refused),      cmocka_unit_test(test_passing),
		cmocka_unit_test(test_cut),          cmocka_unit_test(test_stripped_indirect),
		cmocka_unit_test(test_problems),     cmocka_unit_test(test_versions),
		cmocka_unit_test(test_assembly),
	};

	return cmocka_run_group_tests(tests, set_up, own_directory_tear_down);
}
