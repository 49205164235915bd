/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/why/why.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "reader/why/why-state.h"
#include "reader/why/why-threads.h"

const char *const why_what_keys[WHY_INSTANCES] = {
	[WHY_INSTANCE_WAIT] = "wait",
	[WHY_INSTANCE_WINDOW] = "window",
	[WHY_INSTANCE_CALL] = "call",
	[WHY_INSTANCE_BETWEEN] = "between",
};

/* ---- reading ---- */

static void why_see_time(struct why_state *s, uint64_t ns)
{
	if (ns > s->last_ns)
		s->last_ns = ns;
}

/* Forgets the older half of the history, and by repeated calls everything. Instances in the
 * forgotten time are lost. Returns 0, or -ENOMEM if nothing is left to forget. */
static int why_forget(struct why_state *s)
{
	uint64_t begin_ns = history_begin_ns(s->history) ?: s->summary->start_ns;

	if (s->last_ns < begin_ns)
		return -ENOMEM;
	begin_ns += (s->last_ns - begin_ns) / 2 + 1;
	history_forget(s->history, begin_ns);
	why_spans_forget(&s->spans, begin_ns);
	return why_waits_forget(&s->waits, begin_ns);
}

static int why_on_segment(void *userdata, const struct thread_segment *segment)
{
	struct why_state *s = userdata;
	int r = history_add_segment(s->history, segment);

	why_see_time(s, segment->to_ns);
	while (r == -ENOBUFS) {
		r = why_forget(s);
		if (r == 0)
			r = history_add_segment(s->history, segment);
	}
	return r;
}

int why_new(struct why **ret, const struct why_options *options, struct summary *summary,
	    struct profile *profile)
{
	_cleanup_(why_freep) struct why *w = calloc(1, sizeof(*w));
	struct why_state *s = w ? calloc(1, sizeof(*s)) : NULL;

	if (!s)
		return -ENOMEM;
	w->state = s;
	s->options = *options;
	s->summary = summary;
	s->waits.profile = profile;
	s->waits.summary = summary;
	s->waits.names = options->names;
	s->waits.reclaims = &s->reclaims;
	s->spans.function = options->what == WHY_INSTANCE_CALL ? options->span : NULL;
	s->spans.begin = options->what == WHY_INSTANCE_BETWEEN ? options->between_from : NULL;
	s->spans.end = options->what == WHY_INSTANCE_BETWEEN ? options->between_to : NULL;
	if (history_new(&s->history, options->limits) < 0)
		return -ENOMEM;
	summary_listen(summary, why_on_segment, s);
	*ret = TAKE_PTR(w);
	return 0;
}

static void why_instance_deinit(struct why_instance *i)
{
	path_deinit(&i->path);
	why_verdict_deinit(&i->verdict);
}

struct why *why_free(struct why *w)
{
	if (!w)
		return NULL;
	for (size_t i = 0; i < w->n_worst; i++)
		why_instance_deinit(&w->worst[i]);
	free(w->worst);
	free(w->threads);
	free(w->open_waits);
	latency_deinit(&w->durations);
	if (w->state) {
		why_waits_deinit(&w->state->waits);
		why_requests_deinit(&w->state->requests);
		why_faults_deinit(&w->state->faults);
		why_reclaims_deinit(&w->state->reclaims);
		why_spans_deinit(&w->state->spans);
		cpu_use_deinit(&w->state->use);
		table_deinit_free(&w->state->holders);
		table_deinit_free(&w->state->thread_holders);
		idle_time_deinit(&w->state->idle);
		history_free(w->state->history);
	}
	free(w->state);
	return free_ptr(w);
}

static void why_note_source(struct why *w, const struct event *ev)
{
	struct why_sources *sources = &w->sources;

	if (ev->kind == EVENT_SWITCH)
		sources->schedule = true;
	else if (ev->kind == EVENT_SAMPLING && ev->sampling.threshold_ns != 0)
		sources->min_wait_ns = ev->sampling.threshold_ns;
	else if (ev->kind == EVENT_OFFCPU)
		sources->waits = true;
	else if (ev->kind == EVENT_INTERVAL && ev->interval.kind != INTERVAL_WORK &&
		 ev->interval.kind != INTERVAL_IDLE)
		sources->interrupts = true;
	else if (ev->kind == EVENT_SHED && strcmp(ev->shed.what, "wakeups") == 0)
		sources->no_wakeups = true;
}

