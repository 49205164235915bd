/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scripts of ring words, in the order of time as the merge hands them out, and the story that the
 * archive tells then (tests/support/archive-text.h). docs/ARCHITECTURE.md, "Merge by time".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "capture/decode.h"
#include "capture/schedule.h"
#include "tests/support/archive-text.h"

/* ---- scripts ---- */

enum step_kind { SWITCH = 1, WAKE, MOVE, OPEN, LOSS_BEGINS, LOSS_ENDS, CLOSE };
enum state {
	READY = FXT_STATE_RUNNING,
	STOPPED = FXT_STATE_SUSPENDED,
	BLOCKED = FXT_STATE_BLOCKED,
	DEAD = FXT_STATE_DEAD
};

struct step {
	enum step_kind kind;
	uint64_t ts_ns;
	unsigned cpu; /* switch: where; wake: where it ran last; move: from */
	uint32_t a, b;
	enum state out_state;
	bool on_rq;
	uint64_t last_ns, count;
	int32_t prio;
};

/* A comes off CPU and goes to STATE, B comes on. */
#define SWITCH(t, c, from, to, s)                                                                  \
	{                                                                                          \
		SWITCH, (t), (c), (from), (to), .out_state = (s)                                   \
	}
/* A sleeper is woken; certainly, or one that was still on its run queue. */
#define WAKE(t, tid, c)                                                                            \
	{                                                                                          \
		WAKE, (t), (c), (tid), 0                                                           \
	}
#define WAKE_BY(t, tid, c, who)                                                                    \
	{                                                                                          \
		WAKE, (t), (c), (tid), (who)                                                       \
	}
#define MAYBE(t, tid, c)                                                                           \
	{                                                                                          \
		WAKE, (t), (c), (tid), 0, .on_rq = true                                            \
	}
#define MAYBE_BY(t, tid, c, who)                                                                   \
	{                                                                                          \
		WAKE, (t), (c), (tid), (who), .on_rq = true                                        \
	}
#define MOVE(t, tid, from, to)                                                                     \
	{                                                                                          \
		MOVE, (t), (from), (tid), (to)                                                     \
	}
#define OPEN(c, tid)                                                                               \
	{                                                                                          \
		OPEN, 0, (c), (tid), 0, .prio = 120                                                \
	}
#define LOSS(t, c, last, n)                                                                        \
	{                                                                                          \
		LOSS_BEGINS, (t), (c), .last_ns = (last), .count = (n)                             \
	}
#define LOSS_END(t, c, last, tid)                                                                  \
	{                                                                                          \
		LOSS_ENDS, (t), (c), (tid), .last_ns = (last), .prio = 110                         \
	}
#define CLOSE(t)                                                                                   \
	{                                                                                          \
		CLOSE, (t)                                                                         \
	}

enum { N_CPUS = 4, FROM_NS = 100 };

struct fixture {
	struct outbuf out;
	struct fxt_archive archive;
	struct tasks tasks;
	struct schedule s;
	uint64_t n_wakeups; /* that went in, within the time of the recording */
	int announce_fails;
};

static int on_belongs(uint32_t tid, uint32_t pid, void *userdata)
{
	(void)tid;
	(void)pid;
	(void)userdata;
	return 0;
}

static int on_announce(uint32_t tid, void *userdata)
{
	struct fixture *f = userdata;
	struct event ev = {
		.kind = EVENT_TASK,
		.pid = 1,
		.tid = tasks_koid(&f->tasks, tid),
		.task = { .comm = "t", .command_line = "" },
	};

	if (f->announce_fails)
		return f->announce_fails;
	tasks_set_announced(&f->tasks, tid);
	return fxt_archive_event(&f->archive, &ev);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	if (tasks_init(&f->tasks) < 0 || fxt_archive_init(&f->archive, &f->out, N_CPUS) < 0 ||
	    schedule_init(&f->s, &f->archive, &f->tasks, N_CPUS) < 0)
		return -1;
	f->s.from_ns = FROM_NS;
	f->s.announce = on_announce;
	f->s.belongs = on_belongs;
	f->s.userdata = f;
	/* To keep the stories short; announcing has tests of its own. */
	for (uint32_t tid = 1; tid < 10000; tid++)
		tasks_set_announced(&f->tasks, tid);
	return fxt_archive_begin(&f->archive);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	schedule_deinit(&f->s);
	fxt_archive_deinit(&f->archive);
	tasks_deinit(&f->tasks);
	outbuf_deinit(&f->out);
	free(f);
	return 0;
}

