/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plans of points: the meanings of their lines, and errors of invalid ones.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/moments/moment-plan.h"
#include "tests/support/unit.h"

#define E     MOMENT_PLAN_LINE_END
#define POINT "point\tp" E "file\tf" E "at\t16" E

static struct moment_plan plan;
static char why[MOMENT_PLAN_WHY_MAX];

FIXTURE(tear_down)
{
	moment_plan_deinit(&plan);
	return 0;
}

static void good(const char *text)
{
	moment_plan_deinit(&plan);
	if (moment_plan_parse(text, &plan, why) < 0)
		fail_msg("%s", why);
}

static void bad(const char *text, const char *part)
{
	moment_plan_deinit(&plan);
	*why = '\0';
	assert_int_equal(moment_plan_parse(text, &plan, why), -EINVAL);
	assert_non_null(strstr(why, part));
}

TEST(test_least)
{
	good(POINT);
	assert_string_equal(plan.name, "p");
	assert_string_equal(plan.file, "f");
	assert_string_equal(plan.source, "");
	assert_int_equal(plan.vaddr, 16);
	assert_true(plan.max == MOMENT_PLAN_EACH);
	assert_int_equal(plan.snapshot, 0);
	assert_int_equal(plan.stop, 0);
	assert_int_equal(plan.n_conditions, 0);
	assert_int_equal(plan.n_tsvs, 0);
	bad("point\tp", "which point");
}

TEST(test_actions)
{
	good(POINT "max\t0" E "snapshot\t3" E "stop\t18446744073709551615");
	assert_int_equal(plan.max, 0);
	assert_int_equal(plan.snapshot, 3);
	assert_true(plan.stop == UINT64_MAX);
	bad(POINT "stop\tsoon", "'stop'");
	bad(POINT "snapshot", "'snapshot'");
	bad(POINT "snapshot\t1\t2", "'snapshot'");
}

TEST(test_variables)
{
	good(POINT "tsv\tcalls\t1" E "tsv\t_x9\t0");
	assert_int_equal(plan.n_tsvs, 2);
	assert_string_equal(plan.tsvs[0].name, "calls");
	assert_true(plan.tsvs[0].is_counted);
	assert_string_equal(plan.tsvs[1].name, "_x9");
	assert_false(plan.tsvs[1].is_counted);
	bad(POINT "tsv\t9x\t0", "'tsv'");
	bad(POINT "tsv\ta b\t0", "'tsv'");
	bad(POINT "tsv\t\t0", "'tsv'");
	bad(POINT "tsv\tx\t2", "'tsv'");
	bad(POINT "tsv\tx", "'tsv'");
	bad(POINT "tsv\tx2345678901234567890123456789012\t0", "'tsv'");
}

TEST(test_too_many_variables)
{
	char text[1024] = POINT;

	for (int i = 0; i < MOMENT_PLAN_TSVS_MAX; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "tsv\tv%d\t1" E, i);
	good(text);
	assert_int_equal(plan.n_tsvs, MOMENT_PLAN_TSVS_MAX);
	strcat(text, "tsv\tmore\t1");
	bad(text, "'tsv'");
}

/* Loads are counted from 1 on, and variables after the maximum number of loads. */
TEST(test_conditions)
{
	const char *load = "load\t9\t4\t1\t5\t0\t0\t0" E;
	char text[1024];

	snprintf(text, sizeof(text),
		 POINT "%sif\t1\t1\t32\t1\t-4" E "tsv\tn\t1" E "if\t33\t6\t64\t0\t7", load);
	good(text);
	assert_int_equal(plan.n_conditions, 2);
	assert_int_equal(plan.conditions[0].at, 1);
	assert_int_equal(plan.conditions[0].op, 1);
	assert_int_equal(plan.conditions[0].bits, 32);
	assert_true(plan.conditions[0].is_signed);
	assert_true(plan.conditions[0].value == (uint64_t)-4);
	assert_int_equal(plan.conditions[1].at, MOMENT_PLAN_LOADS_MAX + 1);
	assert_int_equal(plan.conditions[1].value, 7);
	bad(POINT "if\t1\t1\t32\t1\t4", "about nothing");
	bad(POINT "tsv\tn\t1" E "if\t34\t1\t64\t0\t4", "about nothing");
	bad(POINT "tsv\tn\t1" E "if\t33\t8\t64\t0\t4", "'if'");
	bad(POINT "tsv\tn\t1" E "if\t33\t0\t64\t0\t4", "'if'");
	bad(POINT "tsv\tn\t1" E "if\t33\t1\t0\t0\t4", "'if'");
	bad(POINT "if\t0\t1\t64\t0\t4", "'if'");
	strcpy(text, POINT "tsv\tn\t1" E);
	for (int i = 0; i < MOMENT_PLAN_CONDITIONS_MAX; i++)
		strcat(text, "if\t33\t1\t64\t0\t4" E);
	good(text);
	strcat(text, "if\t33\t1\t64\t0\t4" E);
	bad(text, "'if'");
}

/* The number of a register has the number of the index and its scale. */
TEST(test_registers)
{
	good(POINT "load\t0\t4\t1\t16\t-8\t0\t0" E "load\t0\t4\t1\t8293\t0\t0\t0");
	assert_int_equal(plan.loads[0].reg, 16);
	assert_int_equal(plan.loads[0].scale, 0);
	assert_int_equal(plan.loads[1].reg, 5);
	assert_int_equal(plan.loads[1].index, 3);
	assert_int_equal(plan.loads[1].scale, 8);
	bad(POINT "load\t0\t4\t1\t20\t0\t0\t0", "'load'");    /* register 20 */
	bad(POINT "load\t0\t4\t1\t32\t0\t0\t0", "'load'");    /* no scale */
	bad(POINT "load\t0\t4\t1\t1664\t0\t0\t0", "'load'");  /* index 20 */
	bad(POINT "load\t0\t4\t1\t3072\t0\t0\t0", "'load'");  /* scale 3 */
	bad(POINT "load\t0\t4\t1\t16384\t0\t0\t0", "'load'"); /* scale 16 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_least, tear_down),
		cmocka_unit_test_teardown(test_actions, tear_down),
		cmocka_unit_test_teardown(test_variables, tear_down),
		cmocka_unit_test_teardown(test_registers, tear_down),
		cmocka_unit_test_teardown(test_too_many_variables, tear_down),
		cmocka_unit_test_teardown(test_conditions, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
