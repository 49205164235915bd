/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a recording without events means that there were none.
 */
#include <string.h>

#include "cli/common/verb.h"
#include "cli/record/nothing-recorded.h"
#include "tests/support/unit.h"

static const struct session_view all = { .has_events_of = true };

TEST(test_certain)
{
	struct session_view v = all;

	assert_true(nothing_recorded_is_certain(&v));
	v.counters.events_of[GROUP_CALLS] = 3;
	assert_true(nothing_recorded_is_certain(&v));
	/* (an older service does not say which events it recorded) */
	v.has_events_of = false;
	assert_false(nothing_recorded_is_certain(&v));
	v = all;
	v.n_sheds = 1;
	assert_false(nothing_recorded_is_certain(&v));
	/* a part that was stopped and goes on */
	v = all;
	v.n_steps = 1;
	assert_false(nothing_recorded_is_certain(&v));
	v = all;
	strcpy(v.error, "the output failed");
	assert_false(nothing_recorded_is_certain(&v));
}

/* A loss of any class can be the loss of the events that are missing. */
TEST(test_lost)
{
	for (size_t i = 0; i < CLASS_MAX; i++) {
		struct session_view v = all;

		v.counters.lost[i] = 1;
		assert_false(nothing_recorded_is_certain(&v));
	}
}

/* Uncertainty is no error: the loss has been reported. */
TEST(test_complaint)
{
	struct recording_request asked = { .categories = CATEGORY_CALLS, .of_command = true };
	struct session_view v = all;
	uint32_t pid = 1;

	asked.pids = &pid;
	asked.n_pids = 1;
	assert_int_equal(nothing_recorded_complain(&asked, &v, "test"), CLI_DAMAGE);
	v.n_sheds = 1;
	assert_int_equal(nothing_recorded_complain(&asked, &v, "test"), CLI_OK);
	v.n_sheds = 0;
	v.counters.events_of[GROUP_CALLS] = 1;
	assert_int_equal(nothing_recorded_complain(&asked, &v, "test"), CLI_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_certain),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_complaint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