static uint64_t weight(enum fxt_name name, uint32_t tid, int32_t prio)
{
	return fxt_arg32(FXT_ARG_INT32, name, (uint32_t)(tid ? prio : FXT_IDLE_WEIGHT));
}

/* The words that a program writes (bpf/sched.bpf.c). */
static unsigned words_of(const struct step *step, uint64_t *words)
{
	words[1] = step->ts_ns;
	switch (step->kind) {
	case SWITCH:
		words[0] = fxt_switch_header(6, 2, step->cpu, step->out_state);
		words[2] = step->a;
		words[3] = step->b;
		words[4] = weight(FXT_NAME_OUTGOING_WEIGHT, step->a, 120);
		words[5] = weight(FXT_NAME_INCOMING_WEIGHT, step->b, 120);
		return 6;
	case WAKE:
		words[0] = fxt_wakeup_header(step->b ? 6 : 4, step->b ? 2 : 1, step->cpu);
		if (step->on_rq)
			words[0] |= UINT64_C(1) << WAKE_ON_RQ_BIT;
		words[2] = step->a;
		words[3] = weight(FXT_NAME_WEIGHT, step->a, 120);
		words[4] = fxt_arg64(FXT_ARG_KOID, FXT_NAME_WAKER);
		words[5] = step->b;
		return step->b ? 6 : 4;
	default:
		words[0] = fxt_put_record_type(FXT_RECORD_EVENT) | fxt_put_record_words(6) |
			   fxt_put_event_n_args(2) | fxt_put_event_category(FXT_NAME_SCHED) |
			   fxt_put_event_name(FXT_NAME_MIGRATE);
		words[2] = 1;
		words[3] = step->a;
		words[4] = fxt_arg32(FXT_ARG_UINT32, FXT_NAME_FROM_CPU, step->cpu);
		words[5] = fxt_arg32(FXT_ARG_UINT32, FXT_NAME_TO_CPU, step->b);
		return 6;
	}
}

static int take(struct fixture *f, const struct step *step)
{
	const struct ring_lost mark = {
		.first_ns = step->ts_ns,
		.last_ns = step->last_ns,
		.count = step->count,
		.tid = step->a,
		.prio = step->prio,
	};
	uint64_t words[7];
	unsigned n;

	switch (step->kind) {
	case OPEN:
		return schedule_open(&f->s, step->cpu, step->a, step->prio);
	case LOSS_BEGINS:
		return schedule_loss_begins(&f->s, step->cpu, &mark);
	case LOSS_ENDS:
		return schedule_loss_ends(&f->s, step->cpu, &mark);
	case CLOSE:
		f->s.to_ns = step->ts_ns;
		return schedule_close(&f->s);
	default:
		n = words_of(step, words);
		assert_int_equal(decode_ring_words(words, n, CLASS_SCHED, step->cpu), n);
		if (step->kind == WAKE && step->ts_ns > f->s.from_ns && step->ts_ns <= f->s.to_ns)
			f->n_wakeups++;
		return schedule_record(&f->s, step->cpu, words, n);
	}
}

static void play(struct fixture *f, const struct step *steps, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(take(f, &steps[i]), 0);
}

static void assert_story(struct fixture *f, const char *want)
{
	_cleanup_free_ char *story = archive_story(&f->out);

	assert_string_equal(story, want);
}

/* Plays a script and compares what came of it. */
#define TELL(f, want, ...)                                                                         \
	do {                                                                                       \
		static const struct step steps_[] = { __VA_ARGS__ };                               \
		play(f, steps_, ARRAY_SIZE(steps_));                                               \
		assert_story(f, want);                                                             \
	} while (0)

/* Each wakeup was written or dismissed, once. To be called after the end. */
static void assert_wakeups_accounted(struct fixture *f)
{
	_cleanup_free_ char *story = archive_story(&f->out);
	uint64_t written = 0;

	for (const char *p = story; (p = strstr(p, " wake ")); p++)
		written++;
	assert_int_equal(written + f->s.n_dismissed, f->n_wakeups);
}

