/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The values of moments, as arguments for Perfetto: their types, limits, and missing values.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/unit.h"
#include "model/moment-values.h"

enum { REGISTER_BYTES = EVENT_MOMENT_REGISTERS * 8, WORDS_MAX = 512 };

static uint64_t data[WORDS_MAX]; /* of the moment: registers, and then blocks */
static struct event ev;
static struct moment_plan plan;
static struct moment_values values;

/* Appends block LOAD with the BYTES at FROM, or, if BYTES is negative, with an error. */
static void block(uint32_t load, int32_t bytes, const void *from)
{
	uint8_t *to = (uint8_t *)data + ev.moment.n_bytes;

	memset(to, 0, 8);
	memcpy(to + 8, &load, 4);
	memcpy(to + 12, &bytes, 4);
	if (bytes > 0)
		memcpy(to + 16, from, (size_t)bytes);
	ev.moment.n_bytes += 16 + (bytes > 0 ? ((uint32_t)bytes + 7) / 8 * 8 : 0);
}

static void variable(const char *name, const char *shape, uint32_t first, uint32_t n)
{
	plan.variables[plan.n_variables++] = (struct moment_plan_variable){
		.name = name, .type = "?", .shape = shape, .first = first, .n = n
	};
}

FIXTURE(set_up)
{
	memset(data, 0, sizeof(data));
	plan = (struct moment_plan){ 0 };
	ev = (struct event){ .kind = EVENT_MOMENT };
	ev.moment.data = data;
	ev.moment.n_bytes = REGISTER_BYTES;
	return 0;
}

static const struct call_value *value(const char *name)
{
	for (unsigned i = 0; i < values.n; i++)
		if (strcmp(values.list[i].name, name) == 0)
			return &values.list[i];
	fail_msg("there is no '%s'", name);
	return NULL;
}

TEST(test_numbers)
{
	block(0, 4, &(int32_t){ -7 });
	block(1, 2, &(uint16_t){ 65535 });
	block(2, 8, &(uint64_t){ UINT64_MAX });
	block(3, 1, &(uint8_t){ 1 });
	block(4, 8, &(uint64_t){ 0x7fff00000000 });
	variable("i", "i4", 0, 1);
	variable("u", "u2", 1, 1);
	variable("most", "u8", 2, 1);
	variable("yes", "b1", 3, 1);
	variable("p", "p8x16", 4, 1);
	moment_values_fill(&values, &plan, &ev);
	assert_int_equal(values.n, 5);
	assert_int_equal(value("i")->form, CALL_VALUE_INT);
	assert_int_equal(value("i")->i64, -7);
	assert_int_equal(value("u")->form, CALL_VALUE_UINT);
	assert_int_equal(value("u")->u64, 65535);
	assert_true(value("most")->u64 == UINT64_MAX);
	assert_int_equal(value("yes")->form, CALL_VALUE_BOOL);
	assert_true(value("yes")->yes);
	assert_int_equal(value("p")->form, CALL_VALUE_POINTER);
	assert_true(value("p")->u64 == 0x7fff00000000);
}

TEST(test_texts)
{
	char many[300];

	memset(many, 'x', sizeof(many));
	block(0, 8, &(double){ 1.5 });
	block(1, 8, &(uint64_t){ 16 });
	block(2, 3, "hi");
	block(3, 1, &(uint8_t){ 3 });
	block(4, 300, many);
	variable("f", "f8", 0, 1);
	variable("s", "p8c1", 1, 2);
	variable("odd", "b1", 3, 1);
	variable("long", "a300c1", 4, 1);
	moment_values_fill(&values, &plan, &ev);
	assert_string_equal(value("f")->text, "1.5");
	assert_string_equal(value("s")->text, "0x10 \"hi\"");
	assert_string_equal(value("odd")->text, "3");
	assert_int_equal(strlen(value("long")->text), MOMENT_VALUES_TEXT_BYTES - 1);
	assert_string_equal(value("long")->text + MOMENT_VALUES_TEXT_BYTES - 4, "...");
}

TEST(test_trace_state_variables)
{
	uint64_t is;

	plan.tsvs[plan.n_tsvs++].name = "calls";
	plan.tsvs[plan.n_tsvs++].name = "lost";
	plan.tsvs[plan.n_tsvs++].name = "odd";
	block(MOMENT_PLAN_LOADS_MAX, 8, &(uint64_t){ 42 });
	block(MOMENT_PLAN_LOADS_MAX + 2, 4, &(uint32_t){ 1 });
	moment_values_fill(&values, &plan, &ev);
	assert_int_equal(values.n, 1);
	assert_int_equal(value("$calls")->u64, 42);
	assert_true(moment_values_tsv(&plan, &ev, 0, &is));
	assert_int_equal(is, 42);
	assert_false(moment_values_tsv(&plan, &ev, 1, &is));
	assert_false(moment_values_tsv(&plan, &ev, 2, &is));
	assert_false(moment_values_tsv(&plan, &ev, 3, &is));
}

/* A missing value has a reason, or no argument. */
TEST(test_not_there)
{
	char shape[MOMENT_VALUES_SHAPE_MAX + 1], name[MOMENT_VALUES_NAME_BYTES + 1];

	memset(shape, '1', sizeof(shape) - 1);
	memset(name, 'n', sizeof(name) - 1);
	shape[sizeof(shape) - 1] = name[sizeof(name) - 1] = '\0';
	block(0, -EFAULT, NULL);
	block(1, 2, &(uint16_t){ 1 });
	variable("unreadable", "i4", 0, 1);
	variable("no_room", "i4", 7, 1);
	variable("short", "i4", 1, 1);
	variable("optimized out", NULL, 0, 0);
	plan.variables[plan.n_variables - 1].reason = "optimized out";
	variable("complex", shape, 1, 1);
	variable(name, "u2", 1, 1);
	variable("gaps", "!0+1000000;u2", 1, 1);
	variable("none", "", 1, 1);
	moment_values_fill(&values, &plan, &ev);
	assert_int_equal(values.n, 4);
	assert_string_equal(value("unreadable")->text, "<its memory cannot be read>");
	assert_string_equal(value("no_room")->text, "<there was no room for it>");
	assert_string_equal(value("short")->text, "<unavailable>");
	assert_string_equal(value("none")->text, "<bad shape>");
}

TEST(test_limits)
{
	static char names[EVENT_MOMENT_VALUES_MAX + 2][16];

	block(0, 4, &(int32_t){ 5 });
	variable("cpu", "i4", 0, 1);
	variable("hit", "i4", 0, 1);
	for (int i = 0; i < EVENT_MOMENT_VALUES_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "v%d", i);
		variable(names[i], "i4", 0, 1);
	}
	moment_values_fill(&values, &plan, &ev);
	assert_int_equal(values.n, EVENT_MOMENT_VALUES_MAX);
	assert_int_equal(value("variable cpu")->i64, 5);
	assert_int_equal(value("variable hit")->i64, 5);
	assert_int_equal(value("v8")->i64, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_numbers, set_up),
		cmocka_unit_test_setup(test_texts, set_up),
		cmocka_unit_test_setup(test_trace_state_variables, set_up),
		cmocka_unit_test_setup(test_not_there, set_up),
		cmocka_unit_test_setup(test_limits, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
