/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tracks the running thread of each CPU, and the threads that run or were woken, in order of time.
 *
 * After a loss, two wakeups of a thread in a row are valid, since the thread may have run in
 * between. But the running thread of a CPU is not forgotten in a loss, since readers do not know
 * about losses: a writer that loses records must close the slices of running threads.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "reader/fxt/fxt-lint-state.h"
#include "writer/fxt/fxt-names.h"

void fxt_lint_sched(struct fxt_lint *l, const struct fxt_record *r)
{
	const struct fxt_check_facts *facts = &l->findings.facts;
	struct fxt_lint_fact fact = { .ts_ns = r->ts_ns, .place = l->here };

	if (r->subtype == FXT_SCHED_WAKEUP) {
		fact.kind = FXT_LINT_WAKEUP;
		fact.a = r->wake.tid;
		fact.cpu = r->wake.cpu;
	} else {
		fact.kind = facts->synthetic ? FXT_LINT_SYNTHETIC_SWITCH : FXT_LINT_SWITCH;
		fact.a = facts->out_idle ? 0 : r->sw.out_tid;
		fact.b = facts->in_idle ? 0 : r->sw.in_tid;
		fact.cpu = r->sw.cpu;
		if (!r->sw.out_defined || !r->sw.in_defined)
			return;
	}
	fxt_lint_order_add(l, &fact);
}

static struct fxt_lint_cpu *fxt_lint_sched_get_cpu(struct fxt_lint *l, unsigned number)
{
	if (GROW_ZERO(l->cpus, l->n_cpus, (size_t)number + 1) < 0) {
		l->error = -ENOMEM;
		return NULL;
	}
	return &l->cpus[number];
}

static struct fxt_lint_thread *fxt_lint_sched_get_thread(struct fxt_lint *l, uint64_t tid,
							 const struct fxt_lint_fact *fact)
{
	struct fxt_lint_thread *t = NULL;

	if (tid == 0)
		return NULL;
	t = fxt_lint_get(l, &l->threads, tid, sizeof(*t), FXT_LINT_THREADS_MAX);
	if (!t)
		return NULL;
	if (!t->scheduled) {
		t->tid = tid;
		t->scheduled = true;
		t->first = fact->place;
	}
	return t;
}

/*
 * Returns true if FACT is earlier than the last fact of T; the state of T then becomes unknown.
 * Returns false if T is NULL (no thread).
 */
static bool fxt_lint_sched_is_late(struct fxt_lint_thread *t, const struct fxt_lint_fact *fact)
{
	if (!t)
		return false;
	if (fact->ts_ns >= t->last_ns) {
		t->last_ns = fact->ts_ns;
		return false;
	}
	t->state = FXT_LINT_UNKNOWN;
	t->conflict = false;
	return true;
}

/* Reports that T ran on two CPUs: the older CPU switched T out later than the new one switched T in
 * (TIE: at the same time), or never. */
static void fxt_lint_sched_end_conflict(struct fxt_lint *l, struct fxt_lint_thread *t, bool tie)
{
	fxt_lint_find(l, tie ? FXT_FINDING_TIE_SWITCH : FXT_FINDING_TWO_CPUS, t->conflict_place,
		      t->tid, t->old_cpu);
	t->conflict = false;
}

/* Handles the switch-out of OUT. */
static void fxt_lint_sched_switch_out(struct fxt_lint *l, struct fxt_lint_cpu *cpu,
				      struct fxt_lint_thread *out, const struct fxt_lint_fact *fact)
{
	struct fxt_lint_thread *running = cpu->running;

	if (cpu->known && running != out) {
		if (running) {
			fxt_lint_find(l, FXT_FINDING_SWITCH_OUT_LOST, fact->place, running->tid,
				      fact->cpu);
			if (running->cpu == fact->cpu)
				running->state = FXT_LINT_UNKNOWN;
			if (running->conflict && running->old_cpu == fact->cpu)
				running->conflict = false;
		} else {
			fxt_lint_find(l, FXT_FINDING_SWITCH_IN_LOST, fact->place, out->tid,
				      fact->cpu);
		}
	}
	if (!out)
		return;
	if (out->conflict && out->old_cpu == fact->cpu)
		fxt_lint_sched_end_conflict(l, out, out->conflict_ns == fact->ts_ns);
	else if (out->state != FXT_LINT_RUNNING || out->cpu == fact->cpu)
		out->state = FXT_LINT_UNKNOWN;
}