/* ---- plain ---- */

static void test_record_plain(void **state)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "110 cpu0 5>6 blocked\n"
	     "120 wake 5 @0\n"
	     "130 wake 5 @0 by 6\n"
	     "140 cpu0 6>0 dead\n"
	     "150 move 5 0>1\n"
	     "160 cpu0 0>5 running\n",
	     OPEN(0, 5), SWITCH(110, 0, 5, 6, BLOCKED), WAKE(120, 5, 0), WAKE_BY(130, 5, 0, 6),
	     SWITCH(140, 0, 6, 0, DEAD), MOVE(150, 5, 0, 1), SWITCH(160, 0, 0, 5, READY));
	assert_int_equal(f->s.n_events, 6);
	assert_int_equal(f->s.n_unreported, 0);
	assert_wakeups_accounted(f);
}

/* Words go out as they came, but for the bit that is ours. */
static void test_record_verbatim(void **state)
{
	struct fixture *f = *state;
	uint64_t words[7] = {
		fxt_switch_header(7, 3, 1, FXT_STATE_BLOCKED),
		110,
		5,
		6,
		weight(FXT_NAME_OUTGOING_WEIGHT, 5, -1),
		weight(FXT_NAME_INCOMING_WEIGHT, 6, 99),
		fxt_arg32(FXT_ARG_STRING, FXT_NAME_PREV_STATE, FXT_NAME_STATE_D),
	};
	const uint64_t as_was[7] = { words[0], words[1], words[2], words[3],
				     words[4], words[5], words[6] };
	size_t size;

	assert_int_equal(schedule_open(&f->s, 1, 5, -1), 0);
	size = f->out.size;
	assert_int_equal(schedule_record(&f->s, 1, words, 7), 0);
	assert_int_equal(f->out.size, size + sizeof(as_was));
	assert_memory_equal(f->out.data + size, as_was, sizeof(as_was));
	assert_int_equal(f->s.cpus[1].prio, 99);
}

/* From FROM_NS (not it) to TO_NS (it, too). */
static void test_record_outside(void **state)
{
	struct fixture *f = *state;

	f->s.to_ns = 200;
	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "101 cpu0 5>6 blocked\n"
	     "200 cpu0 6>5 blocked\n",
	     OPEN(0, 5), SWITCH(1, 0, 7, 8, READY), WAKE(99, 9, 0), MOVE(99, 5, 0, 1),
	     SWITCH(100, 0, 7, 5, READY), SWITCH(101, 0, 5, 6, BLOCKED),
	     SWITCH(200, 0, 6, 5, BLOCKED), SWITCH(201, 0, 5, 6, BLOCKED), WAKE(201, 6, 0),
	     MOVE(201, 6, 0, 1));
	assert_int_equal(f->s.n_events, 2);
	assert_int_equal(f->s.n_unreported, 0);
}

/* ---- wakeups that overtake the switch-out ---- */

static void test_wakeup_held(void **state)
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

static void test_wakeup_held_stopped(void **state)
{
	TELL(*state, "100 cpu0 0>5 running *\n130 cpu0 5>0 suspended\n130 wake 5 @0\n", OPEN(0, 5),
	     WAKE(120, 5, 0), SWITCH(130, 0, 5, 0, STOPPED));
}

/* It went off, and not to sleep. */
static void test_wakeup_held_for_nothing(void **state)
{
	struct fixture *f = *state;

	TELL(f, "100 cpu0 0>5 running *\n130 cpu0 5>6 running\n150 cpu0 6>5 dead\n", OPEN(0, 5),
	     WAKE(120, 5, 0), SWITCH(130, 0, 5, 6, READY), WAKE(140, 6, 0),
	     SWITCH(150, 0, 6, 5, DEAD));
	assert_int_equal(f->s.n_dismissed, 2);
	assert_wakeups_accounted(f);
}

/* One that is certain is not put aside for one in doubt; else the later one holds. */
static void test_wakeup_held_two(void **state)
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

