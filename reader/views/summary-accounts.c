/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/views/summary-accounts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "writer/fxt/fxt-names.h"
#include "writer/fxt/fxt-wire.h"

static struct summary_cpu *summary_accounts_get_cpu(struct summary *s, uint32_t cpu)
{
	if (cpu < s->n_cpus)
		return &s->cpus[cpu];
	if (cpu > FXT_CPU_MAX)
		return NULL;
	return GROW_ZERO(s->cpus, s->n_cpus, (size_t)cpu + 1) < 0 ? NULL : &s->cpus[cpu];
}

/* Ends the current activity of CPU at TS. */
static void summary_account_cpu(struct summary *s, struct summary_cpu *cpu, uint64_t ts_ns)
{
	uint64_t ns = summary_counted(s, cpu->since_ns, ts_ns);
	struct summary_thread *t;

	if (fxt_koid_is_other(cpu->tid))
		cpu->other_ns += ns;
	else if (cpu->tid != 0)
		cpu->busy_ns += ns;
	t = table_get(&s->threads, cpu->tid);
	if (t)
		t->cpu_ns += ns;
}

/* Adds the time in the state of T up to TS, unless records were lost in it. */
static void summary_account_thread(struct summary *s, struct summary_thread *t, uint64_t ts_ns)
{
	uint64_t ns = summary_counted(s, t->since_ns, ts_ns);

	if (t->epoch != s->n_gaps)
		return;
	if (t->state == SUMMARY_RUNNABLE) {
		t->runnable_ns += ns;
		t->after_wakeup_ns += t->woken_ns != 0 ? ns : 0;
	} else if (t->state == SUMMARY_BLOCKED) {
		t->blocked_ns += ns;
	}
}

/* Changes the state of T at TS. */
static void summary_accounts_set_state(struct summary *s, struct summary_thread *t,
				       enum summary_state state, uint64_t ts_ns)
{
	summary_account_thread(s, t, ts_ns);
	t->state = state;
	t->since_ns = ts_ns;
	t->epoch = s->n_gaps;
}

static enum summary_state summary_state_after(const struct event *ev)
{
	/* The recording or a loss has truncated the thread's time: its next state is unknown. */
	if (ev->sw.synthetic)
		return SUMMARY_UNKNOWN;
	switch (ev->sw.out_state) {
	case FXT_STATE_NEW:
	case FXT_STATE_RUNNING:
		return SUMMARY_RUNNABLE;
	case FXT_STATE_SUSPENDED:
	case FXT_STATE_BLOCKED:
		return SUMMARY_BLOCKED;
	case FXT_STATE_DYING:
	case FXT_STATE_DEAD:
		return SUMMARY_DEAD;
	default:
		return SUMMARY_UNKNOWN;
	}
}

static void summary_accounts_switch_out(struct summary *s, struct summary_thread *t,
					const struct event *ev)
{
	enum summary_state after = summary_state_after(ev);

	if (after == SUMMARY_RUNNABLE)
		t->preempted++;
	if (t->state == SUMMARY_RUNNING && t->cpu != ev->cpu && t->since_ns >= ev->ts_ns) {
		/* The record is late: the thread already runs elsewhere. Count the time in
		 * between. */
		if (after == SUMMARY_RUNNABLE)
			t->runnable_ns += summary_counted(s, ev->ts_ns, t->since_ns);
		else if (after == SUMMARY_BLOCKED)
			t->blocked_ns += summary_counted(s, ev->ts_ns, t->since_ns);
		return;
	}
	summary_accounts_set_state(s, t, after, ev->ts_ns);
}

/* Whether EV switches T in after a wakeup. *RET_NS is the time since the wakeup. */
static bool summary_answers_wakeup(const struct summary *s, const struct summary_thread *t,
				   const struct event *ev, uint64_t *ret_ns)
{
	if (t->woken_ns == 0 || ev->sw.synthetic || t->epoch != s->n_gaps)
		return false;
	*ret_ns = summary_recorded(s, t->woken_ns, ev->ts_ns);
	return true;
}

bool summary_wakeup_latency(const struct summary *s, const struct event *ev, uint64_t *ret_ns)
{
	const struct summary_thread *t = table_get(&s->threads, ev->sw.next_tid);

	return t && ev->cpu <= FXT_CPU_MAX && summary_answers_wakeup(s, t, ev, ret_ns);
}

static void summary_accounts_switch_in(struct summary *s, struct summary_thread *t,
				       const struct event *ev)
{
	uint64_t latency;

	if (!ev->sw.synthetic)
		t->switches++;
	if (summary_answers_wakeup(s, t, ev, &latency)) {
		if (latency > t->max_wakeup_latency_ns)
			t->max_wakeup_latency_ns = latency;
		if (latency > t->program_latency_ns)
			t->program_latency_ns = latency;
	}
	summary_accounts_set_state(s, t, SUMMARY_RUNNING, ev->ts_ns);
	t->woken_ns = 0;
	t->cpu = ev->cpu;
}

/* Adds the time in which a woken thread waited to preempt OUT. Called before EV is processed. */
static void summary_accounts_preempt(struct summary *s, const struct summary_cpu *cpu,
				     struct summary_thread *out, const struct event *ev)
{
	const struct summary_thread *in = table_get(&s->threads, ev->sw.next_tid);
	uint64_t ns;

	if (in && summary_state_after(ev) == SUMMARY_RUNNABLE && cpu->tid == out->tid &&
	    summary_answers_wakeup(s, in, ev, &ns))
		out->until_preempted_ns += summary_counted(
			s, in->woken_ns > cpu->since_ns ? in->woken_ns : cpu->since_ns, ev->ts_ns);
}

