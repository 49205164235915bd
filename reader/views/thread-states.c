/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/views/thread-states.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "writer/fxt/fxt-names.h"
#include "writer/fxt/fxt-wire.h"

/* Times of losses are kept until each thread has had an event after them. At this number, the
 * states of all threads are passed on up to the losses, so that no time is needed any more. */
enum { GAPS_MAX = 4096 };

struct thread {
	uint32_t tid;
	enum thread_state state;
	bool begun; /* it has had an event */
	void *owner;
	uint64_t since_ns;  /* of the state, as in the records */
	uint64_t passed_ns; /* end of the last segment that FN has got */
	uint64_t epoch;     /* number of losses when the state began */
	uint64_t woken_ns;  /* time of a wakeup that no run has followed yet; 0 = none */
	uint32_t cpu;       /* where it runs, or ran last */
	uint32_t queue_cpu; /* the CPU for which it waits, or which it left last */
	uint32_t waker_tid;
	char letter;
	bool preempted, continued;
	bool earlier; /* a synthetic switch has begun the run, which began before since_ns */
	bool cut;     /* the part of the state before a loss was passed on */
	/*
	 * The thread was switched in on another CPU before the record of its switch-out. That
	 * record can follow: until then, or until the next change, the run on HELD_CPU since
	 * HELD_NS is not passed on.
	 */
	bool held, held_earlier;
	uint32_t held_cpu;
	uint64_t held_ns;
};

struct thread_states {
	thread_states_fn fn;
	void *userdata;
	struct table threads; /* tid -> struct thread, owned */
	/* The threads of the last two look-ups: an event has two threads, and the owner looks up
	 * both, too. */
	struct thread *recent[2];
	unsigned next_recent;
	uint64_t last_ns;   /* greatest time so far */
	uint64_t n_gaps;    /* number of losses so far */
	uint64_t first_gap; /* number of the loss at gaps[0] */
	uint64_t *gaps;     /* times of losses; owned */
	size_t room_gaps;
};

/* The receiver of segments. */
struct sink {
	thread_states_fn fn;
	void *userdata;
};

int thread_states_new(struct thread_states **ret, thread_states_fn fn, void *userdata)
{
	struct thread_states *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->fn = fn;
	s->userdata = userdata;
	*ret = s;
	return 0;
}

struct thread_states *thread_states_free(struct thread_states *s)
{
	if (!s)
		return NULL;
	table_deinit_free(&s->threads);
	free(s->gaps);
	return free_ptr(s);
}

static struct thread *thread_states_thread(struct thread_states *s, uint32_t tid)
{
	struct thread *t;

	for (size_t i = 0; i < ARRAY_SIZE(s->recent); i++)
		if (s->recent[i] && s->recent[i]->tid == tid)
			return s->recent[i];
	t = table_make(&s->threads, tid, sizeof(*t));
	if (!t)
		return NULL;
	t->tid = tid;
	s->recent[s->next_recent++ % ARRAY_SIZE(s->recent)] = t;
	return t;
}

void **thread_states_owner(struct thread_states *s, uint32_t tid)
{
	struct thread *t = thread_states_thread(s, tid);

	return t ? &t->owner : NULL;
}

static struct sink thread_states_sink(const struct thread_states *s)
{
	return (struct sink){ s->fn, s->userdata };
}

/* ---- segments ---- */

/* Passes on SEGMENT, whose since_ns and until_ns are set, as the next segment of T. */
static int thread_states_pass(struct thread *t, struct thread_segment *segment,
			      const struct sink *sink)
{
	segment->tid = t->tid;
	segment->owner = t->owner;
	segment->from_ns = t->passed_ns;
	segment->to_ns = segment->until_ns > t->passed_ns ? segment->until_ns : t->passed_ns;
	t->passed_ns = segment->to_ns;
	return sink->fn(sink->userdata, segment);
}

/* Returns the present state of T as a segment that ends at UNTIL_NS. */
static struct thread_segment thread_states_segment(const struct thread *t, uint64_t until_ns)
{
	bool runnable = t->state == THREAD_RUNNABLE, blocked = t->state == THREAD_BLOCKED;
	bool woken = runnable && t->woken_ns != 0;