/* Only the CPU where it ran last is looked at, and only what runs there. */
static void test_wakeup_not_held(void **state)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n120 wake 5 @1\n121 wake 6 @0\n122 wake 5 @65535\n"
	     "123 wake 7 @3\n",
	     OPEN(0, 5), WAKE(120, 5, 1), WAKE(121, 6, 0), WAKE(122, 5, 65535), WAKE(123, 7, 3));
	assert_wakeups_accounted(f);
}

/* ---- wakeups of a thread that is still on its run queue ---- */

static void test_wakeup_maybe_runnable(void **state)
{
	struct fixture *f = *state;

	TELL(f, "100 cpu0 0>5 running *\n130 cpu0 5>6 running\n", OPEN(0, 5), MAYBE(120, 6, 0),
	     SWITCH(130, 0, 5, 6, READY), MAYBE(140, 5, 0));
	assert_int_equal(f->s.n_dismissed, 2);
}

static void test_wakeup_maybe_preempted(void **state)
{
	struct fixture *f = *state;

	TELL(f, "100 cpu0 0>5 running *\n130 cpu0 5>6 running\n140 cpu0 6>5 blocked\n", OPEN(0, 5),
	     MAYBE(120, 5, 0), SWITCH(130, 0, 5, 6, READY), SWITCH(140, 0, 6, 5, BLOCKED));
	assert_int_equal(f->s.n_dismissed, 1);
}

/* It blocked, and comes in without another wakeup: so that one it was. */
static void test_wakeup_maybe_real(void **state)
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

/* It blocked, and another wakeup comes: that one it is. */
static void test_wakeup_maybe_superseded(void **state)
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

/* It sleeps, whatever the look at its run queue said: a delayed dequeue. */
static void test_wakeup_maybe_asleep(void **state)
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

/* Two in doubt, and one wakeup: the later one. */
static void test_wakeup_maybe_twice(void **state)
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

static void test_wakeup_maybe_died(void **state)
{
	struct fixture *f = *state;

	TELL(f, "100 cpu0 0>5 running *\n130 cpu0 5>6 dead\n", OPEN(0, 5), MAYBE(120, 5, 0),
	     SWITCH(130, 0, 5, 6, DEAD));
	assert_int_equal(f->s.n_dismissed, 1);
}

/* Never heard of again. */
static void test_wakeup_maybe_at_end(void **state)
{
	struct fixture *f = *state;

	TELL(f, "100 cpu0 0>5 running *\n130 cpu0 5>6 blocked\n200 cpu0 6>0 running *\n",
	     OPEN(0, 5), MAYBE(120, 5, 0), SWITCH(130, 0, 5, 6, BLOCKED), MAYBE(140, 6, 0),
	     CLOSE(200));
	assert_int_equal(f->s.n_dismissed, 2);
	assert_wakeups_accounted(f);
}

/* ---- switches that the kernel did not report ---- */

static void test_mend(void **state)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "130 cpu0 5>0 running *\n"
	     "130 cpu0 0>7 running *\n"
	     "130 cpu0 7>6 blocked\n",
	     OPEN(0, 5), SWITCH(130, 0, 7, 6, BLOCKED));
	assert_int_equal(f->s.n_unreported, 1);
	assert_int_equal(f->s.n_events, 1);
}

static void test_mend_idle(void **state)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>0 running *\n"
	     "130 cpu0 0>7 running *\n"
	     "130 cpu0 7>0 blocked\n"
	     "140 cpu0 0>5 running\n"
	     "150 cpu0 5>0 running *\n"
	     "150 cpu0 0>6 running\n",
	     OPEN(0, 0), SWITCH(130, 0, 7, 0, BLOCKED), SWITCH(140, 0, 0, 5, READY),
	     SWITCH(150, 0, 0, 6, READY));
	assert_int_equal(f->s.n_unreported, 2);
}

/* A CPU that was never seen, or came up later. */
static void test_mend_unknown_cpu(void **state)
{
	struct fixture *f = *state;

	TELL(f,
	     "130 cpu2 0>7 running *\n"
	     "130 cpu2 7>6 blocked\n"
	     "140 cpu3 0>5 running\n",
	     SWITCH(130, 2, 7, 6, BLOCKED), SWITCH(140, 3, 0, 5, READY));
	assert_int_equal(f->s.n_unreported, 0);
}

