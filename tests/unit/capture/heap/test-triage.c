/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "capture/heap/triage.h"
#include "tests/support/unit.h"

static const struct triage_options options = {
	.need = 3,
	.of = 4,
	.armed_max = 2,
	.min_bytes = 100,
	.min_fds = 1,
};

static char said[256];

static bool say(uint32_t pid, bool trace, void *userdata)
{
	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s%u ", trace ? "+" : "-", pid);
	return pid != 13 || userdata;
}

/*
 * One letter per window: g grows by 100 bytes, h by 50, f by a descriptor, d falls by 1000, '.' is
 * constant, x does not exist.
 */
static void run(const char *const *series, size_t n, const char *expected)
{
	_cleanup_(triage_freep) struct triage *t = NULL;
	uint64_t bytes[8], fds[8];

	said[0] = '\0';
	assert_int_equal(triage_new(&options, &t), 0);
	for (size_t i = 0; i < n; i++) {
		bytes[i] = 10000;
		fds[i] = 3;
	}
	for (size_t w = 0; series[0][w]; w++) {
		for (size_t i = 0; i < n; i++) {
			char step = series[i][w];

			bytes[i] += step == 'g' ? 100 * (i + 1) : step == 'h' ? 50 : 0;
			bytes[i] -= step == 'd' ? 1000 : 0;
			fds[i] += step == 'f';
			if (step != 'x')
				triage_add(t, &(struct triage_sample){ .pid = (uint32_t)i + 10,
								       .bytes = bytes[i],
								       .fds = fds[i] });
		}
		triage_decide(t, say, NULL);
		strcat(said, "|");
	}
	assert_string_equal(said, expected);
}

#define RUN(expected, ...)                                                                         \
	run((const char *const[]){ __VA_ARGS__ },                                                  \
	    sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *), expected)

TEST(test_one)
{
	RUN("|||||", ".....");
	/* The first window has no growth. */
	RUN("||||", "gg.g");
	RUN("|||+10 |", ".ggg");
	RUN("||||+10 |", ".gg.g");
	RUN("|||||||", ".gg..gg");
	/* Until it has not grown in four windows. */
	RUN("|||+10 ||||-10 ||", ".ggg.....");
	RUN("|||+10 |||||", ".ggg...g");
}

TEST(test_new_heights_only)
{
	/* Up and down. */
	RUN("|||||||||", ".gdgdgdgd");
	/* A return to an earlier size is no growth. */
	RUN("|||||||||", ".dggggggg");
	/* Slowly: every other window, there is enough. */
	RUN("|||||||", ".hhhhhh");
	RUN("|||+10 |", ".fff");
	RUN("|||+10 |", ".fgf");
}

TEST(test_several)
{
	/* The fastest ones, as many as allowed. */
	RUN("|||+12 +11 |", ".ggg", ".ggg", ".ggg");
	/* One has ended, which makes room for the next. */
	RUN("|||+12 +11 |-12 +10 |", ".gggg", ".gggg", ".gggx");
	RUN("|||+11 ||||-11 ||", ".........", ".ggg.....", ".........");
}

/* A process that cannot be traced takes no place, and is not tried each time. */
TEST(test_refused)
{
	RUN("|||+13 +12 +11 ||", ".ggg.", ".ggg.", ".ggg.", ".gggg");
}

TEST(test_proc)
{
	_cleanup_(triage_freep) struct triage *t = NULL;

	said[0] = '\0';
	assert_int_equal(triage_new(&options, &t), 0);
	assert_true(triage_scan(t, "") > 0);
	triage_decide(t, say, NULL);
	assert_string_equal(said, "");
	assert_true(triage_scan(t, "/nowhere") < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one),     cmocka_unit_test(test_new_heights_only),
		cmocka_unit_test(test_several), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_proc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
