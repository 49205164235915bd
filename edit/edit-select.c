/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-select.h"

#include <errno.h>
#include <stdlib.h>

#include "base/table.h"
#include "edit/edit-find.h"
#include "edit/edit-timeline.h"

/* The maximum number of ancestors examined. A damaged archive can have a cycle of parents. */
enum { DEPTH_MAX = 256 };

struct process {
	uint64_t parent; /* koid + 1; 0 = unknown */
};

struct edit_select {
	const uint32_t *pids;
	size_t n_pids;
	const bool *cpus;
	size_t n_cpus;
	struct table processes;         /* koid + 1 -> struct process, owned */
	struct table threads;           /* tid -> koid of its process + 1, as a pointer */
	struct edit_timeline *timeline; /* timeline of all records, to find the CPU of a thread */
};

static int edit_select_write_nothing(void *userdata, const struct edit_switch *sw)
{
	(void)userdata;
	(void)sw;
	return 0;
}

int edit_select_new(struct edit_select **ret, const uint32_t *pids, size_t n_pids, const bool *cpus,
		    size_t n_cpus)
{
	_cleanup_(edit_select_freep) struct edit_select *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->pids = pids;
	s->n_pids = n_pids;
	s->cpus = cpus;
	s->n_cpus = n_cpus;
	r = edit_timeline_new(&s->timeline, edit_select_write_nothing, NULL);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

struct edit_select *edit_select_free(struct edit_select *s)
{
	if (!s)
		return NULL;
	table_deinit_free(&s->processes);
	table_deinit(&s->threads);
	edit_timeline_free(s->timeline);
	return free_ptr(s);
}

bool edit_select_by_process(const struct edit_select *s)
{
	return s->n_pids > 0;
}

/* ---- relations of tasks ---- */

static int edit_select_learn_thread(struct edit_select *s, uint64_t tid, uint64_t pid)
{
	if (tid == 0 || pid == UINT64_MAX)
		return 0;
	return table_set(&s->threads, tid, (void *)(uintptr_t)(pid + 1));
}

/*
 * Notes the parent of PID. Only the first parent is used, since a later parent has adopted an
 * orphan.
 */
static int edit_select_learn_parent(struct edit_select *s, uint64_t pid, uint64_t parent)
{
	struct process *p;

	if (pid == parent || pid == UINT64_MAX)
		return 0;
	p = table_make(&s->processes, pid + 1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	if (p->parent == 0)
		p->parent = parent + 1;
	return 0;
}

static int edit_select_learn_object(struct edit_select *s, const struct fxt_record *r)
{
	uint64_t koid;

	switch (r->kernel_object.type) {
	case FXT_OBJECT_PROCESS:
		koid = edit_find_koid(r, FXT_NAME_PARENT);
		return koid ? edit_select_learn_parent(s, r->kernel_object.koid, koid) : 0;
	case FXT_OBJECT_THREAD:
		koid = edit_find_koid(r, FXT_NAME_PROCESS);
		return koid ? edit_select_learn_thread(s, r->kernel_object.koid, koid) : 0;
	default:
		return 0;
	}
}

static int edit_select_learn_event(struct edit_select *s, const struct fxt_record *r)
{
	int e = r->thread.defined ? edit_select_learn_thread(s, r->thread.tid, r->thread.pid) : 0;
	uint64_t child;

	if (e < 0 || fxt_record_row(r) != FXT_ROW_FORK)
		return e;
	child = edit_find_koid(r, FXT_NAME_CHILD_PROCESS);
	if (child)
		e = edit_select_learn_parent(s, child, r->thread.pid);
	return e < 0 ? e
		     : edit_select_learn_thread(s, edit_find_koid(r, FXT_NAME_CHILD_THREAD), child);
}

int edit_select_learn(struct edit_select *s, const struct fxt_record *record)
{
	int r;

	switch (record->type) {
	case FXT_RECORD_KERNEL_OBJECT:
		return edit_select_learn_object(s, record);
	case FXT_RECORD_EVENT:
		return edit_select_learn_event(s, record);
	case FXT_RECORD_SCHEDULING:
		r = edit_timeline_note(s->timeline, record);
		return r < 0 ? r : 0;
	default:
		return 0;
	}
}

/* ---- selection ---- */

static bool edit_select_is_named(const struct edit_select *s, uint64_t pid)
{
	uint32_t real_pid = fxt_koid_tid(pid);

	for (size_t i = 0; i < s->n_pids; i++)
		if (s->pids[i] == real_pid || s->pids[i] == pid)
			return true;
	return false;
}

bool edit_select_process(const struct edit_select *s, uint64_t pid)
{
	/* Pseudo-processes (interrupts, counters, kymo's own) are always selected. */
	if (s->n_pids == 0 || pid >> FXT_KOID_TID_BITS == 1)
		return true;
	for (unsigned i = 0; i < DEPTH_MAX; i++) {
		const struct process *p;

		if (edit_select_is_named(s, pid))
			return true;
		p = table_get(&s->processes, pid + 1);
		if (!p || p->parent == 0)
			return false;
		pid = p->parent - 1;
	}
	return false;
}

static bool edit_select_has_thread(const struct edit_select *s, uint64_t tid)
{
	uint64_t pid = (uint64_t)(uintptr_t)(tid ? table_get(&s->threads, tid) : NULL);

	if (s->n_pids == 0)
		return true;
	return pid && edit_select_process(s, pid - 1);
}

static bool edit_select_has_cpu(const struct edit_select *s, uint32_t cpu)
{
	return s->n_cpus == 0 || (cpu < s->n_cpus && s->cpus[cpu]);
}

static bool edit_select_apply_to_switch(const struct edit_select *s, struct fxt_record *r)
{
	bool out = edit_select_has_thread(s, r->sw.out_tid),
	     in = edit_select_has_thread(s, r->sw.in_tid);

	if (!edit_select_has_cpu(s, r->sw.cpu))
		return false;
	if (!out) {
		r->sw.out_pid = FXT_KOID_OTHER;
		r->sw.out_tid = FXT_KOID_OTHER + r->sw.cpu;
		r->sw.out_state = FXT_STATE_RUNNING;
		r->sw.out_priority = EDIT_OTHER_WEIGHT;
	}
	if (!in) {
		r->sw.in_pid = FXT_KOID_OTHER;
		r->sw.in_tid = FXT_KOID_OTHER + r->sw.cpu;
		r->sw.in_priority = EDIT_OTHER_WEIGHT;
	}
	return out || in;
}

/* Returns the CPU in argument NAME of R; -1 = no such argument. */
static int64_t edit_select_cpu_arg(const struct fxt_record *r, int name)
{
	struct fxt_arg arg;

	return edit_find_arg(r, name, FXT_ARG_UINT32, &arg) ? (int64_t)arg.uint32 : -1;
}

/* Returns the CPU on whose pseudo-thread R is; -1 = R is on no such thread. */
static int64_t edit_select_cpu_of_track(const struct fxt_record *r)
{
	uint64_t pid = r->thread.pid, cpu = r->thread.tid - pid - 1;
	bool is_track = pid == FXT_KOID_KYMO || pid == FXT_KOID_IRQ || pid == FXT_KOID_SOFTIRQ ||
			pid == FXT_KOID_POWER;

	return is_track && cpu <= FXT_CPU_MAX ? (int64_t)cpu : -1;
}

/*
 * Returns true if R is on the selected CPUs. Forks, execs and exits are always kept, since they
 * identify processes.
 */
static bool edit_select_event_is_on_cpus(const struct edit_select *s, const struct fxt_record *r)
{
	int64_t cpu, from;

	if (s->n_cpus == 0 || fxt_text_known(&r->category) == FXT_NAME_PROCESS)
		return true;
	if (fxt_record_row(r) == FXT_ROW_MIGRATE) {
		from = edit_select_cpu_arg(r, FXT_NAME_FROM_CPU);
		cpu = edit_select_cpu_arg(r, FXT_NAME_TO_CPU);
		return (from >= 0 && edit_select_has_cpu(s, (uint32_t)from)) ||
		       (cpu >= 0 && edit_select_has_cpu(s, (uint32_t)cpu));
	}
	cpu = edit_select_cpu_of_track(r);
	if (cpu < 0)
		cpu = edit_select_cpu_arg(r, FXT_NAME_CPU);
	if (cpu < 0)
		cpu = edit_timeline_cpu_of(s->timeline, r->thread.tid);
	return cpu < 0 || edit_select_has_cpu(s, (uint32_t)cpu);
}

static bool edit_select_has_object(const struct edit_select *s, const struct fxt_record *r)
{
	switch (r->kernel_object.type) {
	case FXT_OBJECT_PROCESS:
		return edit_select_process(s, r->kernel_object.koid);
	case FXT_OBJECT_THREAD:
		return edit_select_has_thread(s, r->kernel_object.koid);
	default:
		return true;
	}
}

bool edit_select_apply(struct edit_select *s, struct fxt_record *r)
{
	switch (r->type) {
	case FXT_RECORD_KERNEL_OBJECT:
		return edit_select_has_object(s, r);
	case FXT_RECORD_SCHEDULING:
		if (r->subtype != FXT_SCHED_WAKEUP)
			return edit_select_apply_to_switch(s, r);
		return edit_select_has_thread(s, r->wake.tid) &&
		       edit_select_has_cpu(s, r->wake.cpu);
	case FXT_RECORD_EVENT:
		/*
		 * Kernel addresses are in the stacks of all processes, so records about the
		 * kernel's mappings are always selected.
		 */
		if (edit_is_kernel_mapping(r))
			return true;
		return edit_select_process(s, edit_process_of(r)) &&
		       edit_select_event_is_on_cpus(s, r);
	case FXT_RECORD_PROFILER:
		return edit_is_kernel_mapping(r) || edit_select_process(s, r->thread.pid);
	case FXT_RECORD_USERSPACE_OBJECT:
	case FXT_RECORD_LOG:
		return edit_select_process(s, r->thread.pid);
	case FXT_RECORD_LARGE:
		return r->subtype != FXT_LARGE_BLOB_METADATA ||
		       edit_select_process(s, r->thread.pid);
	default:
		return true;
	}
}

static void edit_select_set_other(struct fxt_out_arg *arg)
{
	arg->type = FXT_ARG_INT32;
	arg->i32 = EDIT_OTHER_WEIGHT;
}

bool edit_select_arg(void *userdata, const struct fxt_record *r, int name, struct fxt_out_arg *arg)
{
	const struct edit_select *s = userdata;

	if (s->n_pids > 0 && r->type == FXT_RECORD_EVENT && name == FXT_NAME_FILTERED &&
	    arg->type == FXT_ARG_BOOL)
		arg->boolean = true;
	if (s->n_pids == 0 || r->type != FXT_RECORD_SCHEDULING)
		return true;
	if (r->subtype == FXT_SCHED_WAKEUP)
		return name != FXT_NAME_WAKER || arg->type != FXT_ARG_KOID ||
		       edit_select_has_thread(s, arg->u64);
	switch (name) {
	case FXT_NAME_OUTGOING_WEIGHT:
		if (fxt_koid_is_other(r->sw.out_tid))
			edit_select_set_other(arg);
		return true;
	case FXT_NAME_INCOMING_WEIGHT:
		if (fxt_koid_is_other(r->sw.in_tid))
			edit_select_set_other(arg);
		return true;
	case FXT_NAME_PREV_STATE:
		return !fxt_koid_is_other(r->sw.out_tid);
	default:
		return true;
	}
}