/* The wakeup that waits says when it was asleep at the latest. */
static void test_mend_held(void **state)
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

static void test_mend_held_maybe(void **state)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "130 cpu0 5>0 running *\n"
	     "130 cpu0 0>7 running *\n"
	     "130 cpu0 7>6 blocked\n",
	     OPEN(0, 5), MAYBE_BY(120, 5, 0, 7), SWITCH(130, 0, 7, 6, BLOCKED));
	assert_int_equal(f->s.n_dismissed, 1);
	assert_wakeups_accounted(f);
}

/* ---- a thread takes over the id of its process ---- */

static void know(struct fixture *f, uint32_t pid, uint32_t tid)
{
	const struct rec_identity id = { .start_ns = 1, .pid = pid, .tid = tid, .comm = "a" };

	assert_int_equal(tasks_update(&f->tasks, &id, false), 0);
	tasks_set_announced(&f->tasks, tid);
}

static void test_renumber(void **state)
{
	struct fixture *f = *state;
	static const struct step before[] = { OPEN(0, 11), OPEN(1, 12) };

	play(f, before, ARRAY_SIZE(before));
	assert_int_equal(schedule_renumber(&f->s, 0, 120, 11, 10), 0);
	/* Not there, not known, or not within the recording. */
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

/* The last switch on a CPU that goes is not reported. */
static void test_cpu_gone(void **state)
{
	struct fixture *f = *state;
	static const struct step before[] = { OPEN(0, 11), OPEN(1, 12) };

	play(f, before, ARRAY_SIZE(before));
	assert_int_equal(schedule_cpu_gone(&f->s, 1, 120), 0);
	/* Idle already, not within the recording, none that we know of. */
	assert_int_equal(schedule_cpu_gone(&f->s, 1, 121), 0);
	assert_int_equal(schedule_cpu_gone(&f->s, 0, 100), 0);
	assert_int_equal(schedule_cpu_gone(&f->s, UINT32_MAX, 120), 0);
	TELL(f,
	     "100 cpu0 0>11 running *\n"
	     "100 cpu1 0>12 running *\n"
	     "120 cpu1 12>0 blocked *\n"
	     "130 cpu1 0>12 running\n",
	     SWITCH(130, 1, 0, 12, READY));
	assert_int_equal(f->s.n_unreported, 0);
}

/* It has gone to sleep before the record of its exec comes. */
static void test_renumber_at_switch(void **state)
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
static void test_renumber_not_kthread(void **state)
{
	struct fixture *f = *state;

	know(f, 2, 30);
	TELL(f,
	     "100 cpu0 0>30 running *\n"
	     "130 cpu0 30>0 running *\n"
	     "130 cpu0 0>2 running *\n"
	     "130 cpu0 2>0 blocked\n",
	     OPEN(0, 30), SWITCH(130, 0, 2, 0, BLOCKED));
	assert_int_equal(f->s.n_unreported, 1);
}

/* With a filter threads come into view and leave it while they run. */
static void test_mend_filtered(void **state)
{
	struct fixture *f = *state;

	f->s.filtered = true;
	TELL(f,
	     "100 cpu0 0>4325376 running *\n"
	     "130 cpu0 4325376>0 running *\n"
	     "130 cpu0 0>7 running *\n"
	     "130 cpu0 7>4325376 blocked\n",
	     OPEN(0, FXT_KOID_OTHER), SWITCH(130, 0, 7, FXT_KOID_OTHER, BLOCKED));
	assert_int_equal(f->s.n_unreported, 0);
}

/* What is moved does not run. */
static void test_migrate_closes(void **state)
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

static void test_migrate_closes_held(void **state)
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

static void test_migrate_of_another(void **state)
{
	struct fixture *f = *state;

	TELL(f, "100 cpu0 0>5 running *\n130 move 6 0>1\n131 move 5 1>2\n132 move 5 65535>0\n",
	     OPEN(0, 5), MOVE(130, 6, 0, 1), MOVE(131, 5, 1, 2), MOVE(132, 5, 65535, 0));
	assert_int_equal(f->s.n_unreported, 0);
}

/* ---- losses ---- */

static void test_loss(void **state)
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

static void test_loss_idle(void **state)
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

/* Other CPUs go on, between its beginning and its end. */
static void test_loss_meanwhile(void **state)
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

static void test_loss_unknown_cpu(void **state)
{
	struct fixture *f = *state;

	TELL(f, "130 lost sched cpu2 1 130..150\n150 cpu2 0>5 running *\n", LOSS(130, 2, 150, 1),
	     LOSS_END(130, 2, 150, 5));
	assert_true(f->s.cpus[2].known);
}

/* A loss that began before the recording did, and those that are outside of it. */
static void test_loss_outside(void **state)
{
	struct fixture *f = *state;

	f->s.to_ns = 200;
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

/* The switch-out is among what is lost: the wakeup happened all the same. */
static void test_loss_held(void **state)
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

static void test_loss_held_maybe(void **state)
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

/* ---- open and close ---- */

static void test_open_close(void **state)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "100 cpu1 0>0 running *\n"
	     "130 cpu2 0>6 running\n"
	     "200 cpu0 5>0 running *\n"
	     "200 cpu1 0>0 running *\n"
	     "200 cpu2 6>0 running *\n",
	     OPEN(0, 5), OPEN(1, 0), SWITCH(130, 2, 0, 6, READY), CLOSE(200));
	assert_int_equal(f->s.n_events, 1);
}

