/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of --moment and --collect: conditions and actions, and errors of invalid ones.
 */
#include <string.h>

#include "cli/common/verb.h"
#include "cli/places/moment-spec.h"
#include "tests/support/fixtures/said.h"
#include "tests/support/unit.h"

static struct moment_spec spec;

FIXTURE(tear_down)
{
	moment_spec_deinit(&spec);
	return 0;
}

static int take(const char *text, const char *collect)
{
	moment_spec_deinit(&spec);
	*said = '\0';
	return moment_spec_parse("--moment", text, collect, &spec);
}

static void good(const char *text)
{
	if (take(text, NULL) != CLI_OK)
		fail_msg("%s: %s", text, said);
}

static void bad(const char *text, const char *part)
{
	assert_int_equal(take(text, NULL), CLI_USAGE);
	if (!strstr(said, part))
		fail_msg("%s: %s", text, said);
}

TEST(test_place)
{
	good("prog:main.c:42");
	assert_string_equal(spec.file, "prog");
	assert_string_equal(spec.place, "main.c:42");
	assert_true(spec.max == MOMENT_PLAN_EACH);
	assert_int_equal(spec.n_conditions, 0);
	assert_int_equal(spec.n_tsvs, 0);
	assert_int_equal(spec.stop, 0);
	assert_true(spec.implied);
	assert_int_equal(spec.stack_bytes, MOMENT_SPEC_STACK_BYTES);
	assert_int_equal(spec.n_items, 2);
	/* (a word that only begins like a keyword is a part of the place) */
	good("prog:'f(int, iffy maximum)' stop");
	assert_string_equal(spec.place, "'f(int, iffy maximum)'");
	bad("prog", "is not FILE:FUNCTION");
	bad("prog: max 2", "is not FILE:FUNCTION");
}

TEST(test_conditions)
{
	good("p:f if n > 4");
	assert_int_equal(spec.n_conditions, 1);
	assert_string_equal(spec.conditions[0].subject, "n");
	assert_string_equal(spec.conditions[0].op, ">");
	assert_string_equal(spec.conditions[0].number, "4");
	good("p:f if $rdi == 0x10 && *p & 3  &&  $calls >= 100 max 2");
	assert_int_equal(spec.n_conditions, 3);
	assert_string_equal(spec.conditions[1].subject, "*p");
	assert_string_equal(spec.conditions[2].subject, "$calls");
	assert_string_equal(spec.conditions[2].number, "100");
	assert_int_equal(spec.max, 2);
	/* A register is no variable, and variables in conditions are not counted. */
	assert_int_equal(spec.n_tsvs, 1);
	assert_string_equal(spec.tsvs[0].name, "calls");
	assert_false(spec.tsvs[0].is_counted);
	assert_int_equal(moment_spec_register("rdi"), 5);
	assert_int_equal(moment_spec_register("calls"), -1);
	bad("p:f if n >", "a condition is");
	bad("p:f if n > 4 && m", "a condition is");
	bad("p:f if n > 4 &&", "'&&' must be one of");
	bad("p:f if a > 1 && b > 1 && c > 1 && d > 1 && e > 1", "at most 4 conditions");
	bad("p:f if $9 > 1", "'$9' is not the name");
	bad("p:f if $tid > 1", "the name $tid is reserved");
}

TEST(test_actions)
{
	good("p:f count $calls if n > 4 count $more snapshot 7 stop max 0");
	assert_int_equal(spec.n_conditions, 1);
	assert_int_equal(spec.snapshot, 7);
	assert_int_equal(spec.stop, 1);
	assert_int_equal(spec.max, 0);
}

TEST(test_counters)
{
	good("p:f if $calls > 2 count $calls count $other collect n,$third");
	assert_int_equal(spec.n_tsvs, 3);
	assert_true(spec.tsvs[0].is_counted);
	assert_true(spec.tsvs[1].is_counted);
	assert_false(spec.tsvs[2].is_counted);
	assert_int_equal(moment_spec_tsv(&spec, "third"), 2);
	assert_int_equal(moment_spec_tsv(&spec, "fourth"), -1);
	bad("p:f count calls", "'calls' is not the name");
	bad("p:f count", "'' is not the name");
	bad("p:f count $rax", "the name $rax is reserved");
	bad("p:f count $_", "the name $_ is reserved");
	bad("p:f count $a count $b count $c count $d count $e count $f count $g count $h count $i",
	    "at most 8");
}

TEST(test_collect)
{
	assert_int_equal(take("p:f", "regs,n,*p@4,stack=512,$rax,$calls"), CLI_OK);
	assert_false(spec.implied);
	assert_int_equal(spec.n_items, 2);
	assert_string_equal(spec.items[1], "*p@4");
	assert_int_equal(spec.stack_bytes, 512);
	assert_int_equal(spec.n_tsvs, 1);
	/* The words of the point have precedence over the common ones. */
	assert_int_equal(take("p:f collect a,b", "c"), CLI_OK);
	assert_int_equal(spec.n_items, 2);
	assert_string_equal(spec.items[0], "a");
	assert_int_equal(spec.stack_bytes, 0);
	/* If nothing is collected, the words need not be valid. */
	assert_int_equal(take("p:f count $calls max 0", "nosuch"), CLI_OK);
	assert_int_equal(spec.n_items, 0);
	assert_int_equal(take("p:f stop max 0", "n"), CLI_OK);
	assert_int_equal(spec.n_items, 1);
	assert_int_equal(take("p:f", "stack=1M"), CLI_USAGE);
	assert_non_null(strstr(said, "at most 8064"));
}

TEST(test_numbers)
{
	bad("p:f max", "max takes a number");
	bad("p:f max many", "max takes a number, not 'many'");
	bad("p:f max 2 max 3", "'max' is given twice");
	bad("p:f max 0", "max 0 collects nothing");
	bad("p:f stop 0", "stop takes a number, not '0'");
	bad("p:f stop 1 stop 2", "'stop' is given twice");
	bad("p:f snapshot 1x", "snapshot takes a number, not '1x'");
	bad("p:f stop soon", "'soon' must be one of");
	bad("p:f collect", "collect takes one list of words");
	bad("p:f collect a collect b", "collect takes one list of words");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_place, tear_down),
		cmocka_unit_test_teardown(test_conditions, tear_down),
		cmocka_unit_test_teardown(test_actions, tear_down),
		cmocka_unit_test_teardown(test_counters, tear_down),
		cmocka_unit_test_teardown(test_collect, tear_down),
		cmocka_unit_test_teardown(test_numbers, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
