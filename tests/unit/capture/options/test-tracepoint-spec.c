/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Specifications of tracepoints: their meanings, and errors of wrong ones.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/options/tracepoint-spec.h"
#include "tests/support/unit.h"

static struct tracepoint_spec spec;
static char why[VALUE_WHY_MAX];

static void take(const char *text)
{
	int r = tracepoint_spec_parse(text, &spec, why);

	if (r < 0)
		fail_msg("%s: %s", text, why);
}

/* The specification TEXT is wrong, for a reason with the words WORDS. */
static void refuse(const char *text, const char *words)
{
	*why = '\0';
	assert_int_equal(tracepoint_spec_parse(text, &spec, why), -EINVAL);
	if (!strstr(why, words))
		fail_msg("%s: '%s' lacks '%s'", text, why, words);
}

TEST(test_names)
{
	take("sched:sched_switch");
	assert_string_equal(spec.system, "sched");
	assert_string_equal(spec.name, "sched_switch");
	assert_int_equal(spec.n_conditions, 0);
	assert_false(tracepoint_spec_is_pattern(&spec));
	take("ext4:*");
	assert_true(tracepoint_spec_is_pattern(&spec));
	take("?lock:block_rq_issue");
	assert_true(tracepoint_spec_is_pattern(&spec));
	refuse("", "the system is missing");
	refuse("sched", "expected SYSTEM:NAME");
	refuse(":x", "the system is missing");
	refuse("sched:", "the name is missing");
	refuse("sched:a:b", "expected a condition");
	refuse("../sched:x", "the system is missing");
	refuse("sched/..:x", "expected SYSTEM:NAME");
	refuse("sched:a/b", "expected a condition");
	refuse("sched:sched_switch ", "expected a condition");
}

TEST(test_presets)
{
	take("signals");
	assert_string_equal(spec.preset->name, "signals");
	assert_string_equal(spec.system, "");
	assert_true(tracepoint_spec_is_pattern(&spec));
	take("net[family==2 && dport!=22]");
	assert_string_equal(spec.preset->name, "net");
	assert_int_equal(spec.n_conditions, 2);
	take("signals:*");
	assert_null(spec.preset);
	refuse("signal", "expected SYSTEM:NAME");
	refuse("signals ", "expected a condition");
	refuse("signals[sig==9", "&& or ] is missing");
	assert_null(tracepoint_preset_find("signal", 6));
	assert_null(tracepoint_preset_find("signalss", 8));
	assert_null(tracepoint_preset_find("", 0));
}

/* Members of sets are names of tracepoints, without wildcards. */
TEST(test_preset_members)
{
	for (const struct tracepoint_preset *p = tracepoint_presets; p->name; p++) {
		assert_non_null(p->members[0]);
		for (const char *const *member = p->members; *member; member++) {
			take(*member);
			assert_null(spec.preset);
			assert_false(tracepoint_spec_is_pattern(&spec));
		}
	}
}

TEST(test_long_names)
{
	char text[2 * TRACEPOINT_NAME_MAX + 8];

	for (int n = TRACEPOINT_NAME_MAX - 1; n <= TRACEPOINT_NAME_MAX; n++) {
		snprintf(text, sizeof(text), "%0*d:x", n, 1);
		if (n < TRACEPOINT_NAME_MAX)
			take(text);
		else
			refuse(text, "the system is longer than 95 bytes");
	}
}

TEST(test_conditions)
{
	static const struct {
		const char *text;
		uint8_t op;
		bool is_negative;
		uint64_t value;
	} rows[] = {
		{ "a:b[x==0]", CALL_OP_EQ, false, 0 },
		{ "a:b[ x != 0x10 ]", CALL_OP_NE, false, 16 },
		{ "a:b[x<-1]", CALL_OP_LT, true, UINT64_MAX },
		{ "a:b[x<=-0]", CALL_OP_LE, false, 0 },
		{ "a:b[x>18446744073709551615]", CALL_OP_GT, false, UINT64_MAX },
		{ "a:b[x>=-9223372036854775808]", CALL_OP_GE, true, (uint64_t)INT64_MIN },
		{ "a:b[x&4]", CALL_OP_AND, false, 4 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		take(rows[i].text);
		assert_int_equal(spec.n_conditions, 1);
		assert_string_equal(spec.conditions[0].field, "x");
		assert_int_equal(spec.conditions[0].op, rows[i].op);
		assert_int_equal(spec.conditions[0].is_negative, rows[i].is_negative);
		assert_int_equal(spec.conditions[0].value, rows[i].value);
		assert_false(spec.conditions[0].is_text);
	}
	take("a:b[x==1&&y&2 && comm==\"a, ]b\" && z!=\"\"]");
	assert_int_equal(spec.n_conditions, 4);
	assert_string_equal(spec.conditions[1].field, "y");
	assert_int_equal(spec.conditions[1].op, CALL_OP_AND);
	assert_true(spec.conditions[2].is_text);
	assert_string_equal(spec.conditions[2].text, "a, ]b");
	assert_int_equal(spec.conditions[3].op, CALL_OP_NE);
	assert_string_equal(spec.conditions[3].text, "");
}

TEST(test_wrong_conditions)
{
	char text[256];

	refuse("a:b[]", "a field is missing");
	refuse("a:b[x]", "one of == != < <= > >= & is missing");
	refuse("a:b[x=1]", "one of == != < <= > >= & is missing");
	refuse("a:b[x&&y==1]", "one of == != < <= > >= & is missing");
	refuse("a:b[x==]", "a number, or a text");
	refuse("a:b[x==one]", "a number, or a text");
	refuse("a:b[x==1z]", "unexpected character");
	refuse("a:b[x==18446744073709551616]", "too large");
	refuse("a:b[x==-9223372036854775809]", "too large");
	refuse("a:b[x==1", "&& or ] is missing");
	refuse("a:b[x==1&&]", "a field is missing");
	refuse("a:b[x==1]c", "expected a condition in brackets, or the end");
	refuse("a:b[x==\"y]", "the end of the text");
	refuse("a:b[x<\"y\"]", "only be compared with == and !=");
	refuse("a:b[x==1&&x==1&&x==1&&x==1&&x==1]", "at most 4 conditions");
	snprintf(text, sizeof(text), "a:b[x==\"%0*d\"]", TRACEPOINT_TEXT_BYTES - 2, 1);
	take(text);
	snprintf(text, sizeof(text), "a:b[x==\"%0*d\"]", TRACEPOINT_TEXT_BYTES - 1, 1);
	refuse(text, "longer than 62 bytes");
}

TEST(test_lists)
{
	assert_int_equal(tracepoint_spec_word(""), 0);
	assert_int_equal(tracepoint_spec_word("sched,irq"), 5);
	assert_int_equal(tracepoint_spec_word("tp:a:b[x==\"1,]\"],irq"), 16);
	/* (the text does not end; the parser says so) */
	assert_int_equal(tracepoint_spec_word("tp:a:b[x==\"1,]"), 14);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),          cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_conditions),     cmocka_unit_test(test_wrong_conditions),
		cmocka_unit_test(test_lists),          cmocka_unit_test(test_presets),
		cmocka_unit_test(test_preset_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
