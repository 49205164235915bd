/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Missing switches: the kernel did not report them, or they were lost.
 */
#include <string.h>

#include "tests/support/fixtures/schedule-script.h"
#include "tests/support/unit.h"

/* ---- switches that the kernel did not report ---- */

/*
 * Whether it sleeps or waits is unknown. It most likely sleeps, so it must not be shown as waiting.
 */
TEST(test_mend)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "130 cpu0 5>0 blocked *\n"
	     "130 cpu0 0>7 running *\n"
	     "130 cpu0 7>6 blocked\n",
	     OPEN(0, 5), SWITCH(130, 0, 7, 6, BLOCKED));
	assert_int_equal(f->s.n_unreported, 1);
	assert_int_equal(f->s.n_events, 1);
}

TEST(test_mend_idle)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>0 running *\n"
	     "130 cpu0 0>7 running *\n"
	     "130 cpu0 7>0 blocked\n"
	     "140 cpu0 0>5 running\n"
	     "150 cpu0 5>0 blocked *\n"
	     "150 cpu0 0>6 running\n",
	     OPEN(0, 0), SWITCH(130, 0, 7, 0, BLOCKED), SWITCH(140, 0, 0, 5, READY),
	     SWITCH(150, 0, 0, 6, READY));
	assert_int_equal(f->s.n_unreported, 2);
}

/* A CPU without any switch, or that came online later. */
TEST(test_mend_unknown_cpu)
{
	struct fixture *f = *state;

	TELL(f,
	     "130 cpu2 0>7 running *\n"
	     "130 cpu2 7>6 blocked\n"
	     "140 cpu3 0>5 running\n",
	     SWITCH(130, 2, 7, 6, BLOCKED), SWITCH(140, 3, 0, 5, READY));
	assert_int_equal(f->s.n_unreported, 0);
}

/* The waiting wakeup shows when it was asleep at the latest. */
TEST(test_mend_held)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "120 cpu0 5>0 blocked *\n"
	     "120 wake 5 @0 by 7\n"
	     "130 cpu0 0>7 running *\n"
	     "130 cpu0 7>6 blocked\n",
	     OPEN(0, 5), WAKE_BY(120, 5, 0, 7), SWITCH(130, 0, 7, 6, BLOCKED));
	assert_int_equal(f->s.n_unreported, 1);
	assert_int_equal(f->s.n_dismissed, 0);
	assert_wakeups_accounted(f);
}

TEST(test_mend_held_maybe)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "130 cpu0 5>0 blocked *\n"
	     "130 cpu0 0>7 running *\n"
	     "130 cpu0 7>6 blocked\n",
	     OPEN(0, 5), MAYBE_BY(120, 5, 0, 7), SWITCH(130, 0, 7, 6, BLOCKED));
	assert_int_equal(f->s.n_dismissed, 1);
	assert_wakeups_accounted(f);
}

/* With a filter, threads can become visible or invisible while they run. */
TEST(test_mend_filtered)
{
	struct fixture *f = *state;

	f->pipe.filtered = f->pipe.reselects = true;
	TELL(f,
	     "100 cpu0 0>4325376 running *\n"
	     "130 cpu0 4325376>0 running *\n"
	     "130 cpu0 0>7 running *\n"
	     "130 cpu0 7>4325376 blocked\n",
	     OPEN(0, FXT_KOID_OTHER), SWITCH(130, 0, 7, FXT_KOID_OTHER, BLOCKED));
	assert_int_equal(f->s.n_unreported, 0);
}

/*
 * With a filter by pid, threads stay selected. Only the begin of the recording can show another
 * thread than the one that ran.
 */
TEST(test_mend_filtered_by_pid)
{
	struct fixture *f = *state;

	f->pipe.filtered = true;
	TELL(f,
	     "100 cpu0 0>4325376 running *\n"
	     "130 cpu0 4325376>0 running *\n"
	     "130 cpu0 0>7 running *\n"
	     "130 cpu0 7>4325376 blocked\n"
	     "150 cpu0 4325376>0 running *\n"
	     "150 cpu0 0>7 running *\n"
	     "150 cpu0 7>4325376 blocked\n",
	     OPEN(0, FXT_KOID_OTHER), SWITCH(130, 0, 7, FXT_KOID_OTHER, BLOCKED),
	     SWITCH(150, 0, 7, FXT_KOID_OTHER, BLOCKED));
	assert_int_equal(f->s.n_unreported, 1);
}

