/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Owners of ids: ids that change or have several owners, and announcements.
 */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/schedule-script.h"
#include "tests/support/unit.h"

/* ---- a thread takes over the id of its process ---- */

static void know(struct fixture *f, uint32_t pid, uint32_t tid)
{
	const struct rec_identity id = { .start_ns = 1, .pid = pid, .tid = tid, .comm = "a" };

	assert_int_equal(tasks_update(&f->tasks, &id, false), 0);
	tasks_set_announced(&f->tasks, tid);
}

TEST(test_renumber)
{
	struct fixture *f = *state;
	static const struct step before[] = { OPEN(0, 11), OPEN(1, 12) };

	script_play(f, before, ARRAY_SIZE(before));
	assert_int_equal(schedule_renumber(&f->s, 0, 120, 11, 10), 0);
	/* Not there, unknown, or not within the recording. */
	assert_int_equal(schedule_renumber(&f->s, 1, 120, 11, 10), 0);
	assert_int_equal(schedule_renumber(&f->s, 2, 120, 11, 10), 0);
	assert_int_equal(schedule_renumber(&f->s, 1, 100, 12, 10), 0);
	TELL(f,
	     "100 cpu0 0>11 running *\n"
	     "100 cpu1 0>12 running *\n"
	     "120 cpu0 11>10 dead *\n"
	     "130 cpu0 10>0 blocked\n",
	     SWITCH(130, 0, 10, 0, BLOCKED));
	assert_int_equal(f->s.n_unreported, 0);
}

/* It has gone to sleep before the record of its exec comes. */
TEST(test_renumber_at_switch)
{
	struct fixture *f = *state;

	know(f, 10, 11);
	TELL(f,
	     "100 cpu0 0>11 running *\n"
	     "130 cpu0 11>10 dead *\n"
	     "130 cpu0 10>0 blocked\n",
	     OPEN(0, 11), SWITCH(130, 0, 10, 0, BLOCKED));
	assert_int_equal(f->s.n_unreported, 0);
}

/* Kernel threads share a process that none of them can take over. */
TEST(test_renumber_not_kthread)
{
	struct fixture *f = *state;

	know(f, 2, 30);
	TELL(f,
	     "100 cpu0 0>30 running *\n"
	     "130 cpu0 30>0 blocked *\n"
	     "130 cpu0 0>2 running *\n"
	     "130 cpu0 2>0 blocked\n",
	     OPEN(0, 30), SWITCH(130, 0, 2, 0, BLOCKED));
	assert_int_equal(f->s.n_unreported, 1);
}

/* ---- names ---- */

/* Makes the present owner of TID the second one. */
static void give_out_again(struct fixture *f, uint32_t tid)
{
	const struct rec_identity first = { .start_ns = 1, .pid = tid, .tid = tid, .comm = "a" },
				  second = { .start_ns = 2, .pid = tid, .tid = tid, .comm = "b" };

	assert_int_equal(tasks_update(&f->tasks, &first, false), 0);
	tasks_set_announced(&f->tasks, tid);
	assert_int_equal(tasks_update(&f->tasks, &second, true), 0);
	tasks_set_announced(&f->tasks, tid);
}

/* And a third one. */
static void give_out_third(struct fixture *f, uint32_t tid)
{
	const struct rec_identity third = { .start_ns = 3, .pid = tid, .tid = tid, .comm = "c" };

	assert_int_equal(tasks_update(&f->tasks, &third, true), 0);
	tasks_set_announced(&f->tasks, tid);
}

#define KOID_5       "8388613" /* 5 + (2 << 22) */
#define KOID_5_THIRD "12582917"

TEST(test_koids)
{
	struct fixture *f = *state;

	give_out_again(f, 5);
	TELL(f,
	     "100 cpu0 0>" KOID_5 " running *\n"
	     "110 cpu0 " KOID_5 ">6 blocked\n"
	     "120 wake " KOID_5 " @0\n"
	     "125 wake 7 @0 by " KOID_5 "\n"
	     "130 move " KOID_5 " 0>1\n"
	     "140 cpu0 6>" KOID_5 " blocked\n"
	     "160 cpu0 " KOID_5 ">6 blocked\n"
	     "160 wake " KOID_5 " @0 by 7\n"
	     "170 cpu0 6>" KOID_5 " running\n"
	     "190 cpu0 " KOID_5 ">6 blocked\n"
	     "190 wake " KOID_5 " @0 by 7\n"
	     "195 cpu0 6>" KOID_5 " running\n"
	     "200 cpu0 " KOID_5 ">0 running *\n",
	     OPEN(0, 5), SWITCH(110, 0, 5, 6, BLOCKED), WAKE(120, 5, 0), WAKE_BY(125, 7, 0, 5),
	     MOVE(130, 5, 0, 1), SWITCH(140, 0, 6, 5, BLOCKED), WAKE_BY(150, 5, 0, 7),
	     SWITCH(160, 0, 5, 6, BLOCKED), SWITCH(170, 0, 6, 5, READY), MAYBE_BY(180, 5, 0, 7),
	     SWITCH(190, 0, 5, 6, BLOCKED), SWITCH(195, 0, 6, 5, READY), CLOSE(200));
}

