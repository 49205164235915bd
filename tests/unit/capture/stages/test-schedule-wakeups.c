/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wakeups that come before the switch-out of their thread, and false ones.
 */
#include <string.h>

#include "tests/support/fixtures/schedule-script.h"
#include "tests/support/unit.h"

/* ---- wakeups that overtake the switch-out ---- */

TEST(test_wakeup_held)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "130 cpu0 5>0 blocked\n"
	     "130 wake 5 @0 by 7\n"
	     "140 cpu0 0>5 running\n",
	     OPEN(0, 5), WAKE_BY(120, 5, 0, 7), SWITCH(130, 0, 5, 0, BLOCKED),
	     SWITCH(140, 0, 0, 5, READY));
	assert_int_equal(f->s.n_events, 3);
	assert_int_equal(f->s.n_dismissed, 0);
	assert_wakeups_accounted(f);
}

TEST(test_wakeup_held_stopped)
{
	TELL(*state, "100 cpu0 0>5 running *\n130 cpu0 5>0 suspended\n130 wake 5 @0\n", OPEN(0, 5),
	     WAKE(120, 5, 0), SWITCH(130, 0, 5, 0, STOPPED));
}

/* It was switched out, but not to sleep. */
TEST(test_wakeup_held_for_nothing)
{
	struct fixture *f = *state;

	TELL(f, "100 cpu0 0>5 running *\n130 cpu0 5>6 running\n150 cpu0 6>5 dead\n", OPEN(0, 5),
	     WAKE(120, 5, 0), SWITCH(130, 0, 5, 6, READY), WAKE(140, 6, 0),
	     SWITCH(150, 0, 6, 5, DEAD));
	assert_int_equal(f->s.n_dismissed, 2);
	assert_wakeups_accounted(f);
}

/* A certain wakeup is not replaced by an uncertain one; otherwise, the later one counts. */
TEST(test_wakeup_held_two)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "130 cpu0 5>6 blocked\n"
	     "130 wake 5 @0 by 7\n"
	     "160 cpu0 6>5 blocked\n"
	     "160 wake 6 @0 by 7\n"
	     "190 cpu0 5>6 blocked\n"
	     "190 wake 5 @0 by 8\n",
	     OPEN(0, 5), //
	     WAKE_BY(120, 5, 0, 7), MAYBE_BY(125, 5, 0, 8), SWITCH(130, 0, 5, 6, BLOCKED),
	     MAYBE_BY(150, 6, 0, 8), WAKE_BY(155, 6, 0, 7), SWITCH(160, 0, 6, 5, BLOCKED),
	     WAKE_BY(170, 5, 0, 7), WAKE_BY(180, 5, 0, 8), SWITCH(190, 0, 5, 6, BLOCKED));
	assert_int_equal(f->s.n_dismissed, 3);
	assert_wakeups_accounted(f);
}

/* A wakeup is held only for a thread that runs on its last CPU, since it cannot run elsewhere. */
TEST(test_wakeup_not_held)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n120 cpu0 5>0 blocked *\n120 wake 5 @1\n"
	     "121 wake 6 @0\n122 wake 5 @65535\n"
	     "123 wake 7 @3\n",
	     OPEN(0, 5), WAKE(120, 5, 1), WAKE(121, 6, 0), WAKE(122, 5, 65535), WAKE(123, 7, 3));
	assert_wakeups_accounted(f);
}

/* ---- wakeups of a thread that is still on its run queue ---- */

TEST(test_wakeup_maybe_runnable)
{
	struct fixture *f = *state;

	TELL(f, "100 cpu0 0>5 running *\n130 cpu0 5>6 running\n", OPEN(0, 5), MAYBE(120, 6, 0),
	     SWITCH(130, 0, 5, 6, READY), MAYBE(140, 5, 0));
	assert_int_equal(f->s.n_dismissed, 2);
}

TEST(test_wakeup_maybe_preempted)
{
	struct fixture *f = *state;

	TELL(f, "100 cpu0 0>5 running *\n130 cpu0 5>6 running\n140 cpu0 6>5 blocked\n", OPEN(0, 5),
	     MAYBE(120, 5, 0), SWITCH(130, 0, 5, 6, READY), SWITCH(140, 0, 6, 5, BLOCKED));
	assert_int_equal(f->s.n_dismissed, 1);
}

