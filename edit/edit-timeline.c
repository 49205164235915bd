/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "edit/edit-find.h"

enum { CPUS = FXT_CPU_MAX + 1, PAGE_CPUS = 64, N_PAGES = CPUS / PAGE_CPUS };

/* The maximum number of threads that are tracked. Wakeups of other threads pass unchanged. */
enum { THREADS_MAX = 1 << 22 };

/* The maximum number of gaps that are kept. If a CPU had no record for more gaps, its thread is
 * assumed to have run until the first gap that is kept. */
enum { GAPS_MAX = 256 };

struct gap {
	uint64_t from_ns, to_ns;
};

/* One side of a switch. */
struct side {
	uint64_t tid; /* 0 = idle */
	int32_t weight;
};

struct cpu {
	bool known;
	struct side runs;
	uint64_t last_ns; /* time of the last switch */
};

struct thread {
	int cpu; /* CPU on which the thread runs; -1 = it does not run */
	bool woken;
	uint64_t woken_ns;
	uint64_t left_ns; /* time at which it left its last CPU */
};

struct edit_timeline {
	edit_timeline_fn write;
	void *userdata;
	bool silent; /* switches are not written */
	/* Owned pages of PAGE_CPUS each; NULL = none of these CPUs was seen. */
	struct cpu *pages[N_PAGES];
	uint32_t n_cpus;           /* all known CPUs are below this number */
	struct table threads;      /* tid -> struct thread, owned */
	struct gap gaps[GAPS_MAX]; /* a ring; the last gap is at (n_gaps - 1) % GAPS_MAX */
	uint64_t n_gaps;
	uint64_t gap_to_ns; /* end of the last gap; 0 = no gap yet */
};

int edit_timeline_new(struct edit_timeline **ret, edit_timeline_fn write, void *userdata)
{
	_cleanup_(edit_timeline_freep) struct edit_timeline *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->write = write;
	t->userdata = userdata;
	*ret = TAKE_PTR(t);
	return 0;
}

/* Returns the entry of CPU. Returns NULL if its page does not exist. */
static struct cpu *edit_timeline_find_cpu(const struct edit_timeline *t, uint32_t cpu)
{
	struct cpu *page = cpu < CPUS ? t->pages[cpu / PAGE_CPUS] : NULL;

	return page ? &page[cpu % PAGE_CPUS] : NULL;
}

/* Returns the entry of CPU. Its page is made if needed. Returns NULL if there is no memory. */
static struct cpu *edit_timeline_get_cpu(struct edit_timeline *t, uint32_t cpu)
{
	struct cpu **page = &t->pages[cpu / PAGE_CPUS];

	if (!*page)
		*page = calloc(PAGE_CPUS, sizeof(**page));
	return edit_timeline_find_cpu(t, cpu);
}

struct edit_timeline *edit_timeline_free(struct edit_timeline *t)
{
	if (!t)
		return NULL;
	table_deinit_free(&t->threads);
	for (size_t i = 0; i < N_PAGES; i++)
		free(t->pages[i]);
	return free_ptr(t);
}

void edit_timeline_gap(struct edit_timeline *t, uint64_t from_ns, uint64_t to_ns)
{
	t->gaps[t->n_gaps++ % GAPS_MAX] = (struct gap){ from_ns, to_ns };
	t->gap_to_ns = to_ns;
}

int edit_timeline_cpu_of(const struct edit_timeline *t, uint64_t tid)
{
	const struct thread *thread = tid ? table_get(&t->threads, tid) : NULL;

	return thread ? thread->cpu : -1;
}