	return (struct thread_segment){
		.state = t->state,
		.since_ns = t->since_ns,
		.until_ns = until_ns,
		.cpu = runnable || blocked          ? t->queue_cpu
		       : t->state == THREAD_RUNNING ? t->cpu
						    : 0,
		.letter = blocked ? t->letter : '\0',
		.preempted = runnable && t->preempted,
		.earlier = t->state == THREAD_RUNNING && t->earlier,
		.continued = t->continued,
		.woken = woken,
		.waker_tid = woken ? t->waker_tid : 0,
	};
}

/* Passes on the held run of T, up to UNTIL_NS. */
static int thread_states_pass_held(struct thread *t, uint64_t until_ns, enum thread_state_end end,
				   const struct sink *sink)
{
	struct thread_segment run;

	if (!t->held)
		return 0;
	run = (struct thread_segment){
		.state = THREAD_RUNNING,
		.end = end,
		.since_ns = t->held_ns,
		.until_ns = until_ns,
		.cpu = t->held_cpu,
		.earlier = t->held_earlier,
	};
	t->held = false;
	return thread_states_pass(t, &run, sink);
}

/* Passes on the part of T's present state before the first loss since its begin. */
static int thread_states_cut(const struct thread_states *s, struct thread *t,
			     const struct sink *sink)
{
	struct thread_segment segment;
	uint64_t gap_ns;

	if (t->cut)
		return 0;
	t->cut = true;
	gap_ns = s->gaps[t->epoch - s->first_gap];
	segment = thread_states_segment(t, gap_ns > t->since_ns ? gap_ns : t->since_ns);
	segment.end = THREAD_END_GAP;
	return thread_states_pass(t, &segment, sink);
}

/* The end of the present state of a thread. */
struct ending {
	uint64_t at_ns;
	enum thread_state_end end;
	bool split; /* the next state is the same */
	bool woken; /* by a wakeup of WAKER_TID */
	uint32_t waker_tid;
	uint64_t served_ns;
};

/* Passes on the present state of T. */
static int thread_states_pass_state(const struct thread_states *s, struct thread *t,
				    const struct ending *ending, const struct sink *sink)
{
	struct thread_segment segment;
	int r = thread_states_pass_held(t, t->since_ns, THREAD_END_GAP, sink);

	if (r < 0)
		return r;
	segment = thread_states_segment(t, ending->at_ns);
	if (t->epoch != s->n_gaps) {
		r = thread_states_cut(s, t, sink);
		if (r < 0)
			return r;
		segment = (struct thread_segment){ .since_ns = t->passed_ns,
						   .until_ns = ending->at_ns };
	} else if (ending->woken && t->state == THREAD_BLOCKED) {
		segment.woken = true;
		segment.waker_tid = ending->waker_tid;
	}
	segment.end = ending->end;
	segment.split = ending->split;
	segment.served_ns = ending->served_ns;
	return thread_states_pass(t, &segment, sink);
}

/* Begins STATE of T at AT_NS. */
static void thread_states_begin(const struct thread_states *s, struct thread *t,
				enum thread_state state, uint64_t at_ns)
{
	t->state = state;
	t->since_ns = at_ns;
	t->epoch = s->n_gaps;
	t->continued = t->cut = false;
}

/* Ends the present state of T, and begins STATE. */
static int thread_states_change(struct thread_states *s, struct thread *t, enum thread_state state,
				const struct ending *ending)
{
	const struct sink sink = thread_states_sink(s);
	int r = 0;

	if (t->begun)
		r = thread_states_pass_state(s, t, ending, &sink);
	else
		t->passed_ns = ending->at_ns;
	t->begun = true;
	thread_states_begin(s, t, state, ending->at_ns);
	return r;
}

/* ---- switches ---- */