/* (the summary knows the pauses of the sessions) */
static int why_add_reclaims(struct why_state *s, const struct event *ev)
{
	const struct summary *summary = s->summary;

	return why_reclaims_pause(&s->reclaims, summary->paused_at_ns, summary->paused, ev->ts_ns)
		       ?: why_reclaims_add(&s->reclaims, ev);
}

static int why_add_history(struct why_state *s, const struct event *ev)
{
	int r = history_add(s->history, ev);

	while (r == -ENOBUFS || (r == 0 && history_is_full(s->history))) {
		bool again = r == -ENOBUFS;

		r = why_forget(s);
		if (r == 0 && again)
			r = history_add(s->history, ev);
	}
	return r;
}

int why_add(struct why *w, const struct event *ev)
{
	struct why_state *s = w->state;

	why_note_source(w, ev);
	/* (a flood of interrupts can fill the history without any switch of a selected thread) */
	if (ev->kind == EVENT_SWITCH || ev->kind == EVENT_INTERVAL || ev->kind == EVENT_FORK)
		why_see_time(s, ev->ts_ns);
	return why_add_history(s, ev) ?: why_waits_add(&s->waits, ev)
				      ?: why_requests_add(&s->requests, ev)
				      ?: why_faults_add(&s->faults, ev)
				      ?: why_add_reclaims(s, ev)
				      ?: why_spans_add(&s->spans, ev);
}

/* ---- the end of reading ---- */

static uint64_t why_time(const struct why_state *s, uint64_t ns)
{
	uint64_t start_ns = s->options.absolute ? 0 : s->summary->start_ns;

	return ns > UINT64_MAX - start_ns ? UINT64_MAX : start_ns + ns;
}

/* Limits the window to the recording and to the time since the begin of the history. */
static void why_set_window(struct why *w)
{
	const struct why_state *s = w->state;
	uint64_t begin_ns = history_begin_ns(s->history);

	w->from_ns = why_time(s, s->options.from_ns);
	w->to_ns = why_time(s, s->options.to_ns);
	if (w->from_ns < s->summary->start_ns)
		w->from_ns = s->summary->start_ns;
	if (w->to_ns > s->summary->end_ns)
		w->to_ns = s->summary->end_ns;
	if (w->from_ns > w->to_ns)
		w->from_ns = w->to_ns;
	if (begin_ns <= w->from_ns)
		return;
	begin_ns = begin_ns < w->to_ns ? begin_ns : w->to_ns;
	w->forgotten_ns = begin_ns - w->from_ns;
	w->from_ns = begin_ns;
}

/* Adds the waits that began before the recording to the history: the earliest of each thread. */
static int why_add_earlier(struct why_state *s)
{
	struct table first = { 0 };
	const struct why_wait *wait;
	int r = 0;

	for (size_t i = 0; i < s->waits.n && r == 0; i++) {
		struct why_wait *next = &s->waits.list[i];

		wait = next->earlier ? table_get(&first, next->tid) : NULL;
		if (next->earlier && (!wait || next->from_ns < wait->from_ns))
			r = table_set(&first, next->tid, next);
	}
	for (size_t pos = 0; r == 0 && (wait = table_next(&first, &pos));)
		r = history_add_earlier(
			s->history,
			&(struct history_earlier){ .tid = wait->tid,
						   .from_ns = wait->from_ns,
						   .to_ns = wait->open ? UINT64_MAX : wait->to_ns,
						   .letter = wait->letter });
	table_deinit(&first);
	return r;
}

/* Describes the wakeup that ended WAIT. Returns false if it is not known exactly. */
static bool why_find_wakeup(const struct why_wait *wait, struct history_wakeup *ret)
{
	*ret = (struct history_wakeup){
		.tid = wait->tid,
		.waker_tid = wait->waker_tid,
		.from_ns = wait->from_ns,
		.woken_ns = wait->woken_ns,
		.to_ns = wait->to_ns,
	};
	return !wait->open && !wait->estimated && !wait->earlier && wait->woken_ns > wait->from_ns;
}