/* What is made up has the weights of the two sides; the idle thread's is its own. */
static void test_open_weights(void **state)
{
	struct fixture *f = *state;
	static const struct step steps[] = {
		{ OPEN, 0, 0, 5, .prio = -1 },
		LOSS(130, 0, 150, 1),
		LOSS_END(130, 0, 150, 7),
		CLOSE(200),
	};
	_cleanup_free_ char *text = NULL;

	play(f, steps, ARRAY_SIZE(steps));
	text = archive_text(&f->out);
	assert_non_null(strstr(text, "100 switch cpu 0 0>5 state 1 "
				     "outgoing_weight:int32=-2147483648 incoming_weight:int32=-1 "
				     "synthetic:bool=true\n"));
	assert_non_null(strstr(text, "130 switch cpu 0 5>0 state 1 outgoing_weight:int32=-1 "
				     "incoming_weight:int32=-2147483648 synthetic:bool=true\n"));
	assert_non_null(strstr(text, "150 switch cpu 0 0>7 state 1 "
				     "outgoing_weight:int32=-2147483648 incoming_weight:int32=110 "
				     "synthetic:bool=true\n"));
	assert_non_null(strstr(text, "200 switch cpu 0 7>0 state 1 outgoing_weight:int32=110 "
				     "incoming_weight:int32=-2147483648 synthetic:bool=true\n"));
}

/* ---- who is who ---- */

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

#define KOID_5 "8388613" /* 5 + (2 << 22) */

static void test_koids(void **state)
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
static void test_koids_from_fork_on(void **state)
{
	struct fixture *f = *state;
	static const struct step before[] = { OPEN(0, 5), SWITCH(110, 0, 5, 0, DEAD) };

	play(f, before, ARRAY_SIZE(before));
	give_out_again(f, 5);
	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "110 cpu0 5>0 dead\n"
	     "120 cpu0 0>" KOID_5 " running\n",
	     SWITCH(120, 0, 0, 5, READY));
}

/* Each thread is named before the first record that names it, and once. */
static void test_announce(void **state)
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
	     "140 cpu0 10002>0 running *\n"
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

static void test_announce_fails(void **state)
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
		assert_int_equal(take(f, &rows[i]), -EIO);
}

static void test_output_full(void **state)
{
	struct fixture *f = *state;
	static const struct step rows[] = {
		OPEN(0, 5),         SWITCH(110, 0, 5, 6, READY), WAKE(110, 9, 0),
		MOVE(110, 9, 0, 1), LOSS(110, 0, 120, 1),        LOSS_END(110, 0, 120, 5),
		CLOSE(200),
	};
	_cleanup_(outbuf_deinit) struct outbuf full = { .limit = 8 };

	fxt_archive_set_output(&f->archive, &full);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(take(f, &rows[i]), -EMSGSIZE);
}

/* ---- any script ---- */