enum thread_state thread_states_after(const struct event *ev)
{
	/* A synthetic switch-out marks the end of the recording or a loss: what the thread did next
	 * is unknown. */
	if (ev->sw.synthetic)
		return THREAD_UNKNOWN;
	switch (ev->sw.out_state) {
	case FXT_STATE_NEW:
	case FXT_STATE_RUNNING:
		return THREAD_RUNNABLE;
	case FXT_STATE_SUSPENDED:
	case FXT_STATE_BLOCKED:
		return THREAD_BLOCKED;
	case FXT_STATE_DYING:
	case FXT_STATE_DEAD:
		return THREAD_DEAD;
	default:
		return THREAD_UNKNOWN;
	}
}

/* Handles a late switch-out: EV ends a run of T on another CPU than the one on which T runs now. */
static int thread_states_late(struct thread_states *s, struct thread *t, const struct event *ev)
{
	const struct sink sink = thread_states_sink(s);
	struct thread_segment between = {
		.state = thread_states_after(ev),
		.since_ns = ev->ts_ns,
		.until_ns = t->since_ns,
	};
	int r = thread_states_pass_held(t, ev->ts_ns, THREAD_END_EVENT, &sink);

	if (between.state == THREAD_RUNNABLE || between.state == THREAD_BLOCKED)
		between.cpu = ev->cpu;
	if (between.state == THREAD_BLOCKED)
		between.letter = ev->sw.state ?: 'S';
	between.preempted = between.state == THREAD_RUNNABLE;
	return r < 0 ? r : thread_states_pass(t, &between, &sink);
}

static int thread_states_switch_out(struct thread_states *s, const struct event *ev)
{
	struct thread *t = thread_states_thread(s, ev->tid);
	struct ending ending = { .at_ns = ev->ts_ns };
	int r;

	if (!t)
		return -ENOMEM;
	if (t->state == THREAD_RUNNING && t->cpu != ev->cpu && t->since_ns >= ev->ts_ns)
		return thread_states_late(s, t, ev);
	if (t->state == THREAD_RUNNING && ev->sw.synthetic)
		ending.end = THREAD_END_GAP;
	r = thread_states_change(s, t, thread_states_after(ev), &ending);
	t->queue_cpu = ev->cpu;
	t->letter = ev->sw.state ?: 'S';
	t->preempted = true;
	return r;
}

/* Holds the run of T back, since EV switches T in on another CPU: the end of the run can follow. */
static int thread_states_hold(struct thread_states *s, struct thread *t, const struct event *ev)
{
	const struct sink sink = thread_states_sink(s);
	int r = thread_states_pass_held(t, t->since_ns, THREAD_END_GAP, &sink);

	t->held = true;
	t->held_earlier = t->earlier;
	t->held_cpu = t->cpu;
	t->held_ns = t->since_ns;
	thread_states_begin(s, t, THREAD_RUNNING, ev->ts_ns);
	return r;
}

static int thread_states_switch_in(struct thread_states *s, const struct event *ev)
{
	struct thread *t = thread_states_thread(s, ev->sw.next_tid);
	struct ending ending = { .at_ns = ev->ts_ns };
	int r;

	if (!t)
		return -ENOMEM;
	if (!ev->sw.synthetic && t->epoch == s->n_gaps)
		ending.served_ns = t->woken_ns;
	if (t->state == THREAD_RUNNING && t->epoch == s->n_gaps) {
		/* Records are missing, or late. */
		ending.end = THREAD_END_GAP;
		r = t->cpu != ev->cpu ? thread_states_hold(s, t, ev)
				      : thread_states_change(s, t, THREAD_RUNNING, &ending);
	} else {
		r = thread_states_change(s, t, THREAD_RUNNING, &ending);
	}
	t->woken_ns = 0;
	t->cpu = ev->cpu;
	t->earlier = ev->sw.synthetic;
	return r;
}

static int thread_states_switch(struct thread_states *s, const struct event *ev)
{
	int r = 0;

	if (ev->cpu > FXT_CPU_MAX)
		return 0;
	if (ev->tid != 0 && !fxt_koid_is_other(ev->tid))
		r = thread_states_switch_out(s, ev);
	if (r == 0 && ev->sw.next_tid != 0 && !fxt_koid_is_other(ev->sw.next_tid))
		r = thread_states_switch_in(s, ev);
	return r;
}

