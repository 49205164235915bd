/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lint's findings that depend on time: scheduling, durations, async operations and flows.
 */
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/lint-build.h"
#include "tests/support/unit.h"

/* ---- single scheduling records ---- */

/* A switch from 11 to 12 and one to idle. ODD changes one thing. */
struct odd {
	unsigned state;
	enum fxt_arg_type weight;
};

static void odd_switch(struct build *b, const struct odd *odd)
{
	/* "outgoing_weight" and "incoming_weight" */
	RAW(b, fxt_string_header(200, 15), 0x676e696f6774756f, 0x007468676965775f);
	RAW(b, fxt_string_header(201, 15), 0x676e696d6f636e69, 0x007468676965775f);
	RAW(b, fxt_switch_header(6, 2, 0, odd->state), 100, 11, 12,
	    fxt_arg32(odd->weight, 200, 120), fxt_arg32(FXT_ARG_INT32, 201, 120));
	build_switch(b, 200, 0, 12, 0);
}

static void thread_state(struct build *b, bool bad)
{
	odd_switch(b, &(struct odd){ bad ? 6 : 5, FXT_ARG_INT32 });
}

static void weight_type(struct build *b, bool bad)
{
	odd_switch(b, &(struct odd){ 3, bad ? FXT_ARG_UINT32 : FXT_ARG_INT32 });
}

static void legacy_running(struct build *b, bool bad)
{
	OK(fxt_write_legacy_switch(&b->w, &(struct fxt_legacy_switch){
						  100,
						  0,
						  bad ? FXT_STATE_RUNNING : FXT_STATE_NEW,
						  { 10, 11 },
						  { 0, 0 },
						  20,
						  0,
					  }));
}

static void waker_type(struct build *b, bool bad)
{
	const struct fxt_out_arg waker = { bad ? FXT_ARG_UINT64 : FXT_ARG_KOID,
					   fxt_interned("waker"), .u64 = 10 };

	OK(fxt_write_wakeup(&b->w, &(struct fxt_wakeup){ 100, 0, 11, &waker, 1 }));
}

static void weight_missing(struct build *b, bool bad)
{
	if (bad)
		OK(fxt_write_switch(&b->w, &(struct fxt_switch){ 100, 0, FXT_STATE_BLOCKED, 11, 12,
								 NULL, 0 }));
	else
		build_switch(b, 100, 0, 11, 12);
	build_switch(b, 200, 0, 12, 0);
}

static void idle_weight(struct build *b, bool bad)
{
	const struct fxt_out_arg weights[] = {
		{ FXT_ARG_INT32, fxt_interned("outgoing_weight"), .i32 = 120 },
		{ FXT_ARG_INT32, fxt_interned("incoming_weight"),
		  .i32 = bad ? 0 : FXT_IDLE_WEIGHT },
	};

	OK(fxt_write_switch(&b->w,
			    &(struct fxt_switch){ 100, 0, FXT_STATE_BLOCKED, 11, 0, weights, 2 }));
}

static void idle_weight_legacy(struct build *b, bool bad)
{
	OK(fxt_write_legacy_switch(
		&b->w, &(struct fxt_legacy_switch){
			       100, 0, FXT_STATE_BLOCKED, { 10, 11 }, { 0, 0 }, 20, bad ? 1 : 0 }));
}

static void cpu_huge(struct build *b, bool bad)
{
	build_switch(b, 100, bad ? 4096 : 4095, 0, 11);
	build_switch(b, 200, bad ? 4096 : 4095, 11, 0);
}

/* ---- running threads ---- */

static void sched_unsorted(struct build *b, bool bad)
{
	const uint64_t late = bad ? 500000000 : 995000000;

	build_switch(b, 1000000000, 0, 0, 11);
	build_switch(b, 1000000001, 0, 11, 0);
	build_switch(b, late, 1, 0, 12);
	build_switch(b, late + 1, 1, 12, 0);
}

static void wake_late(struct build *b, bool bad)
{
	build_switch(b, 1000000000, 0, 0, 11);
	build_switch(b, 1000000001, 0, 11, 0);
	build_wakeup(b, bad ? 500000000 : 995000000, 12);
	build_switch(b, 1000000002, 0, 0, 12);
	build_switch(b, 1000000003, 0, 12, 0);
}

