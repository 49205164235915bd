/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "cli/leaks/suppressions.h"
#include "tests/support/unit.h"

static const char *const allocators[] = { "malloc" };
static const struct suppression_frame frames[] = {
	{ "make", "/src/make.c", "/usr/lib/libmake.so.1", 12 },
	{ "ns::build(char*)", "/src/build.cc", "/usr/bin/demo", 7 },
	{ "", "", "/usr/bin/demo", 0 },
	{ "main", "", "/usr/bin/demo", 0 },
};

static const struct suppression_stack stack = {
	.allocators = allocators, .n_allocators = 1, .frames = frames, .n_frames = 4
};

/* Whether TEXT, which must be valid, suppresses S. */
static bool matches(const char *text, struct suppression_stack s)
{
	_cleanup_(suppressions_deinit) struct suppressions list = { 0 };
	struct suppression_problem problem;

	assert_int_equal(suppressions_parse(&list, text, &problem), 0);
	return suppressions_find(&list, &s) != NULL;
}

#define ENTRY(body) "{\n  a name\n  Memcheck:Leak\n" body "}\n"

TEST(test_frames)
{
	static const struct {
		const char *text;
		bool matches;
	} rows[] = {
		{ ENTRY("fun:malloc\nfun:make\n"), true },
		{ ENTRY("fun:make\n"), true }, /* the allocator can be left out */
		{ ENTRY("fun:*alloc\nfun:ma?e\n"), true },
		{ ENTRY("fun:calloc\nfun:make\n"), false },
		{ ENTRY("fun:malloc\nfun:main\n"), false }, /* it is not the next one */
		{ ENTRY("fun:malloc\n...\nfun:main\n"), true },
		{ ENTRY("...\nfun:main\n"), true },
		{ ENTRY("...\nfun:make\nfun:main\n"), false },
		{ ENTRY("fun:make\n...\nobj:/usr/bin/demo\nobj:*/demo\n"), true },
		{ ENTRY("obj:*libmake*\n"), true },
		{ ENTRY("fun:make\nobj:/usr/bin/other\n"), false },
		{ ENTRY("src:make.c:12\n"), true },
		{ ENTRY("src:/src/make.c\n"), true },
		{ ENTRY("src:make.c:13\n"), false },
		{ ENTRY("fun:make\nfun:_ZN2ns5buildEPc\n"), true },
		{ ENTRY("fun:make\nfun:ns::build(char?)\n"), true },
		{ ENTRY("fun:make\nfun:_ZN2ns*\n"), false },
		{ ENTRY("fun:_Znwm\nfun:make\n"), true },
		{ ENTRY("fun:make\nfun:*\nfun:*\nfun:main\n"), false }, /* one has no name */
		{ ENTRY("fun:make\nfun:*\nobj:*\nfun:main\nfun:more\n"), false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (matches(rows[i].text, stack) != rows[i].matches)
			fail_msg("%s", rows[i].text);
}

TEST(test_texts)
{
	static const struct {
		const char *text;
		bool matches;
	} rows[] = {
		{ "leak:make\n", true },           { "  leak: build \n", true },
		{ "leak:^make$\n", true },         { "leak:^ake\n", false },
		{ "leak:mak$\n", false },          { "leak:libmake\n", true },
		{ "leak:build.cc\n", true },       { "leak:n*::*ld\n", true },
		{ "leak:nothing\n", false },       { "# leak:make\n\n\r\n", false },
		{ "leak:^/usr/bin/d*o$\n", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (matches(rows[i].text, stack) != rows[i].matches)
			fail_msg("%s", rows[i].text);
}

TEST(test_kinds)
{
	struct suppression_stack s = stack;

	s.reach = REACH_LOST;
	assert_true(matches(ENTRY("match-leak-kinds: definite,possible\nfun:make\n"), s));
	assert_false(matches(ENTRY("match-leak-kinds: reachable\nfun:make\n"), s));
	assert_true(matches(ENTRY("match-leak-kinds:all\nfun:make\n"), s));
	assert_false(matches(ENTRY("match-leak-kinds: none\nfun:make\n"), s));
	s.reach = REACH_REACHABLE;
	assert_true(matches(ENTRY("match-leak-kinds: reachable\nfun:make\n"), s));
	/* not checked: it can be of that kind */
	s.reach = REACH_UNKNOWN;
	assert_true(matches(ENTRY("match-leak-kinds: reachable\nfun:make\n"), s));
	/* entries for other tools are skipped with their contents */
	assert_false(matches("{\n x\n Memcheck:Param\n write(buf)\n fun:make\n}\n", s));
}

TEST(test_unknown_allocator)
{
	struct suppression_stack s = stack;

	s.n_allocators = 0;
	assert_true(matches(ENTRY("fun:calloc\nfun:make\n"), s));
	s.n_frames = 0;
	assert_true(matches(ENTRY("fun:calloc\n"), s));
	assert_false(matches(ENTRY("fun:calloc\nfun:make\n"), s));
	assert_false(matches("leak:make\n", s));
}

TEST(test_what_is_wrong)
{
	static const struct {
		const char *text;
		unsigned line;
		const char *what;
	} rows[] = {
		{ "\nrace:make\n", 2, "begins with a line" },
		{ "leak:\n", 1, "no text after" },
		{ "{\n x\n Leak\n}\n", 3, "TOOL:KIND" },
		{ "{\n x\n}\n", 3, "needs a name" },
		{ "{\n x\n A:Leak\n}\n", 4, "without any frame" },
		{ "{\n x\n A:Leak\n frame:x\n}\n", 4, "fun:NAME" },
		{ "{\n x\n A:Leak\n match-leak-kinds: lost\n fun:x\n}\n", 4, "definite" },
		{ "# x\n{\n x\n A:Leak\n fun:x\n", 2, "no end" },
		{ "}\n", 1, "begins with a line" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(suppressions_deinit) struct suppressions s = { 0 };
		struct suppression_problem problem = { 0 };

		assert_int_equal(suppressions_parse(&s, rows[i].text, &problem), -EINVAL);
		assert_int_equal(problem.line, rows[i].line);
		if (!strstr(problem.what, rows[i].what))
			fail_msg("%s", problem.what);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),        cmocka_unit_test(test_texts),
		cmocka_unit_test(test_kinds),         cmocka_unit_test(test_unknown_allocator),
		cmocka_unit_test(test_what_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