int summary_account_switch(struct summary *s, const struct event *ev)
{
	struct summary_cpu *cpu = summary_accounts_get_cpu(s, ev->cpu);
	struct summary_thread *out = NULL, *in = NULL;

	if (!cpu)
		return ev->cpu > FXT_CPU_MAX ? 0 : -ENOMEM;
	if (ev->tid != 0 && !fxt_koid_is_other(ev->tid)) {
		out = summary_thread(s, ev->tid);
		if (!out)
			return -ENOMEM;
		if (out->pid == 0)
			out->pid = ev->pid;
	}
	if (ev->sw.next_tid != 0)
		s->sched_slices++;
	if (ev->sw.next_tid != 0 && !fxt_koid_is_other(ev->sw.next_tid)) {
		in = summary_thread(s, ev->sw.next_tid);
		if (!in)
			return -ENOMEM;
	}
	/*
	 * If another thread ran on this CPU, records are missing, and the end of its time is
	 * unknown.
	 */
	if (cpu->seen && cpu->tid == ev->tid)
		summary_account_cpu(s, cpu, ev->ts_ns);
	if (!ev->sw.synthetic) {
		s->switches++;
		cpu->switches++;
	}
	if (out) {
		summary_accounts_preempt(s, cpu, out, ev);
		summary_accounts_switch_out(s, out, ev);
	}
	if (in)
		summary_accounts_switch_in(s, in, ev);
	cpu->seen = true;
	cpu->tid = ev->sw.next_tid;
	cpu->since_ns = ev->ts_ns;
	return 0;
}

int summary_account_wake(struct summary *s, const struct event *ev)
{
	struct summary_thread *t;

	s->wakeups++;
	if (ev->tid == 0)
		return 0;
	t = summary_thread(s, ev->tid);
	if (!t)
		return -ENOMEM;
	t->wakeups++;
	/* A wakeup of a running or runnable thread changes nothing. */
	if (t->state == SUMMARY_RUNNING || (t->state == SUMMARY_RUNNABLE && t->epoch == s->n_gaps))
		return 0;
	summary_accounts_set_state(s, t, SUMMARY_RUNNABLE,
				   ev->ts_ns > t->since_ns ? ev->ts_ns : t->since_ns);
	t->woken_ns = ev->ts_ns;
	return 0;
}

int summary_account_new_tid(struct summary *s, uint32_t old_tid, uint32_t tid, uint64_t ts_ns)
{
	struct summary_thread *old = table_get(&s->threads, old_tid), *t;

	if (!old || tid == 0)
		return 0;
	t = summary_thread(s, tid);
	if (!t)
		return -ENOMEM;
	if (old->state == SUMMARY_RUNNING && s->cpus[old->cpu].tid == old_tid) {
		summary_account_cpu(s, &s->cpus[old->cpu], ts_ns);
		s->cpus[old->cpu].tid = tid;
		s->cpus[old->cpu].since_ns = ts_ns;
		summary_accounts_set_state(s, t, SUMMARY_RUNNING, ts_ns);
		t->cpu = old->cpu;
	}
	summary_accounts_set_state(s, old, SUMMARY_DEAD, ts_ns);
	return 0;
}

void summary_account_until(struct summary *s, struct summary_thread *t, uint64_t ts_ns)
{
	struct summary_cpu *cpu = t->cpu < s->n_cpus ? &s->cpus[t->cpu] : NULL;

	if (ts_ns <= t->since_ns)
		return;
	if (t->state == SUMMARY_RUNNING && cpu && cpu->tid == t->tid && cpu->since_ns < ts_ns) {
		summary_account_cpu(s, cpu, ts_ns);
		cpu->since_ns = ts_ns;
	}
	if (t->epoch == s->n_gaps)
		summary_accounts_set_state(s, t, t->state, ts_ns);
}

/* (records of threads that run after the pause can precede its end in the file) */
void summary_account_pause(struct summary *s, uint64_t ts_ns)
{
	struct summary_thread *t;

	for (size_t i = 0; i < s->n_cpus; i++) {
		if (s->cpus[i].since_ns >= ts_ns)
			continue;
		summary_account_cpu(s, &s->cpus[i], ts_ns);
		s->cpus[i].tid = 0;
		s->cpus[i].since_ns = ts_ns;
	}
	for (size_t pos = 0; (t = table_next(&s->threads, &pos));) {
		if (t->since_ns >= ts_ns)
			continue;
		if (t->state != SUMMARY_DEAD)
			summary_accounts_set_state(s, t, SUMMARY_UNKNOWN, ts_ns);
		t->woken_ns = 0;
	}
}

static uint64_t summary_accounts_smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void summary_account_end(struct summary *s, uint64_t end_ns)
{
	struct summary_thread *t;

	for (size_t i = 0; i < s->n_cpus; i++) {
		struct summary_cpu *cpu = &s->cpus[i];

		summary_account_cpu(s, cpu, end_ns);
		/* Times beyond session_stop are known only now. */
		cpu->busy_ns = summary_accounts_smaller(cpu->busy_ns, s->recorded_ns);
		cpu->other_ns =
			summary_accounts_smaller(cpu->other_ns, s->recorded_ns - cpu->busy_ns);
		cpu->idle_ns = s->recorded_ns - cpu->busy_ns - cpu->other_ns;
	}
	for (size_t pos = 0; (t = table_next(&s->threads, &pos));)
		summary_account_thread(s, t, end_ns);
}