static void switch_out_lost(struct build *b, bool bad)
{
	build_switch(b, 100, 0, 0, 11);
	build_switch(b, 200, 0, bad ? 12 : 11, 0);
}

/* Idle is switched out, and a thread runs there. */
static void switch_out_lost_idle(struct build *b, bool bad)
{
	build_switch(b, 100, 0, 0, 11);
	if (!bad)
		build_switch(b, 200, 0, 11, 0);
	build_switch(b, 300, 0, 0, 12);
	build_switch(b, 400, 0, 12, 0);
}

static void switch_in_lost(struct build *b, bool bad)
{
	build_switch(b, 100, 0, 0, 11);
	build_switch(b, 200, 0, 11, 0);
	if (!bad)
		build_switch(b, 300, 0, 0, 12);
	build_switch(b, 400, 0, 12, 0);
}

static void two_cpus(struct build *b, bool bad)
{
	build_switch(b, 100, 0, 0, 11);
	build_switch(b, 200, 1, 0, bad ? 11 : 12);
	build_switch(b, 300, 0, 11, 0);
	build_switch(b, 400, 1, bad ? 11 : 12, 0);
}

static void two_cpus_for_ever(struct build *b, bool bad)
{
	build_switch(b, 100, 0, 0, 11);
	if (!bad)
		build_switch(b, 150, 0, 11, 0);
	build_switch(b, 200, 1, 0, 11);
	build_switch(b, 400, 1, 11, 0);
}

static void tie_switch(struct build *b, bool bad)
{
	build_switch(b, 100, 0, 0, 11);
	if (!bad)
		build_switch(b, 200, 0, 11, 0);
	build_switch(b, 200, 1, 0, 11);
	if (bad)
		build_switch(b, 200, 0, 11, 0);
	build_switch(b, 300, 1, 11, 0);
}

static void wake_running(struct build *b, bool bad)
{
	build_switch(b, 100, 0, 0, 11);
	build_wakeup(b, bad ? 150 : 250, 11);
	build_switch(b, 200, 0, 11, 0);
}

static void tie_wakeup(struct build *b, bool bad)
{
	if (!bad)
		build_wakeup(b, 100, 11);
	build_switch(b, 100, 0, 0, 11);
	if (bad)
		build_wakeup(b, 100, 11);
	build_switch(b, 200, 0, 11, 0);
}

static void wake_twice(struct build *b, bool bad)
{
	build_wakeup(b, 100, 11);
	build_switch(b, 200, 0, 0, 11);
	build_switch(b, 300, 0, 11, 0);
	build_wakeup(b, bad ? 150 : 350, 11);
}

static void cpu_left_open(struct build *b, bool bad)
{
	build_switch(b, 100, 0, 0, 11);
	if (!bad)
		build_switch(b, 200, 0, 11, 0);
}

static void waker_missing(struct build *b, bool bad)
{
	if (bad)
		OK(fxt_write_wakeup(&b->w, &(struct fxt_wakeup){ 100, 0, 11, NULL, 0 }));
	else
		build_wakeup(b, 100, 11);
}

static void wakers_many(struct build *b, bool bad)
{
	for (uint64_t i = 1; i <= 100000 + (uint64_t)bad; i++) {
		build_wakeup(b, 100 * i, 11);
		build_switch(b, 100 * i + 10, 0, 0, 11);
		build_switch(b, 100 * i + 20, 0, 11, 0);
	}
}

/* ---- events ---- */

static void complete(struct build *b, uint64_t ts, uint64_t end)
{
	build_event(b, FXT_EVENT_DURATION_COMPLETE, ts, 10, "complete", end);
}

static void event_unknown(struct build *b, bool bad)
{
	RAW(b,
	    fxt_put_record_type(FXT_RECORD_EVENT) | fxt_put_record_words(4) |
		    fxt_put_event_type(bad ? 11 : FXT_EVENT_INSTANT),
	    100, 10, 10);
}

static void complete_backwards(struct build *b, bool bad)
{
	RAW(b,
	    fxt_put_record_type(FXT_RECORD_EVENT) | fxt_put_record_words(5) |
		    fxt_put_event_type(FXT_EVENT_DURATION_COMPLETE),
	    100, 10, 10, bad ? 99 : 100);
}