/* ---- other events ---- */

static int thread_states_wake(struct thread_states *s, const struct event *ev)
{
	struct ending ending = { .woken = true, .waker_tid = ev->wake.waker_tid };
	struct thread *t;
	int r;

	if (ev->tid == 0)
		return 0;
	t = thread_states_thread(s, ev->tid);
	if (!t)
		return -ENOMEM;
	if (t->state == THREAD_RUNNING || (t->state == THREAD_RUNNABLE && t->epoch == s->n_gaps))
		return 0;
	ending.at_ns = ev->ts_ns > t->since_ns ? ev->ts_ns : t->since_ns;
	r = thread_states_change(s, t, THREAD_RUNNABLE, &ending);
	t->woken_ns = ev->ts_ns;
	t->waker_tid = ev->wake.waker_tid;
	t->queue_cpu = ev->cpu;
	t->preempted = false;
	return r;
}

/* Passes on the present state of T up to AT_NS. The state goes on in another segment. */
static int thread_states_part(struct thread_states *s, struct thread *t, uint64_t at_ns)
{
	const struct ending ending = { .at_ns = at_ns, .split = true };
	bool begun = t->begun;
	int r;

	if (at_ns <= t->since_ns || t->epoch != s->n_gaps)
		return 0;
	r = thread_states_change(s, t, t->state, &ending);
	t->continued = begun;
	return r;
}

/* Ends the wait of a thread for its CPU, and begins its wait for the CPU to which it is moved. */
static int thread_states_migrate(struct thread_states *s, const struct event *ev)
{
	struct thread *t = ev->tid ? table_get(&s->threads, ev->tid) : NULL;
	int r = 0;

	if (!t || t->state != THREAD_RUNNABLE || t->epoch != s->n_gaps)
		return 0;
	if (t->queue_cpu != ev->migrate.to_cpu)
		r = thread_states_part(s, t, ev->ts_ns);
	t->queue_cpu = ev->migrate.to_cpu;
	return r;
}

/* Passes on the states of all threads up to the losses in them. Then the times of the losses are
 * not needed any more. */
static int thread_states_pass_gaps(struct thread_states *s)
{
	const struct sink sink = thread_states_sink(s);
	struct thread *t;
	int r = 0;

	for (size_t pos = 0; r == 0 && (t = table_next(&s->threads, &pos));) {
		if (t->epoch == s->n_gaps || !t->begun)
			continue;
		r = thread_states_pass_held(t, t->since_ns, THREAD_END_GAP, &sink);
		r = r < 0 ? r : thread_states_cut(s, t, &sink);
	}
	s->first_gap = s->n_gaps;
	return r;
}

static int thread_states_lose(struct thread_states *s, uint64_t at_ns)
{
	size_t n = (size_t)(s->n_gaps - s->first_gap);
	int r = 0;

	if (n == GAPS_MAX) {
		r = thread_states_pass_gaps(s);
		n = 0;
	}
	if (r < 0 || GROW(s->gaps, s->room_gaps, n + 1) < 0)
		return -ENOMEM;
	s->gaps[n] = at_ns;
	s->n_gaps++;
	return 0;
}

int thread_states_add(struct thread_states *s, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_SWITCH:
		if (ev->ts_ns > s->last_ns)
			s->last_ns = ev->ts_ns;
		return thread_states_switch(s, ev);
	case EVENT_WAKE:
		return thread_states_wake(s, ev);
	case EVENT_MIGRATE:
		return thread_states_migrate(s, ev);
	case EVENT_LOST:
		if (strcmp(ev->lost.class_name, event_class_names[CLASS_SCHED]) != 0)
			return 0;
		return thread_states_lose(s, ev->ts_ns);
	case EVENT_DAMAGE:
		/* (the time of the damage is unknown, but it is after the events so far) */
		return thread_states_lose(s, s->last_ns);
	default:
		return 0;
	}
}