DEFINE_ORDER(why_wakeup_order, struct history_wakeup,
	     COMPARE(x->tid, y->tid) ?: COMPARE(x->from_ns, y->from_ns))

/* Adds the wakeups whose scheduling records are missing, from the times off CPU. */
static int why_add_wakeups(struct why *w)
{
	struct why_state *s = w->state;
	_cleanup_free_ struct history_wakeup *list = NULL;
	struct history_wakeup wakeup;
	size_t n = 0, room = 0;
	int r;

	for (size_t i = 0; i < s->waits.n; i++) {
		if (!why_find_wakeup(&s->waits.list[i], &wakeup) ||
		    !history_lacks_wakeup(s->history, &wakeup))
			continue;
		if (GROW(list, room, n + 1) < 0)
			return -ENOMEM;
		list[n++] = wakeup;
	}
	SORT(list, n, why_wakeup_order);
	r = history_add_wakeups(s->history, list, n);
	for (size_t i = 0; i < n && r == 0; i++) {
		struct why_wait *wait = why_waits_find(&s->waits, list[i].tid, list[i].from_ns);

		if (!list[i].used || !wait)
			continue;
		wait->fills = true;
		w->sources.filled_wakeups++;
	}
	return r;
}

/* Marks throttled times in the history, since the scheduling records do not show them. */
static void why_add_throttled(struct why *w)
{
	const struct why_waits *waits = &w->state->waits;

	for (size_t i = 0; i < waits->n; i++)
		if (waits->list[i].throttled)
			history_set_throttled(w->state->history, waits->list[i].tid,
					      waits->list[i].from_ns);
}

static uint64_t why_lost_of(const struct summary *s, enum event_class class)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n_lost; i++)
		if (strcmp(s->lost[i].class_name, event_class_names[class]) == 0)
			n = s->lost[i].count;
	return n;
}

static int why_end_reading(struct why *w)
{
	struct why_state *s = w->state;
	int r;

	history_finish(s->history, s->summary->end_ns);
	why_reclaims_finish(&s->reclaims, s->summary->end_ns);
	why_faults_finish(&s->faults);
	r = why_add_earlier(s) ?: why_add_wakeups(w);
	if (r == 0)
		why_add_throttled(w);
	why_set_window(w);
	s->use.idle = &s->idle;
	s->use.budget = &s->budget;
	s->budget.max = s->options.max_slices ?: CPU_USE_SLICES_MAX;
	s->visits.max = s->options.max_visits ?: WHY_PATHS_VISITS_MAX;
	return r ?: why_spans_finish(&s->spans, s->summary->end_ns)
			    ?: idle_time_make(&s->idle, s->history);
}

static void why_finish_sources(struct why *w)
{
	const struct summary *s = w->state->summary;

	w->sources.kernel_frames = w->state->waits.kernel_frames;
	w->sources.kernel_names = w->state->waits.kernel_names;
	w->sources.filtered = s->filtered;
	w->sources.paused_ns = s->duration_ns - s->recorded_ns;
	w->n_waits_dropped = w->state->waits.n_dropped;
	w->sources.lost = why_lost_of(s, CLASS_SCHED);
}

/* ---- results ---- */

static struct why_split why_split_of(struct why_state *s, uint32_t tid)
{
	return (struct why_split){
		.history = s->history,
		.waits = &s->waits,
		.is_kernel_thread = why_thread_is_kernel(s->summary, tid),
		.use = &s->use,
	};
}

int why_split_thread(struct why *w, uint32_t tid, uint64_t from_ns, uint64_t to_ns,
		     struct why_times *ret)
{
	const struct why_split split = why_split_of(w->state, tid);

	return why_split(&split, tid, from_ns, to_ns, ret);
}

/* Adds the shares in FROM to TO. */
static int why_merge_holders(struct table *to, const struct table *from)
{
	const struct cpu_share *share;

	for (size_t pos = 0; (share = table_next(from, &pos));) {
		struct cpu_share *sum = table_make(to, (uint64_t)share->tid + 1, sizeof(*sum));

		if (!sum)
			return -ENOMEM;
		sum->tid = share->tid;
		sum->ns += share->ns;
	}
	return 0;
}