static void complete_overlap(struct build *b, bool bad)
{
	/* In the order of writers: the inner one comes first. */
	complete(b, 150, bad ? 201 : 200);
	complete(b, 100, 200);
	complete(b, 300, 300);
	complete(b, 200, 400);
}

/* A begin inside of a complete duration, with its end after it. */
static void complete_overlap_begin(struct build *b, bool bad)
{
	complete(b, 100, 200);
	build_event(b, FXT_EVENT_DURATION_BEGIN, 150, 10, "open", 0);
	build_event(b, FXT_EVENT_DURATION_END, bad ? 250 : 200, 10, "open", 0);
}

/* A complete duration inside of an open one, with its end after that. */
static void complete_overlap_end(struct build *b, bool bad)
{
	build_event(b, FXT_EVENT_DURATION_BEGIN, 100, 10, "open", 0);
	complete(b, 150, bad ? 250 : 200);
	build_event(b, FXT_EVENT_DURATION_END, 200, 10, "open", 0);
}

static void duration_end_alone(struct build *b, bool bad)
{
	build_event(b, FXT_EVENT_DURATION_BEGIN, 100, bad ? 11 : 10, "open", 0);
	build_event(b, FXT_EVENT_DURATION_END, 200, 10, "open", 0);
	if (bad)
		build_event(b, FXT_EVENT_DURATION_END, 200, 11, "open", 0);
}

static void duration_open(struct build *b, bool bad)
{
	build_event(b, FXT_EVENT_DURATION_BEGIN, 100, 10, "open", 0);
	build_event(b, FXT_EVENT_DURATION_BEGIN, 150, 10, "inner", 0);
	build_event(b, FXT_EVENT_DURATION_END, 200, 10, "inner", 0);
	if (!bad)
		build_event(b, FXT_EVENT_DURATION_END, 300, 10, "open", 0);
}

static void duration_names(struct build *b, bool bad)
{
	build_event(b, FXT_EVENT_DURATION_BEGIN, 100, 10, "outer", 0);
	build_event(b, FXT_EVENT_DURATION_BEGIN, 150, 10, "inner", 0);
	build_event(b, FXT_EVENT_DURATION_END, 200, 10, bad ? "outer" : "inner", 0);
	build_event(b, FXT_EVENT_DURATION_END, 300, 10, bad ? "inner" : "", 0);
}

static void async_unmatched(struct build *b, bool bad)
{
	build_event(b, FXT_EVENT_ASYNC_BEGIN, 100, 10, "async", 0);
	build_event(b, FXT_EVENT_ASYNC_END, 200, 11, "async", bad);
}

static void async_differs(struct build *b, bool bad)
{
	build_event(b, FXT_EVENT_ASYNC_BEGIN, 100, 10, "async", 7);
	build_event(b, FXT_EVENT_ASYNC_END, 200, 10, bad ? "other" : "async", 7);
}

static void async_outside(struct build *b, bool bad)
{
	build_event(b, FXT_EVENT_ASYNC_INSTANT, bad ? 250 : 150, 10, "async", 7);
	build_event(b, FXT_EVENT_ASYNC_END, 200, 11, "async", 7);
	build_event(b, FXT_EVENT_ASYNC_BEGIN, 100, 10, "async", 7);
}

static void flow_unmatched(struct build *b, bool bad)
{
	complete(b, 0, 1000);
	build_event(b, FXT_EVENT_FLOW_BEGIN, 100, 10, "flow", 5);
	build_event(b, FXT_EVENT_FLOW_END, 200, 10, "flow", bad ? 6 : 5);
}

static void flow_unmatched_step(struct build *b, bool bad)
{
	complete(b, 0, 1000);
	build_event(b, FXT_EVENT_FLOW_BEGIN, 100, 10, "flow", 5);
	build_event(b, FXT_EVENT_FLOW_STEP, 150, 10, "flow", bad ? 6 : 5);
	build_event(b, FXT_EVENT_FLOW_END, 200, 10, "flow", 5);
}