/*
 * With other filters, the program tells a hidden switch from a thread that became selected.
 */
TEST(test_mend_filtered_by_name)
{
	struct fixture *f = *state;

	f->pipe.filtered = f->pipe.reselects = true;
	TELL(f,
	     "100 cpu0 0>4325376 running *\n"
	     "130 cpu0 4325376>0 running *\n"
	     "130 cpu0 0>7 running *\n"
	     "130 cpu0 7>4325376 blocked\n"
	     "140 cpu0 4325376>0 running *\n"
	     "140 cpu0 0>8 running *\n"
	     "140 cpu0 8>4325376 blocked\n"
	     "150 cpu0 4325376>0 running *\n"
	     "150 cpu0 0>7 running *\n"
	     "150 cpu0 7>4325376 blocked\n",
	     OPEN(0, FXT_KOID_OTHER), SWITCH_HIDDEN(130, 0, 7, FXT_KOID_OTHER, BLOCKED),
	     SWITCH(140, 0, 8, FXT_KOID_OTHER, BLOCKED),
	     SWITCH_HIDDEN(150, 0, 7, FXT_KOID_OTHER, BLOCKED));
	assert_int_equal(f->s.n_unreported, 1); /* the thread that runs at the start is unknown */
}

/* A thread that is shown cannot leave its CPU without a switch, even if it leaves the filter. */
TEST(test_mend_filtered_elsewhere)
{
	struct fixture *f = *state;

	f->pipe.filtered = f->pipe.reselects = true;
	TELL(f,
	     "100 cpu0 0>4325376 running *\n"
	     "110 cpu0 4325376>5 running\n"
	     "130 cpu0 5>0 running *\n"
	     "130 move 5 0>1\n"
	     "140 cpu1 0>5 running *\n"
	     "140 cpu1 5>4325377 running\n",
	     OPEN(0, FXT_KOID_OTHER), SWITCH(110, 0, FXT_KOID_OTHER, 5, READY), MOVE(130, 5, 0, 1),
	     SWITCH(140, 1, 5, FXT_KOID_OTHER + 1, READY));
	assert_int_equal(f->s.n_unreported, 1);
}

/* A switch between threads that are not selected shows that a selected thread is gone. */
TEST(test_mend_filtered_gone)
{
	struct fixture *f = *state;

	f->pipe.filtered = f->pipe.reselects = true;
	TELL(f,
	     "100 cpu0 0>4325376 running *\n"
	     "110 cpu0 4325376>5 running\n"
	     "130 cpu0 5>0 blocked *\n"
	     "130 cpu0 0>4325376 running *\n"
	     "140 cpu0 4325376>6 running\n",
	     OPEN(0, FXT_KOID_OTHER), SWITCH(110, 0, FXT_KOID_OTHER, 5, READY),
	     SWITCH_HIDDEN(130, 0, FXT_KOID_OTHER, FXT_KOID_OTHER, READY),
	     SWITCH(140, 0, FXT_KOID_OTHER, 6, READY));
	assert_int_equal(f->s.n_unreported, 1);
}

/* A woken thread can run while it is not selected. */
TEST(test_wake_again_filtered)
{
	struct fixture *f = *state;

	f->pipe.filtered = f->pipe.reselects = true;
	script_play(f,
		    (const struct step[]){
			    OPEN(0, FXT_KOID_OTHER),
			    SWITCH(110, 0, FXT_KOID_OTHER, 6, READY),
			    SWITCH(115, 0, 6, FXT_KOID_OTHER, BLOCKED),
			    WAKE(120, 5, 0),
			    WAKE(140, 5, 0),
		    },
		    5);
	assert_int_equal(f->s.n_unreported, 0);
	f->pipe.reselects = false;
	script_play(f, (const struct step[]){ WAKE(150, 6, 0), WAKE(160, 6, 0) }, 2);
	assert_int_equal(f->s.n_unreported, 1);
}

/* A migrating thread does not run. */
TEST(test_migrate_closes)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "130 cpu0 5>0 running *\n"
	     "130 move 5 0>1\n"
	     "140 cpu1 0>5 running\n"
	     "150 cpu0 0>6 running\n",
	     OPEN(0, 5), MOVE(130, 5, 0, 1), SWITCH(140, 1, 0, 5, READY),
	     SWITCH(150, 0, 0, 6, READY));
	assert_int_equal(f->s.n_unreported, 1);
}