/* Finds or makes the entry of TID. *RET is NULL if the thread is not tracked. */
static int edit_timeline_get_thread(struct edit_timeline *t, uint64_t tid, struct thread **ret)
{
	*ret = tid ? table_get(&t->threads, tid) : NULL;
	if (*ret || tid == 0 || t->threads.n_used >= THREADS_MAX)
		return 0;
	*ret = table_copy(&t->threads, tid, &(struct thread){ .cpu = -1 }, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

/* Notes that SIDE runs on CPU from now on. */
static int edit_timeline_set_running(struct edit_timeline *t, uint32_t cpu, struct side side,
				     uint64_t ts_ns)
{
	struct cpu *c = edit_timeline_get_cpu(t, cpu);
	struct thread *out, *in;
	int r = c ? edit_timeline_get_thread(t, c->runs.tid, &out) : -ENOMEM;

	r = r ?: edit_timeline_get_thread(t, side.tid, &in);
	if (r < 0)
		return r;
	if (out && out->cpu == (int)cpu) {
		out->cpu = -1;
		out->left_ns = ts_ns;
	}
	if (in)
		*in = (struct thread){ .cpu = (int)cpu };
	c->known = true;
	c->runs = side;
	c->last_ns = ts_ns;
	if (cpu >= t->n_cpus)
		t->n_cpus = cpu + 1;
	return 0;
}

static int edit_timeline_write_switch(struct edit_timeline *t, uint32_t cpu, uint64_t ts_ns,
				      struct side out, struct side in)
{
	struct edit_switch sw = { ts_ns, cpu, out.tid, in.tid, out.weight, in.weight };

	return t->silent ? 0 : t->write(t->userdata, &sw);
}

static uint64_t edit_timeline_clamp(uint64_t ns, uint64_t min, uint64_t max)
{
	return ns < min ? min : ns > max ? max : ns;
}

/*
 * Returns the last time before TS_NS at which CPU certainly ran its current thread: the beginning
 * of the first gap since its last switch.
 */
static uint64_t edit_timeline_sure_until(const struct edit_timeline *t, const struct cpu *c,
					 uint64_t ts_ns)
{
	uint64_t sure_ns = ts_ns;

	for (uint64_t n = t->n_gaps; n > 0 && t->n_gaps - n < GAPS_MAX; n--) {
		const struct gap *gap = &t->gaps[(n - 1) % GAPS_MAX];

		if (gap->to_ns < c->last_ns)
			break;
		if (gap->from_ns <= ts_ns)
			sure_ns = gap->from_ns;
	}
	return sure_ns;
}

/* Writes the missing switch by which the current thread left CPU. */
static int edit_timeline_close_cpu(struct edit_timeline *t, uint32_t cpu, uint64_t ts_ns)
{
	struct cpu *c = edit_timeline_find_cpu(t, cpu);
	uint64_t at = edit_timeline_clamp(edit_timeline_sure_until(t, c, ts_ns), c->last_ns, ts_ns);
	int r = edit_timeline_write_switch(t, cpu, at, c->runs, (struct side){ 0 });

	return r < 0 ? r : edit_timeline_set_running(t, cpu, (struct side){ 0 }, at);
}

/* Writes the missing switch by which SIDE came to CPU. SIDE is switched out at TS_NS. */
static int edit_timeline_open_cpu(struct edit_timeline *t, uint32_t cpu, struct side side,
				  uint64_t ts_ns)
{
	struct cpu *c = edit_timeline_find_cpu(t, cpu);
	uint64_t at = edit_timeline_clamp(t->gap_to_ns, c->last_ns, ts_ns);
	struct thread *thread;
	int r = edit_timeline_get_thread(t, side.tid, &thread);

	/* (not before the thread left another CPU, or was woken) */
	if (r == 0 && thread)
		at = edit_timeline_clamp(thread->woken ? thread->woken_ns : thread->left_ns, at,
					 ts_ns);

	if (r == 0 && c->known)
		r = edit_timeline_write_switch(t, cpu, at, (struct side){ 0 }, side);
	return r < 0 ? r : edit_timeline_set_running(t, cpu, side, at);
}

/* Returns the weight in argument NAME of R, or FALLBACK. */
static int32_t edit_timeline_weight_of(const struct fxt_record *r, int name, int32_t fallback)
{
	struct fxt_arg arg;

	return edit_find_arg(r, name, FXT_ARG_INT32, &arg) ? arg.int32 : fallback;
}

/* Sets the weight of SIDE. "Other" is never idle, even if it replaces the idle thread. */
static void edit_timeline_set_weight(struct side *side, int32_t weight)
{
	side->weight = weight;
	if (fxt_koid_is_other(side->tid))
		side->weight = EDIT_OTHER_WEIGHT;
	else if (weight == FXT_IDLE_WEIGHT)
		side->tid = 0;
}

/* Gets both sides of the switch R. The idle thread is recognized as readers recognize it. */
static void edit_timeline_get_sides(const struct fxt_record *r, struct side *out, struct side *in)
{
	*out = (struct side){ r->sw.out_tid, 0 };
	*in = (struct side){ r->sw.in_tid, 0 };
	if (r->subtype == FXT_SCHED_LEGACY_SWITCH) {
		if (r->sw.out_pid == 0 && r->sw.out_priority == 0)
			out->tid = 0;
		if (r->sw.in_pid == 0 && r->sw.in_priority == 0)
			in->tid = 0;
		out->weight = r->sw.out_priority;
		in->weight = r->sw.in_priority;
		return;
	}
	edit_timeline_set_weight(out, edit_timeline_weight_of(r, FXT_NAME_OUTGOING_WEIGHT, 0));
	edit_timeline_set_weight(in, edit_timeline_weight_of(r, FXT_NAME_INCOMING_WEIGHT, 0));
}

static int edit_timeline_process_switch(struct edit_timeline *t, const struct fxt_record *record)
{
	uint32_t cpu = record->sw.cpu;
	struct cpu *c = edit_timeline_get_cpu(t, cpu);
	uint64_t ts_ns = record->ts_ns;
	struct side out, in;
	int elsewhere, r = 0;

	if (!c)
		return -ENOMEM;
	edit_timeline_get_sides(record, &out, &in);
	/* A later record was already written, or the record is a duplicate. */
	if (c->known && (ts_ns < c->last_ns ||
			 (ts_ns == c->last_ns && c->runs.tid == in.tid && c->runs.tid != out.tid)))
		return EDIT_TIMELINE_DROP;
	if (c->known && c->runs.tid != out.tid) {
		if (c->runs.tid != 0)
			r = edit_timeline_close_cpu(t, cpu, ts_ns);
	}
	elsewhere = edit_timeline_cpu_of(t, out.tid);
	if (r == 0 && elsewhere >= 0 && elsewhere != (int)cpu)
		r = edit_timeline_close_cpu(t, (uint32_t)elsewhere, ts_ns);
	if (r == 0 && c->runs.tid != out.tid)
		r = edit_timeline_open_cpu(t, cpu, out, ts_ns);
	elsewhere = edit_timeline_cpu_of(t, in.tid);
	if (r == 0 && elsewhere >= 0 && elsewhere != (int)cpu)
		r = edit_timeline_close_cpu(t, (uint32_t)elsewhere, ts_ns);
	r = r ?: edit_timeline_set_running(t, cpu, in, ts_ns);
	return r < 0 ? r : EDIT_TIMELINE_KEEP;
}

static int edit_timeline_process_wakeup(struct edit_timeline *t, const struct fxt_record *record)
{
	struct thread *thread;
	int r = edit_timeline_get_thread(t, record->wake.tid, &thread);

	if (r < 0)
		return r;
	if (!thread)
		return EDIT_TIMELINE_KEEP;
	/* The thread may have run and slept again within a gap. In any case, readers treat a second
	 * wakeup as an error. */
	if (thread->woken) {
		if (t->gap_to_ns > thread->woken_ns)
			thread->woken_ns = record->ts_ns;
		return EDIT_TIMELINE_DROP;
	}
	if (thread->cpu >= 0) {
		const struct cpu *c = edit_timeline_find_cpu(t, (uint32_t)thread->cpu);

		/* The thread slept before the wakeup, so the switch that took it off its CPU is
		 * missing. If no gap can contain that switch, the wakeup is dropped. */
		if (t->gap_to_ns < c->last_ns || t->gap_to_ns == 0)
			return EDIT_TIMELINE_DROP;
		r = edit_timeline_close_cpu(t, (uint32_t)thread->cpu, record->ts_ns);
		if (r < 0)
			return r;
	}
	thread->woken = true;
	thread->woken_ns = record->ts_ns;
	return EDIT_TIMELINE_KEEP;
}

int edit_timeline_process(struct edit_timeline *t, const struct fxt_record *record)
{
	return record->subtype == FXT_SCHED_WAKEUP ? edit_timeline_process_wakeup(t, record)
						   : edit_timeline_process_switch(t, record);
}

int edit_timeline_note(struct edit_timeline *t, const struct fxt_record *record)
{
	int r;

	t->silent = true;
	r = edit_timeline_process(t, record);
	t->silent = false;
	return r;
}

int edit_timeline_open(struct edit_timeline *t, uint64_t ts_ns)
{
	int r = 0;

	for (uint32_t cpu = 0; r == 0 && cpu < t->n_cpus; cpu++) {
		struct cpu *c = edit_timeline_find_cpu(t, cpu);

		if (!c || !c->known)
			continue;
		r = edit_timeline_write_switch(t, cpu, ts_ns, (struct side){ 0 }, c->runs);
		c->last_ns = ts_ns;
	}
	return r;
}

int edit_timeline_close(struct edit_timeline *t, uint64_t ts_ns)
{
	int r = 0;

	for (uint32_t cpu = 0; r == 0 && cpu < t->n_cpus; cpu++) {
		struct cpu *c = edit_timeline_find_cpu(t, cpu);

		if (!c || !c->known || c->runs.tid == 0)
			continue;
		r = edit_timeline_write_switch(t, cpu, ts_ns > c->last_ns ? ts_ns : c->last_ns,
					       c->runs, (struct side){ 0 });
		if (r == 0)
			r = edit_timeline_set_running(t, cpu, (struct side){ 0 }, ts_ns);
	}
	return r;
}