static void flow_twice(struct build *b, bool bad)
{
	complete(b, 0, 1000);
	build_event(b, FXT_EVENT_FLOW_BEGIN, 100, 10, "flow", 5);
	build_event(b, FXT_EVENT_FLOW_BEGIN, bad ? 150 : 250, 10, "flow", 5);
	build_event(b, FXT_EVENT_FLOW_END, 200, 10, "flow", 5);
	build_event(b, FXT_EVENT_FLOW_END, 300, 10, "flow", 5);
}

static void flow_no_slice(struct build *b, bool bad)
{
	complete(b, 0, 1000);
	build_event(b, FXT_EVENT_FLOW_BEGIN, 0, 10, "flow", 5);
	build_event(b, FXT_EVENT_FLOW_END, 1000, bad ? 11 : 10, "flow", 5);
}

static const struct lint_case cases[] = {
	{ FXT_FINDING_THREAD_STATE, thread_state },
	{ FXT_FINDING_LEGACY_RUNNING, legacy_running },
	{ FXT_FINDING_WEIGHT_TYPE, weight_type },
	{ FXT_FINDING_WAKER_TYPE, waker_type },
	{ FXT_FINDING_WEIGHT_MISSING, weight_missing },
	{ FXT_FINDING_IDLE_WEIGHT, idle_weight },
	{ FXT_FINDING_IDLE_WEIGHT, idle_weight_legacy },
	{ FXT_FINDING_CPU_HUGE, cpu_huge },
	{ FXT_FINDING_SCHED_UNSORTED, sched_unsorted },
	{ FXT_FINDING_WAKE_LATE, wake_late },
	{ FXT_FINDING_SWITCH_OUT_LOST, switch_out_lost },
	{ FXT_FINDING_SWITCH_OUT_LOST, switch_out_lost_idle },
	{ FXT_FINDING_SWITCH_IN_LOST, switch_in_lost },
	{ FXT_FINDING_TWO_CPUS, two_cpus },
	{ FXT_FINDING_TWO_CPUS, two_cpus_for_ever, .also = { FXT_FINDING_CPU_LEFT_OPEN } },
	{ FXT_FINDING_TIE_SWITCH, tie_switch },
	{ FXT_FINDING_WAKE_RUNNING, wake_running },
	{ FXT_FINDING_TIE_WAKEUP, tie_wakeup },
	{ FXT_FINDING_WAKE_TWICE, wake_twice },
	{ FXT_FINDING_CPU_LEFT_OPEN, cpu_left_open },
	{ FXT_FINDING_WAKER_MISSING, waker_missing },
	{ FXT_FINDING_WAKERS_MANY, wakers_many, .is_large = true },
	{ FXT_FINDING_EVENT_UNKNOWN, event_unknown },
	{ FXT_FINDING_COMPLETE_BACKWARDS, complete_backwards },
	{ FXT_FINDING_COMPLETE_OVERLAP, complete_overlap },
	{ FXT_FINDING_COMPLETE_OVERLAP, complete_overlap_begin },
	{ FXT_FINDING_COMPLETE_OVERLAP, complete_overlap_end },
	{ FXT_FINDING_DURATION_END_ALONE, duration_end_alone },
	{ FXT_FINDING_DURATION_OPEN, duration_open },
	{ FXT_FINDING_DURATION_NAMES, duration_names },
	{ FXT_FINDING_ASYNC_UNMATCHED, async_unmatched },
	{ FXT_FINDING_ASYNC_DIFFERS, async_differs },
	{ FXT_FINDING_ASYNC_OUTSIDE, async_outside },
	{ FXT_FINDING_FLOW_UNMATCHED, flow_unmatched },
	{ FXT_FINDING_FLOW_UNMATCHED, flow_unmatched_step },
	{ FXT_FINDING_FLOW_TWICE, flow_twice },
	{ FXT_FINDING_FLOW_NO_SLICE, flow_no_slice },
};

int main(int argc, char **argv)
{
	static const struct lint_range range = { FXT_FINDING_THREAD_STATE,
						 FXT_FINDING_FLOW_NO_SLICE };

	return lint_cases_run(argc, argv,
			      &(struct lint_cases){ cases, ARRAY_SIZE(cases), &range, 1 });
}