TEST(test_migrate_closes_held)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "120 cpu0 5>0 blocked *\n"
	     "120 wake 5 @0\n"
	     "130 move 5 0>1\n",
	     OPEN(0, 5), WAKE(120, 5, 0), MOVE(130, 5, 0, 1));
	assert_int_equal(f->s.n_unreported, 1);
	assert_wakeups_accounted(f);
}

TEST(test_migrate_of_another)
{
	struct fixture *f = *state;

	TELL(f, "100 cpu0 0>5 running *\n130 move 6 0>1\n131 move 5 1>2\n132 move 5 65535>0\n",
	     OPEN(0, 5), MOVE(130, 6, 0, 1), MOVE(131, 5, 1, 2), MOVE(132, 5, 65535, 0));
	assert_int_equal(f->s.n_unreported, 0);
}

/*
 * A thread that comes to a CPU leaves all others: by a switch, at the end of a loss, or by an added
 * switch.
 */
TEST(test_elsewhere)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "100 cpu1 0>6 running *\n"
	     "130 cpu0 5>0 running *\n"
	     "130 cpu1 6>5 running\n"
	     "140 cpu1 5>0 running *\n"
	     "140 cpu2 0>5 running *\n"
	     "140 cpu2 5>6 blocked\n"
	     "150 cpu2 6>0 running *\n"
	     "150 cpu3 0>6 running *\n",
	     OPEN(0, 5), OPEN(1, 6), SWITCH(130, 1, 6, 5, READY), SWITCH(140, 2, 5, 6, BLOCKED),
	     LOSS_END(145, 3, 150, 6));
	assert_int_equal(f->s.n_unreported, 3);
}

TEST(test_elsewhere_held)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "120 cpu0 5>0 blocked *\n"
	     "120 wake 5 @0 by 7\n"
	     "130 cpu1 0>5 running\n",
	     OPEN(0, 5), WAKE_BY(120, 5, 0, 7), SWITCH(130, 1, 0, 5, READY));
	assert_int_equal(f->s.n_unreported, 1);
	assert_wakeups_accounted(f);
}

/* A sleeper runs nowhere, in particular not on a CPU other than its last. */
TEST(test_elsewhere_woken)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "130 cpu0 5>0 blocked *\n"
	     "130 wake 5 @1 by 7\n"
	     "140 cpu0 0>5 running\n",
	     OPEN(0, 5), MAYBE_BY(120, 5, 1, 7), WAKE_BY(130, 5, 1, 7),
	     SWITCH(140, 0, 0, 5, READY));
	assert_int_equal(f->s.n_unreported, 1);
	assert_int_equal(f->s.n_dismissed, 1);
	assert_wakeups_accounted(f);
}

/* A thread becomes invisible to a filter on one CPU, and visible on another. */
TEST(test_elsewhere_filtered)
{
	struct fixture *f = *state;

	f->pipe.filtered = true;
	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "100 cpu1 0>4325376 running *\n"
	     "130 cpu0 5>0 running *\n"
	     "130 cpu1 4325376>5 running\n",
	     OPEN(0, 5), OPEN(1, FXT_KOID_OTHER), SWITCH(130, 1, FXT_KOID_OTHER, 5, READY));
	assert_int_equal(f->s.n_unreported, 0);
}

/* ---- a run that was missed completely ---- */

/* The next wakeup shows it: here the thread is switched out right then, and that is reported. */
TEST(test_woken_again)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "110 cpu0 5>6 blocked\n"
	     "120 wake 5 @0 by 7\n"
	     "130 cpu0 6>0 blocked *\n"
	     "130 cpu0 0>5 running *\n"
	     "140 cpu0 5>6 blocked\n"
	     "140 wake 5 @0 by 8\n",
	     OPEN(0, 5), SWITCH(110, 0, 5, 6, BLOCKED), WAKE_BY(120, 5, 0, 7),
	     WAKE_BY(130, 5, 0, 8), SWITCH(140, 0, 5, 6, BLOCKED));
	assert_int_equal(f->s.n_unreported, 1);
	assert_wakeups_accounted(f);
}