/*
 * Whatever comes, each wakeup is written or dismissed, and the archive can be read; and on each CPU
 * the thread that a switch takes off is the one that the switch before put on.
 */
struct continuity {
	uint32_t running[N_CPUS];
};

static void check_continuity(const struct event *ev, void *userdata)
{
	struct continuity *c = userdata;

	if (ev->kind != EVENT_SWITCH)
		return;
	assert_true(ev->cpu < N_CPUS);
	assert_int_equal(c->running[ev->cpu], ev->tid);
	c->running[ev->cpu] = ev->sw.next_tid;
}

static void test_random(void **state)
{
	uint64_t random = 88172645463325252;

	for (unsigned round = 0; round < 300; round++) {
		struct fixture *f;
		struct continuity continuity = { 0 };
		struct step end = CLOSE(0);

		tear_down(state);
		assert_int_equal(set_up(state), 0);
		f = *state;
		for (uint64_t ts = 101; ts < 300; ts++) {
			static const enum state states[] = { READY, BLOCKED, BLOCKED, STOPPED,
							     DEAD };
			struct step step = { .ts_ns = ts };

			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			step.cpu = random >> 8 & 3;
			step.a = random >> 16 & 7;
			step.b = random >> 24 & 7;
			step.out_state = states[(random >> 32) % ARRAY_SIZE(states)];
			step.on_rq = random >> 40 & 1;
			step.last_ns = ts + 1;
			step.count = 1;
			step.kind = (random & 15) < 7     ? SWITCH
				    : (random & 15) < 13  ? WAKE
				    : (random & 15) == 13 ? MOVE
							  : LOSS_BEGINS;
			/* Mostly what runs goes off. */
			if (step.kind == SWITCH && random >> 48 & 7 && f->s.cpus[step.cpu].known)
				step.a = f->s.cpus[step.cpu].tid;
			if (step.kind != SWITCH && step.a == 0)
				step.a = 8;
			assert_int_equal(take(f, &step), 0);
			if (step.kind == LOSS_BEGINS) {
				step.kind = LOSS_ENDS;
				assert_int_equal(take(f, &step), 0);
			}
		}
		end.ts_ns = 300;
		assert_int_equal(take(f, &end), 0);
		assert_wakeups_accounted(f);
		archive_events(&f->out, check_continuity, &continuity);
		for (unsigned cpu = 0; cpu < N_CPUS; cpu++)
			assert_int_equal(continuity.running[cpu], 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_record_plain),
		TEST(test_record_verbatim),
		TEST(test_record_outside),
		TEST(test_wakeup_held),
		TEST(test_wakeup_held_stopped),
		TEST(test_wakeup_held_for_nothing),
		TEST(test_wakeup_held_two),
		TEST(test_wakeup_not_held),
		TEST(test_wakeup_maybe_runnable),
		TEST(test_wakeup_maybe_preempted),
		TEST(test_wakeup_maybe_real),
		TEST(test_wakeup_maybe_superseded),
		TEST(test_wakeup_maybe_asleep),
		TEST(test_wakeup_maybe_twice),
		TEST(test_wakeup_maybe_died),
		TEST(test_wakeup_maybe_at_end),
		TEST(test_mend),
		TEST(test_mend_idle),
		TEST(test_mend_unknown_cpu),
		TEST(test_mend_held),
		TEST(test_mend_held_maybe),
		TEST(test_cpu_gone),
		TEST(test_renumber),
		TEST(test_renumber_at_switch),
		TEST(test_renumber_not_kthread),
		TEST(test_mend_filtered),
		TEST(test_migrate_closes),
		TEST(test_migrate_closes_held),
		TEST(test_migrate_of_another),
		TEST(test_loss),
		TEST(test_loss_idle),
		TEST(test_loss_meanwhile),
		TEST(test_loss_unknown_cpu),
		TEST(test_loss_outside),
		TEST(test_loss_held),
		TEST(test_loss_held_maybe),
		TEST(test_open_close),
		TEST(test_open_weights),
		TEST(test_koids),
		TEST(test_koids_from_fork_on),
		TEST(test_announce),
		TEST(test_announce_fails),
		TEST(test_output_full),
		TEST(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