/* From the moment of the fork, and not before. */
TEST(test_koids_from_fork_on)
{
	struct fixture *f = *state;
	static const struct step before[] = { OPEN(0, 5), SWITCH(110, 0, 5, 0, DEAD) };

	script_play(f, before, ARRAY_SIZE(before));
	give_out_again(f, 5);
	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "110 cpu0 5>0 dead\n"
	     "120 cpu0 0>" KOID_5 " running\n",
	     SWITCH(120, 0, 0, 5, READY));
}

/*
 * The next owner begins before the last one is known to have ended: it was reaped early, or the
 * loss of its switch is reported late.
 */
TEST(test_koid_stays_while_it_runs)
{
	struct fixture *f = *state;
	static const struct step before[] = { OPEN(0, 5), SWITCH(110, 0, 5, 6, READY),
					      SWITCH(120, 0, 6, 5, READY) },
				 again[] = { SWITCH(130, 0, 5, 0, DEAD),
					     SWITCH(140, 0, 0, 5, READY) };

	script_play(f, before, ARRAY_SIZE(before));
	give_out_again(f, 5);
	script_play(f, again, ARRAY_SIZE(again));
	give_out_third(f, 5);
	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "110 cpu0 5>6 running\n"
	     "120 cpu0 6>5 running\n"
	     "130 cpu0 5>0 dead\n"
	     "140 cpu0 0>" KOID_5 " running\n"
	     "150 lost sched cpu0 3 150..160\n"
	     "150 cpu0 " KOID_5 ">0 running *\n"
	     "160 cpu0 0>" KOID_5_THIRD " running *\n",
	     LOSS(150, 0, 160, 3), LOSS_END(150, 0, 160, 5));
	assert_int_equal(f->s.n_unreported, 0);
}

/*
 * The next owner is switched in on another CPU while the last one is still exiting: they are
 * distinguished, and the next one's CPU stays known.
 */
TEST(test_both_owners_run)
{
	struct fixture *f = *state;
	static const struct step before[] = { OPEN(0, 5), OPEN(1, 6) };

	script_play(f, before, ARRAY_SIZE(before));
	give_out_again(f, 5);
	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "100 cpu1 0>6 running *\n"
	     "110 wake " KOID_5 " @0 by 6\n"
	     "115 move " KOID_5 " 0>1\n"
	     "120 cpu1 6>" KOID_5 " running\n"
	     "130 cpu0 5>0 dead\n"
	     "140 cpu1 " KOID_5 ">0 running *\n"
	     "140 cpu2 0>" KOID_5 " running\n"
	     "150 cpu2 " KOID_5 ">6 blocked\n",
	     WAKE_BY(110, 5, 0, 6), MOVE(115, 5, 0, 1), SWITCH(120, 1, 6, 5, READY),
	     SWITCH(130, 0, 5, 0, DEAD), SWITCH(140, 2, 0, 5, READY),
	     SWITCH(150, 2, 5, 6, BLOCKED));
	assert_int_equal(f->s.n_unreported, 1);
	assert_wakeups_accounted(f);
}

/* Each thread is named before the first record that names it, and once. */
TEST(test_announce)
{
	struct fixture *f = *state;

	TELL(f,
	     "thread 1/10001 't' real 0\n"
	     "100 cpu0 0>10001 running *\n"
	     "thread 1/10002 't' real 0\n"
	     "110 cpu0 10001>10002 blocked\n"
	     "thread 1/10003 't' real 0\n"
	     "thread 1/10004 't' real 0\n"
	     "120 wake 10003 @0 by 10004\n"
	     "thread 1/10005 't' real 0\n"
	     "130 move 10005 0>1\n"
	     "thread 1/10006 't' real 0\n"
	     "thread 1/10007 't' real 0\n"
	     "140 cpu0 10002>0 blocked *\n"
	     "140 cpu0 0>10006 running *\n"
	     "140 cpu0 10006>10007 blocked\n"
	     "150 lost sched cpu0 1 150..160\n"
	     "150 cpu0 10007>0 running *\n"
	     "thread 1/10008 't' real 0\n"
	     "160 cpu0 0>10008 running *\n"
	     "170 cpu0 10008>10001 running\n",
	     OPEN(0, 10001), SWITCH(110, 0, 10001, 10002, BLOCKED), WAKE_BY(120, 10003, 0, 10004),
	     MOVE(130, 10005, 0, 1), SWITCH(140, 0, 10006, 10007, BLOCKED), LOSS(150, 0, 160, 1),
	     LOSS_END(150, 0, 160, 10008), SWITCH(170, 0, 10008, 10001, READY));
}

TEST(test_announce_fails)
{
	struct fixture *f = *state;
	static const struct step rows[] = {
		OPEN(0, 10001),
		SWITCH(110, 0, 10001, 5, READY),
		SWITCH(110, 0, 5, 10001, READY),
		WAKE(110, 10001, 0),
		WAKE_BY(110, 5, 0, 10001),
		MOVE(110, 10001, 0, 1),
		LOSS_END(110, 0, 120, 10001),
	};

	f->announce_fails = -EIO;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(script_process(f, &rows[i]), -EIO);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, script_set_up, script_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_renumber),
		CASE(test_renumber_at_switch),
		CASE(test_renumber_not_kthread),
		CASE(test_koids),
		CASE(test_koids_from_fork_on),
		CASE(test_koid_stays_while_it_runs),
		CASE(test_both_owners_run),
		CASE(test_announce),
		CASE(test_announce_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