int why_add_holders(struct why_state *s, struct table *holders)
{
	return why_merge_holders(holders, &s->use.shares);
}

/* Computes the sums of T in the window, and its instances. */
static int why_add_window_of(struct why *w, struct why_thread *t)
{
	int r = why_split_thread(w, t->tid, w->from_ns, w->to_ns, &t->times)
			?: why_add_holders(w->state, &w->state->holders);

	why_split_add(&w->total, &t->times);
	w->n_threads++;
	return r ?: why_instances_find(w, t);
}

/* Computes the instances of T, and their sums. Leaves T out if it has no instance. */
static int why_add_spans_of(struct why *w, struct why_thread *t)
{
	struct why_state *s = w->state;
	int r;

	table_deinit_free(&s->thread_holders);
	r = why_instances_find(w, t);
	if (r < 0 || t->n_waits == 0)
		return r;
	w->n_threads++;
	why_split_add(&w->total, &t->times);
	return why_split_set_holders(&t->times, &s->thread_holders)
		       ?: why_merge_holders(&s->holders, &s->thread_holders);
}

static int why_add_thread(struct why *w, uint32_t tid)
{
	const struct summary_thread *known = table_get(&w->state->summary->threads, tid);
	struct why_thread *t = &w->threads[w->n_threads];
	int r;

	*t = (struct why_thread){ .tid = tid, .pid = known ? known->pid : 0 };
	r = why_has_spans(w) ? why_add_spans_of(w, t) : why_add_window_of(w, t);
	return r ?: why_instances_find_open(w, t);
}

DEFINE_ORDER(why_thread_order, struct why_thread,
	     COMPARE(y->waits_ns, x->waits_ns)
		     ?: COMPARE(why_instances_busy_ns(&y->times),
				why_instances_busy_ns(&x->times))
		     ?: COMPARE(x->tid, y->tid))

DEFINE_ORDER(why_tid_order, uint32_t, COMPARE(*x, *y))

/* Lists the threads that have segments or calls in a new array, ascending. */
static int why_list_threads(const struct why_state *s, uint32_t **ret, size_t *ret_n)
{
	size_t n_known, n = 0;
	const uint32_t *known = history_threads(s->history, &n_known);
	uint32_t *tids = calloc(n_known + s->spans.n + 1, sizeof(*tids));

	if (!tids)
		return -ENOMEM;
	for (size_t i = 0; i < n_known; i++)
		tids[n++] = known[i];
	for (size_t i = 0; i < s->spans.n; i++)
		if (s->spans.list[i].tid != 0 && (n == 0 || tids[n - 1] != s->spans.list[i].tid))
			tids[n++] = s->spans.list[i].tid;
	SORT(tids, n, why_tid_order);
	*ret_n = 0;
	for (size_t i = 0; i < n; i++)
		if (i == 0 || tids[i] != tids[i - 1])
			tids[(*ret_n)++] = tids[i];
	*ret = tids;
	return 0;
}

/* Keeps the selected ones of the N threads in TIDS. Returns their number. */
static size_t why_select(const struct why_options *o, uint32_t *tids, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (o->wants(o->userdata, tids[i]))
			tids[kept++] = tids[i];
	return kept;
}

static int why_add_threads(struct why *w)
{
	const struct why_options *o = &w->state->options;
	_cleanup_free_ uint32_t *tids = NULL;
	size_t n = 0;
	int r = why_list_threads(w->state, &tids, &n);

	if (r < 0)
		return r;
	w->threads = calloc(n + 1, sizeof(*w->threads));
	w->worst = calloc(o->n_worst + 1, sizeof(*w->worst));
	if (!w->threads || !w->worst)
		return -ENOMEM;
	if (o->wants)
		n = why_select(o, tids, n);
	w->state->many_threads = n > 1;
	for (size_t i = 0; i < n && r == 0; i++)
		r = why_add_thread(w, tids[i]);
	SORT(w->threads, w->n_threads, why_thread_order);
	why_instances_finish(w);
	return r ?: why_split_set_holders(&w->total, &w->state->holders);
}