/* Here it had been switched out by then. */
TEST(test_woken_again_off)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "110 cpu0 5>6 blocked\n"
	     "120 wake 5 @0 by 7\n"
	     "130 cpu0 6>0 blocked *\n"
	     "130 cpu0 0>5 running *\n"
	     "130 cpu0 5>0 blocked *\n"
	     "130 wake 5 @0 by 8\n"
	     "140 cpu0 0>6 running *\n"
	     "140 cpu0 6>5 running\n",
	     OPEN(0, 5), SWITCH(110, 0, 5, 6, BLOCKED), WAKE_BY(120, 5, 0, 7),
	     WAKE_BY(130, 5, 0, 8), SWITCH(140, 0, 6, 5, READY));
	assert_wakeups_accounted(f);
}

/* A duplicate wakeup shows none, and the place of the sleep is unknown. */
TEST(test_woken_again_not)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "110 cpu0 5>6 blocked\n"
	     "120 wake 5 @0 by 7\n"
	     "140 cpu0 6>5 blocked\n"
	     "150 cpu0 5>0 blocked\n"
	     "160 wake 5 @2 by 7\n"
	     "170 wake 5 @2 by 7\n",
	     OPEN(0, 5), SWITCH(110, 0, 5, 6, BLOCKED), WAKE_BY(120, 5, 0, 7),
	     MAYBE_BY(130, 5, 0, 8), SWITCH(140, 0, 6, 5, BLOCKED), SWITCH(150, 0, 5, 0, BLOCKED),
	     WAKE_BY(160, 5, 2, 7), WAKE_BY(170, 5, 2, 7));
	assert_int_equal(f->s.n_unreported, 0);
	assert_wakeups_accounted(f);
}

/* During and after a loss on that CPU, its run may have been among the lost records. */
TEST(test_woken_again_lost)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>6 running *\n"
	     "110 lost sched cpu0 3 110..150\n"
	     "110 cpu0 6>0 running *\n"
	     "120 wake 5 @0 by 7\n"
	     "130 wake 5 @0 by 7\n"
	     "150 cpu0 0>6 running *\n"
	     "155 wake 8 @0 by 7\n"
	     "160 lost sched cpu1 3 160..170\n"
	     "170 cpu1 0>9 running *\n"
	     "180 wake 8 @0 by 7\n",
	     OPEN(0, 6), LOSS(110, 0, 150, 3), WAKE_BY(120, 5, 0, 7), WAKE_BY(130, 5, 0, 7),
	     LOSS_END(110, 0, 150, 6), WAKE_BY(155, 8, 0, 7), LOSS(160, 1, 170, 3),
	     LOSS_END(160, 1, 170, 9), WAKE_BY(180, 8, 0, 7));
	assert_int_equal(f->s.n_unreported, 0);
	assert_wakeups_accounted(f);
}

/* ---- losses ---- */

TEST(test_loss)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "130 lost sched cpu0 3 130..150\n"
	     "130 cpu0 5>0 running *\n"
	     "150 cpu0 0>7 running *\n"
	     "160 cpu0 7>6 blocked\n",
	     OPEN(0, 5), LOSS(130, 0, 150, 3), LOSS_END(130, 0, 150, 7),
	     SWITCH(160, 0, 7, 6, BLOCKED));
	assert_int_equal(f->s.lost, 3);
	assert_int_equal(f->s.n_unreported, 0);
}

TEST(test_loss_idle)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>0 running *\n"
	     "130 lost sched cpu0 3 130..150\n"
	     "160 cpu0 0>6 running\n",
	     OPEN(0, 0), LOSS(130, 0, 150, 3), LOSS_END(130, 0, 150, 0),
	     SWITCH(160, 0, 0, 6, READY));
	assert_int_equal(f->s.n_unreported, 0);
}

/* Other CPUs continue, between its begin and its end. */
TEST(test_loss_meanwhile)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "100 cpu1 0>6 running *\n"
	     "130 lost sched cpu0 1 130..150\n"
	     "130 cpu0 5>0 running *\n"
	     "140 cpu1 6>8 blocked\n"
	     "150 cpu0 0>5 running *\n",
	     OPEN(0, 5), OPEN(1, 6), LOSS(130, 0, 150, 1), SWITCH(140, 1, 6, 8, BLOCKED),
	     LOSS_END(130, 0, 150, 5));
}

