/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The schedule's output for words of the ring: plain ones, the begin and the end of a recording,
 * and random scripts. See "Merge by time" in docs/architecture/pipeline.md.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/archive-text.h"
#include "tests/support/fixtures/schedule-script.h"
#include "tests/support/unit.h"

/* ---- plain ---- */

TEST(test_record_plain)
{
	struct fixture *f = *state;

	TELL(f,
	     "100 cpu0 0>5 running *\n"
	     "110 cpu0 5>6 blocked\n"
	     "120 wake 5 @0\n"
	     "130 wake 7 @0 by 6\n"
	     "140 cpu0 6>0 dead\n"
	     "150 move 5 0>1\n"
	     "160 cpu0 0>5 running\n",
	     OPEN(0, 5), SWITCH(110, 0, 5, 6, BLOCKED), WAKE(120, 5, 0), WAKE_BY(130, 7, 0, 6),
	     SWITCH(140, 0, 6, 0, DEAD), MOVE(150, 5, 0, 1), SWITCH(160, 0, 0, 5, READY));
	assert_int_equal(f->s.n_events, 6);
	assert_int_equal(f->s.n_unreported, 0);
	assert_wakeups_accounted(f);
}

/* Words are copied unchanged, except for kymo's bit. */
TEST(test_record_verbatim)
{
	struct fixture *f = *state;
	uint64_t words[7] = {
		fxt_switch_header(7, 3, 1, FXT_STATE_BLOCKED),
		110,
		5,
		6,
		script_weight(FXT_NAME_OUTGOING_WEIGHT, 5, -1),
		script_weight(FXT_NAME_INCOMING_WEIGHT, 6, 99),
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

/* After FROM_NS, up to and including TO_NS. */
TEST(test_record_outside)
{
	struct fixture *f = *state;

	f->pipe.to_ns = 200;
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

/* The last switch of a CPU that goes offline is not reported. */
TEST(test_cpu_gone)
{
	struct fixture *f = *state;
	static const struct step before[] = { OPEN(0, 11), OPEN(1, 12) };

	script_play(f, before, ARRAY_SIZE(before));
	assert_int_equal(schedule_cpu_gone(&f->s, 1, 120), 0);
	/* Idle already, not within the recording, unknown CPU. */
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

/* ---- open and close ---- */

TEST(test_open_close)
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

/* Added switches have the weights of both threads. The idle thread has its own. */
TEST(test_open_weights)
{
	struct fixture *f = *state;
	static const struct step steps[] = {
		{ OPEN, 0, 0, 5, .prio = -1 },
		LOSS(130, 0, 150, 1),
		LOSS_END(130, 0, 150, 7),
		CLOSE(200),
	};
	_cleanup_free_ char *text = NULL;

	script_play(f, steps, ARRAY_SIZE(steps));
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

TEST(test_output_full)
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
		assert_int_equal(script_process(f, &rows[i]), -EMSGSIZE);
}

/* ---- random scripts ---- */

/*
 * With any script, each wakeup is written or dismissed, and the archive can be read. On each CPU,
 * each switch takes off the thread that the previous one put on, and no thread runs on two of them.
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
	for (unsigned cpu = 0; cpu < N_CPUS; cpu++)
		assert_false(cpu != ev->cpu && ev->sw.next_tid != 0 &&
			     c->running[cpu] == ev->sw.next_tid);
	c->running[ev->cpu] = ev->sw.next_tid;
}

TEST(test_random)
{
	uint64_t random = 88172645463325252;

	for (unsigned round = 0; round < unit_rounds(300); round++) {
		struct fixture *f;
		struct continuity continuity = { 0 };
		struct step end = CLOSE(0);

		script_tear_down(state);
		assert_int_equal(script_set_up(state), 0);
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
			/* Mostly, the running thread is switched out. */
			if (step.kind == SWITCH && random >> 48 & 7 && f->s.cpus[step.cpu].known)
				step.a = f->s.cpus[step.cpu].tid;
			if (step.kind != SWITCH && step.a == 0)
				step.a = 8;
			assert_int_equal(script_process(f, &step), 0);
			if (step.kind == LOSS_BEGINS) {
				step.kind = LOSS_ENDS;
				assert_int_equal(script_process(f, &step), 0);
			}
		}
		end.ts_ns = 300;
		assert_int_equal(script_process(f, &end), 0);
		assert_wakeups_accounted(f);
		archive_events(&f->out, check_continuity, &continuity);
		for (unsigned cpu = 0; cpu < N_CPUS; cpu++)
			assert_int_equal(continuity.running[cpu], 0);
	}
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, script_set_up, script_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_record_plain), CASE(test_record_verbatim), CASE(test_record_outside),
		CASE(test_open_close),   CASE(test_open_weights),    CASE(test_output_full),
		CASE(test_cpu_gone),     CASE(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