/* Finds the source of the interrupt that ended a wait, from the cause of the wait. */
static enum wait_source why_find_source(void *userdata, uint32_t tid, uint64_t woken_ns)
{
	struct why *w = userdata;
	struct history_span span;
	struct wait_verdict verdict;
	enum wait_cause cause;

	if (!history_find(w->state->history, tid, woken_ns, &span) ||
	    why_find_cause(w, tid, span.segment.from_ns, &verdict) < 0)
		return WAIT_SOURCE_UNKNOWN;
	cause = verdict.cause != WAIT_MEMORY && verdict.second == WAIT_DISK ? WAIT_DISK
									    : verdict.cause;
	switch (cause) {
	case WAIT_MEMORY:
		return WAIT_SOURCE_MEMORY;
	case WAIT_TIMER:
		return WAIT_SOURCE_TIMER;
	case WAIT_DISK:
		return WAIT_SOURCE_DISK;
	case WAIT_SOCKET:
	case WAIT_REMOTE:
		return WAIT_SOURCE_NETWORK;
	default:
		return WAIT_SOURCE_UNKNOWN;
	}
}

static enum why_role why_find_role(void *userdata, uint32_t koid)
{
	const struct why *w = userdata;

	return why_thread_role(w->state->summary, koid);
}

const char *why_stack_text(char *to, size_t room, const struct why *w, uint32_t node, unsigned max)
{
	static const struct profile_names none = { 0 };
	const struct why_waits *waits = &w->state->waits;

	return profile_names_stack(to, room, waits->profile, waits->names ?: &none, node, max);
}

/* The owner of the lock for which TID waited from FROM_NS on. */
static uint32_t why_find_owner(void *userdata, uint32_t tid, uint64_t from_ns)
{
	const struct why_wait *wait = why_find_wait(userdata, tid, from_ns);

	return wait ? wait->owner_tid : 0;
}

/* Adds the owner of the lock in the longest wait of I to C. */
static void why_add_owner(struct why *w, const struct why_instance *i, struct why_case *c)
{
	const struct why_wait *wait = i->wait_ns ? why_find_wait(w, i->tid, i->wait_ns) : NULL;

	if (!wait || wait->owner_tid == 0)
		return;
	c->owner = wait->owner_tid;
	c->lock = wait->address;
	if (!i->open || !i->wait_open)
		return;
	c->n_deadlocked = why_instances_deadlock(w, i->tid);
	c->next_owner = why_instances_open_owner(w, c->owner);
}

/* The end of the time from AT_NS on in which TID ran or was ready without a wait. */
static uint64_t why_runs_until(const struct why_state *s, uint32_t tid, uint64_t at_ns)
{
	size_t pos = history_seek(s->history, tid, at_ns);
	struct history_span span;

	while (history_next(s->history, tid, &pos, &span) &&
	       (span.segment.state == THREAD_RUNNING || span.segment.state == THREAD_RUNNABLE))
		at_ns = span.segment.to_ns;
	return at_ns;
}

/* True if I is a wait in a page fault: it has no system call, but a stack. */
static bool why_waits_in_fault(const struct why *w, const struct why_instance *i)
{
	const struct why_wait *wait = why_waits_find(&w->state->waits, i->tid, i->wait_ns);

	return i->verdict_of_wait.cause == WAIT_FAULT || (wait && wait->node && !wait->syscall);
}

/* The thread with the longest share of waiting for memory or a disk on the path of I; 0 = none. */
static uint32_t why_find_loader(const struct why_instance *i)
{
	const struct path_share *most = NULL;

	for (size_t n = 0; n < i->path.n_shares; n++) {
		const struct path_share *share = &i->path.shares[n];

		if ((share->kind == PATH_MEMORY || share->kind == PATH_DISK) &&
		    (!most || share->ns > most->ns))
			most = share;
	}
	return most ? most->tid : 0;
}

/*
 * Finds the major faults of I, or of the thread for which it waited. A fault is recorded at its
 * end, when the thread runs again after its wait. So the fault of a wait is the next fault of the
 * thread, unless the thread waits again before it.
 */