/*
 * The mark of a loss comes when there is room for it. By then, another CPU has shown that the
 * thread no longer runs here: later records of this CPU are newer than that.
 */
TEST(test_loss_reported_late)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "100 cpu1 0>6 running *\n"
	     "140 cpu0 5>0 running *\n"
	     "140 cpu1 6>5 blocked\n"
	     "140 lost sched cpu0 3 130..150\n"
	     "150 cpu0 0>7 running *\n",
	     OPEN(0, 5), OPEN(1, 6), SWITCH(140, 1, 6, 5, BLOCKED), LOSS(130, 0, 150, 3),
	     LOSS_END(130, 0, 150, 7));
	assert_int_equal(f->s.cpus[0].opened_ns, 150);
}

TEST(test_loss_unknown_cpu)
{
	struct fixture *f = *state;

	TELL(f, "130 lost sched cpu2 1 130..150\n150 cpu2 0>5 running *\n", LOSS(130, 2, 150, 1),
	     LOSS_END(130, 2, 150, 5));
	assert_true(f->s.cpus[2].known);
}

/* A loss that began before the recording, and losses outside of it. */
TEST(test_loss_outside)
{
	struct fixture *f = *state;

	f->pipe.to_ns = 200;
	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "100 lost sched cpu0 4 50..120\n"
	     "100 cpu0 5>0 running *\n"
	     "120 cpu0 0>6 running *\n"
	     "190 lost sched cpu0 2 190..210\n"
	     "190 cpu0 6>0 running *\n"
	     "200 cpu0 0>0 running *\n",
	     OPEN(0, 5), LOSS(40, 0, 100, 9), LOSS_END(40, 0, 100, 9), //
	     LOSS(50, 0, 120, 4), LOSS_END(50, 0, 120, 6),             //
	     LOSS(190, 0, 210, 2), LOSS_END(190, 0, 210, 7),           //
	     LOSS(201, 0, 220, 9), LOSS_END(201, 0, 220, 9), CLOSE(200));
	assert_int_equal(f->s.lost, 6);
}

/* The switch-out was lost. The wakeup is still recorded. */
TEST(test_loss_held)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "130 lost sched cpu0 1 130..150\n"
	     "130 cpu0 5>0 blocked *\n"
	     "130 wake 5 @0 by 7\n"
	     "150 cpu0 0>5 running *\n",
	     OPEN(0, 5), WAKE_BY(120, 5, 0, 7), LOSS(130, 0, 150, 1), LOSS_END(130, 0, 150, 5));
	assert_wakeups_accounted(f);
}

TEST(test_loss_held_maybe)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "130 lost sched cpu0 1 130..150\n"
	     "130 cpu0 5>0 running *\n"
	     "150 cpu0 0>5 running *\n"
	     "160 cpu0 5>0 blocked\n",
	     OPEN(0, 5), MAYBE(120, 5, 0), LOSS(130, 0, 150, 1), LOSS_END(130, 0, 150, 5),
	     SWITCH(160, 0, 5, 0, BLOCKED));
	assert_int_equal(f->s.n_dismissed, 1);
	assert_wakeups_accounted(f);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, script_set_up, script_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_mend),
		CASE(test_mend_idle),
		CASE(test_mend_unknown_cpu),
		CASE(test_mend_held),
		CASE(test_mend_held_maybe),
		CASE(test_mend_filtered),
		CASE(test_mend_filtered_by_pid),
		CASE(test_mend_filtered_by_name),
		CASE(test_mend_filtered_elsewhere),
		CASE(test_mend_filtered_gone),
		CASE(test_wake_again_filtered),
		CASE(test_migrate_closes),
		CASE(test_migrate_closes_held),
		CASE(test_migrate_of_another),
		CASE(test_elsewhere),
		CASE(test_elsewhere_held),
		CASE(test_elsewhere_woken),
		CASE(test_elsewhere_filtered),
		CASE(test_woken_again),
		CASE(test_woken_again_off),
		CASE(test_woken_again_not),
		CASE(test_woken_again_lost),
		CASE(test_loss),
		CASE(test_loss_idle),
		CASE(test_loss_meanwhile),
		CASE(test_loss_reported_late),
		CASE(test_loss_unknown_cpu),
		CASE(test_loss_outside),
		CASE(test_loss_held),
		CASE(test_loss_held_maybe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