/* Ends the state of T at FROM_NS, the begin of a pause, and passes on the pause. */
static int thread_states_pause_thread(struct thread_states *s, struct thread *t, uint64_t from_ns,
				      uint64_t to_ns)
{
	const struct sink sink = thread_states_sink(s);
	bool is_known = t->state != THREAD_UNKNOWN && t->epoch == s->n_gaps;
	struct ending ending = { .at_ns = from_ns > t->since_ns ? from_ns : t->since_ns,
				 .end = is_known ? THREAD_END_PAUSE : THREAD_END_GAP };
	struct thread_segment pause = { .end = THREAD_END_PAUSE };
	int r = thread_states_pass_state(s, t, &ending, &sink);

	if (r < 0)
		return r;
	pause.since_ns = ending.at_ns;
	pause.until_ns = to_ns;
	thread_states_begin(s, t, THREAD_UNKNOWN, to_ns);
	return thread_states_pass(t, &pause, &sink);
}

/* (threads with records after TO_NS are skipped: such records can precede the end of the pause in
 * the file) */
int thread_states_pause(struct thread_states *s, uint64_t from_ns, uint64_t to_ns)
{
	struct thread *t;
	int r = 0;

	for (size_t pos = 0; r == 0 && (t = table_next(&s->threads, &pos));) {
		if (t->since_ns >= to_ns || !t->begun)
			continue;
		if (t->state != THREAD_DEAD)
			r = thread_states_pause_thread(s, t, from_ns, to_ns);
		t->woken_ns = 0;
	}
	return r;
}

int thread_states_rename(struct thread_states *s, const struct thread_rename *rename)
{
	const struct ending ending = { .at_ns = rename->at_ns };
	struct thread *old = thread_states_thread(s, rename->from_tid), *t;
	uint32_t cpu;
	int r = 0;

	if (!old)
		return -ENOMEM;
	cpu = old->cpu;
	if (old->state != THREAD_DEAD)
		r = thread_states_change(s, old, THREAD_DEAD, &ending);
	if (r < 0 || !rename->runs)
		return r;
	t = thread_states_thread(s, rename->to_tid);
	if (!t)
		return -ENOMEM;
	r = thread_states_change(s, t, THREAD_RUNNING, &ending);
	t->cpu = cpu;
	return r;
}

int thread_states_split(struct thread_states *s, uint32_t tid, uint64_t at_ns)
{
	struct thread *t = thread_states_thread(s, tid);

	return t ? thread_states_part(s, t, at_ns) : -ENOMEM;
}

bool thread_states_get(const struct thread_states *s, uint32_t tid, struct thread_now *ret)
{
	const struct thread *t = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(s->recent); i++)
		if (s->recent[i] && s->recent[i]->tid == tid)
			t = s->recent[i];
	t = t ?: table_get(&s->threads, tid);
	if (!t || !t->begun)
		return false;
	*ret = (struct thread_now){
		.state = t->state,
		.cpu = t->cpu,
		.queue_cpu = t->queue_cpu,
		.since_ns = t->since_ns,
		.woken_ns = t->woken_ns,
		.known = t->epoch == s->n_gaps,
	};
	return true;
}

/* ---- the end ---- */

int thread_states_peek(const struct thread_states *s, uint64_t end_ns, thread_states_fn fn,
		       void *userdata)
{
	const struct sink sink = { fn, userdata };
	const struct ending ending = { .at_ns = end_ns, .end = THREAD_END_OPEN };
	struct thread *t;
	int r = 0;

	for (size_t pos = 0; r == 0 && (t = table_next(&s->threads, &pos));) {
		struct thread copy = *t;

		if (t->begun && t->since_ns <= end_ns)
			r = thread_states_pass_state(s, &copy, &ending, &sink);
	}
	return r;
}

int thread_states_finish(struct thread_states *s, uint64_t end_ns)
{
	return thread_states_peek(s, end_ns, s->fn, s->userdata);
}

void thread_states_forget(struct thread_states *s, uint32_t tid)
{
	memset(s->recent, 0, sizeof(s->recent));
	free(table_remove(&s->threads, tid));
}
