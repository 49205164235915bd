/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/tables/table-slices.h"

#include <errno.h>
#include <string.h>

/* The time of a thread before its next slice. */
struct slice_wait {
	bool runnable; /* the segments before were runnable, since the last slice or wakeup */
	uint64_t runnable_ns;
	bool served; /* a wakeup leads to the slice */
	uint64_t latency_ns;
	uint32_t waker_tid; /* 0 = idle, or unknown */
};

void table_slices_deinit(struct table_slices *s)
{
	table_deinit_free(&s->waits);
}

/* Notes SEGMENT, in which the thread did not run. */
static void table_slices_wait(struct slice_wait *w, const struct thread_segment *segment)
{
	bool runnable = segment->state == THREAD_RUNNABLE;

	if (!runnable || !w->runnable)
		w->runnable_ns = 0;
	if (!runnable || !segment->continued)
		w->waker_tid = 0;
	if (runnable)
		w->runnable_ns += segment->to_ns - segment->from_ns;
	if (segment->woken)
		w->waker_tid = segment->waker_tid;
	w->runnable = runnable;
	w->served = segment->served_ns != 0;
	if (w->served)
		w->latency_ns = segment->until_ns > segment->served_ns
					? segment->until_ns - segment->served_ns
					: 0;
}

/* Sets the end of the slice: how it ended, and the next state of the thread, if both are known. */
static void table_slices_put_end(const struct table_slices *s, const struct thread_segment *segment)
{
	static const char *const ends[] = {
		[THREAD_END_EVENT] = "continued",
		[THREAD_END_GAP] = "unknown",
		[THREAD_END_OPEN] = "open",
		[THREAD_END_PAUSE] = "pause",
	};
	static const char *const states[THREAD_STATES] = {
		[THREAD_UNKNOWN] = "unknown",
		[THREAD_RUNNABLE] = "preempted",
		[THREAD_BLOCKED] = "blocked",
		[THREAD_DEAD] = "exited",
	};
	const struct event *ev = s->ev;
	const char *end = ends[segment->end];
	char letter[2] = "";

	if (ev && segment->end == THREAD_END_EVENT && ev->kind == EVENT_SWITCH &&
	    ev->tid == segment->tid && ev->ts_ns == segment->until_ns) {
		end = states[thread_states_after(ev)] ?: end;
		letter[0] = ev->sw.state;
		if (thread_states_after(ev) == THREAD_BLOCKED && !letter[0])
			letter[0] = 'S';
	}
	table_put_text(s->set, TABLE_SLICES, SLICE_END, end);
	table_put_text(s->set, TABLE_SLICES, SLICE_STATE, letter);
}

static int table_slices_put(const struct table_slices *s, const struct slice_wait *w,
			    const struct thread_segment *segment)
{
	struct table_set *set = s->set;

	table_put_time(set, TABLE_SLICES, SLICE_TIME, segment->from_ns);
	table_put(set, TABLE_SLICES, SLICE_DURATION, segment->to_ns - segment->from_ns);
	table_put(set, TABLE_SLICES, SLICE_CPU, segment->cpu);
	table_slices_put_end(s, segment);
	if (w->runnable)
		table_put(set, TABLE_SLICES, SLICE_RUNNABLE, w->runnable_ns);
	if (w->served)
		table_put(set, TABLE_SLICES, SLICE_LATENCY, w->latency_ns);
	if (w->waker_tid)
		table_put(set, TABLE_SLICES, SLICE_WAKER, w->waker_tid);
	return table_put_thread(set, TABLE_SLICES, SLICE_THREAD, segment->tid, 0)
		       ?: table_end_row(set, TABLE_SLICES);
}

int table_slices_add(void *userdata, const struct thread_segment *segment)
{
	struct table_slices *s = userdata;
	struct slice_wait *w = table_make(&s->waits, segment->tid, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	if (segment->state != THREAD_RUNNING) {
		table_slices_wait(w, segment);
		return 0;
	}
	r = table_slices_put(s, w, segment);
	*w = (struct slice_wait){ 0 };
	return r;
}