/* It blocked, and is switched in without another wakeup: so it was one. */
TEST(test_wakeup_maybe_real)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "100 cpu1 0>0 running *\n"
	     "130 cpu0 5>6 blocked\n"
	     "130 wake 5 @0 by 7\n"
	     "150 cpu1 0>5 running\n",
	     OPEN(0, 5), OPEN(1, 0), MAYBE_BY(120, 5, 0, 7), SWITCH(130, 0, 5, 6, BLOCKED),
	     SWITCH(150, 1, 0, 5, READY));
	assert_int_equal(f->s.n_dismissed, 0);
	assert_wakeups_accounted(f);
}

/* It blocked, and another wakeup comes: that is the real one. */
TEST(test_wakeup_maybe_superseded)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "130 cpu0 5>6 blocked\n"
	     "140 wake 5 @0 by 8\n"
	     "150 cpu0 6>5 blocked\n",
	     OPEN(0, 5), MAYBE_BY(120, 5, 0, 7), SWITCH(130, 0, 5, 6, BLOCKED),
	     WAKE_BY(140, 5, 0, 8), SWITCH(150, 0, 6, 5, BLOCKED));
	assert_int_equal(f->s.n_dismissed, 1);
	assert_wakeups_accounted(f);
}

/* It sleeps, although it was on its run queue: a delayed dequeue. */
TEST(test_wakeup_maybe_asleep)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "130 cpu0 5>6 blocked\n"
	     "140 wake 5 @0 by 8\n"
	     "150 cpu0 6>5 blocked\n",
	     OPEN(0, 5), SWITCH(130, 0, 5, 6, BLOCKED), MAYBE_BY(140, 5, 0, 8),
	     MAYBE_BY(145, 5, 0, 9), SWITCH(150, 0, 6, 5, BLOCKED));
	assert_int_equal(f->s.n_dismissed, 1);
	assert_wakeups_accounted(f);
}

/* Two uncertain ones for one wakeup: the later one. */
TEST(test_wakeup_maybe_twice)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "130 cpu0 5>6 blocked\n"
	     "140 wake 5 @0 by 8\n"
	     "150 cpu0 6>5 blocked\n",
	     OPEN(0, 5), MAYBE_BY(120, 5, 0, 7), SWITCH(130, 0, 5, 6, BLOCKED),
	     MAYBE_BY(140, 5, 0, 8), SWITCH(150, 0, 6, 5, BLOCKED));
	assert_int_equal(f->s.n_dismissed, 1);
	assert_wakeups_accounted(f);
}

TEST(test_wakeup_maybe_died)
{
	struct fixture *f = *state;

	TELL(f, "100 cpu0 0>5 running *\n130 cpu0 5>6 dead\n", OPEN(0, 5), MAYBE(120, 5, 0),
	     SWITCH(130, 0, 5, 6, DEAD));
	assert_int_equal(f->s.n_dismissed, 1);
}

/* No further record of the thread. */
TEST(test_wakeup_maybe_at_end)
{
	struct fixture *f = *state;

	TELL(f, "100 cpu0 0>5 running *\n130 cpu0 5>6 blocked\n200 cpu0 6>0 running *\n",
	     OPEN(0, 5), MAYBE(120, 5, 0), SWITCH(130, 0, 5, 6, BLOCKED), MAYBE(140, 6, 0),
	     CLOSE(200));
	assert_int_equal(f->s.n_dismissed, 2);
	assert_wakeups_accounted(f);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, script_set_up, script_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_wakeup_held),
		CASE(test_wakeup_held_stopped),
		CASE(test_wakeup_held_for_nothing),
		CASE(test_wakeup_held_two),
		CASE(test_wakeup_not_held),
		CASE(test_wakeup_maybe_runnable),
		CASE(test_wakeup_maybe_preempted),
		CASE(test_wakeup_maybe_real),
		CASE(test_wakeup_maybe_superseded),
		CASE(test_wakeup_maybe_asleep),
		CASE(test_wakeup_maybe_twice),
		CASE(test_wakeup_maybe_died),
		CASE(test_wakeup_maybe_at_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