static void why_find_faults(struct why *w, struct why_instance *i, struct why_case *c)
{
	bool is_fault = i->what == WHY_INSTANCE_WAIT && why_waits_in_fault(w, i);
	uint32_t tid = is_fault ? i->tid : why_find_loader(i);

	if (is_fault)
		i->has_faults =
			why_faults_find(&w->state->faults, tid, i->to_ns,
					why_runs_until(w->state, tid, i->to_ns), 1, &i->faults);
	else if (tid && (tid != i->tid || i->what != WHY_INSTANCE_WAIT))
		i->has_faults = why_faults_find(&w->state->faults, tid, i->from_ns, i->to_ns,
						UINT64_MAX, &i->faults);
	if (!i->has_faults)
		return;
	i->faults_tid = tid;
	c->faults = &i->faults;
	c->faults_tid = tid;
	c->is_fault = is_fault;
}

static int why_explain(struct why *w, struct why_instance *i)
{
	const struct path_sources sources = {
		.find = why_find_source,
		.role = why_find_role,
		.owner = why_find_owner,
		.userdata = w,
		.idle = &w->state->idle,
		.budget = &w->state->budget,
		.visits = &w->state->visits,
	};
	const struct why_split split = why_split_of(w->state, i->tid);
	struct why_disk disk;
	int r = why_instances_find_wait(w, i);
	struct why_case c = {
		.tid = i->tid,
		.from_ns = i->from_ns,
		.to_ns = i->to_ns,
		.open = i->open && i->wait_open,
		.times = &i->times,
		.path = &i->path,
		.waker = i->what == WHY_INSTANCE_WAIT ? i->waker : 0,
		.function = i->verdict_of_wait.function,
		.has_waits = w->sources.waits,
		.has_interrupts = w->sources.interrupts,
		.summary = w->state->summary,
	};

	why_add_owner(w, i, &c);
	if (why_requests_find(&w->state->requests, i->tid, i->from_ns, i->to_ns, &disk))
		c.disk = &disk;
	i->times = (struct why_times){ 0 };
	r = r ?: why_split_thread(w, i->tid, i->from_ns, i->to_ns, &i->times)
			?: path_compute(w->state->history, &sources, i->tid, i->from_ns, i->to_ns,
					&i->path);
	if (r == 0)
		why_find_faults(w, i, &c);
	if (r == 0 && i->times.idle_ns > 0)
		r = why_split_idle_cpu(&split, i->tid, i->from_ns, i->to_ns, &i->idle_cpu,
				       &i->idle_cpu_ns);
	if (i->times.throttled_ns > 0)
		c.quota = i->quota =
			why_waits_throttled(&w->state->waits, i->tid, i->from_ns, i->to_ns);
	w->paths_cut |= i->path.cut;
	c.idle_cpu = i->idle_cpu;
	c.idle_cpu_ns = i->idle_cpu_ns;
	return r ?: why_verdict_make(&c, &i->verdict);
}

int why_finish(struct why *w)
{
	int r;

	why_finish_sources(w);
	if (!w->sources.schedule)
		return -ENODATA;
	r = why_end_reading(w);
	w->n_spans_dropped = w->state->spans.n_dropped;
	r = r ?: why_add_threads(w);
	for (size_t i = 0; i < w->n_worst && r == 0; i++)
		r = why_explain(w, &w->worst[i]);
	w->holders_cut = w->state->budget.is_used_up;
	w->paths_ended = w->state->visits.is_used_up;
	why_finish_sources(w);
	return r;
}

const struct why_spans *why_get_spans(const struct why *w)
{
	return &w->state->spans;
}

const struct why_reclaims *why_get_reclaims(const struct why *w)
{
	return &w->state->reclaims;
}

const struct why_wait *why_find_wait(const struct why *w, uint32_t tid, uint64_t from_ns)
{
	return why_waits_find(&w->state->waits, tid, from_ns);
}

int why_find_cause(const struct why *w, uint32_t tid, uint64_t from_ns, struct wait_verdict *ret)
{
	struct why_state *s = w->state;
	struct history_span span;

	*ret = (struct wait_verdict){ 0 };
	if (!history_find(s->history, tid, from_ns + 1, &span) ||
	    span.segment.state != THREAD_BLOCKED)
		return 0;
	return why_waits_judge(&s->waits, &span.segment, why_thread_is_kernel(s->summary, tid),
			       ret);
}