static void fxt_lint_sched_switch_in(struct fxt_lint *l, struct fxt_lint_thread *in,
				     const struct fxt_lint_fact *fact)
{
	if (in->state == FXT_LINT_RUNNING && in->cpu != fact->cpu) {
		if (in->conflict)
			fxt_lint_sched_end_conflict(l, in, false);
		in->conflict = true;
		in->old_cpu = in->cpu;
		in->conflict_ns = fact->ts_ns;
		in->conflict_place = fact->place;
	}
	in->state = FXT_LINT_RUNNING;
	in->cpu = fact->cpu;
	in->since_ns = fact->ts_ns;
}

static void fxt_lint_sched_judge_switch(struct fxt_lint *l, const struct fxt_lint_fact *fact)
{
	struct fxt_lint_thread *out = fxt_lint_sched_get_thread(l, fact->a, fact);
	struct fxt_lint_thread *in = fxt_lint_sched_get_thread(l, fact->b, fact);
	struct fxt_lint_cpu *cpu = fxt_lint_sched_get_cpu(l, fact->cpu);
	bool late_out = fxt_lint_sched_is_late(out, fact),
	     late_in = fxt_lint_sched_is_late(in, fact);

	if (!cpu)
		return;
	/* A thread that is not idle and has no entry is beyond the limit of threads. */
	if (late_out || late_in || fact->ts_ns < cpu->last_ns || (fact->a != 0 && !out) ||
	    (fact->b != 0 && !in)) {
		l->n_not_judged++;
		cpu->known = false;
		cpu->running = NULL;
		return;
	}
	cpu->last_ns = fact->ts_ns;
	fxt_lint_sched_switch_out(l, cpu, out, fact);
	if (in)
		fxt_lint_sched_switch_in(l, in, fact);
	cpu->running = in;
	cpu->place = fact->place;
	cpu->known = true;
}

static void fxt_lint_sched_judge_wakeup(struct fxt_lint *l, const struct fxt_lint_fact *fact)
{
	struct fxt_lint_thread *t = fxt_lint_sched_get_thread(l, fact->a, fact);

	if (!t || fxt_lint_sched_is_late(t, fact)) {
		l->n_not_judged++;
		return;
	}
	if (t->state == FXT_LINT_RUNNING) {
		fxt_lint_find(l,
			      t->since_ns == fact->ts_ns ? FXT_FINDING_TIE_WAKEUP
							 : FXT_FINDING_WAKE_RUNNING,
			      fact->place, t->tid, t->cpu);
		return;
	}
	if (t->state == FXT_LINT_WOKEN && t->epoch == l->epoch && l->n_losses == 0)
		fxt_lint_find(l, FXT_FINDING_WAKE_TWICE, fact->place, t->tid, 0);
	t->state = FXT_LINT_WOKEN;
	t->epoch = l->epoch;
}

void fxt_lint_sched_fact(struct fxt_lint *l, const struct fxt_lint_fact *fact)
{
	switch (fact->kind) {
	case FXT_LINT_SYNTHETIC_SWITCH:
		l->epoch++;
		fxt_lint_sched_judge_switch(l, fact);
		break;
	case FXT_LINT_SWITCH:
		fxt_lint_sched_judge_switch(l, fact);
		break;
	default:
		fxt_lint_sched_judge_wakeup(l, fact);
	}
}

void fxt_lint_sched_finish(struct fxt_lint *l)
{
	for (size_t i = 0; i < l->n_cpus; i++) {
		const struct fxt_lint_cpu *cpu = &l->cpus[i];
		struct fxt_lint_thread *t = cpu->running;

		if (!t)
			continue;
		if (t->conflict && t->old_cpu == i)
			fxt_lint_sched_end_conflict(l, t, false);
		fxt_lint_find(l, FXT_FINDING_CPU_LEFT_OPEN, cpu->place, t->tid, i);
	}
}
