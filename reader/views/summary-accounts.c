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

/* Adds the time of CPU's current activity up to TS_NS, also to T, its thread (NULL = none, or
 * "other"). */
static void summary_account_cpu(struct summary *s, struct summary_cpu *cpu,
				struct summary_thread *t, uint64_t ts_ns)
{
	uint64_t ns = summary_counted(s, cpu->since_ns, ts_ns);

	if (fxt_koid_is_other(cpu->tid))
		cpu->other_ns += ns;
	else if (cpu->tid != 0)
		cpu->busy_ns += ns;
	if (t)
		t->cpu_ns += ns;
}

/* Returns the thread on CPU; NULL = none, or "other". */
static struct summary_thread *summary_accounts_on(const struct summary *s,
						  const struct summary_cpu *cpu)
{
	return cpu->tid ? table_get(&s->threads, cpu->tid) : NULL;
}

/* Finds or adds thread TID by the owner pointer of its states, which is faster than the table.
 * Returns NULL if there is no memory. */
static struct summary_thread *summary_accounts_thread(struct summary *s, uint32_t tid)
{
	void **owner = thread_states_owner(s->states, tid);

	if (owner && !*owner)
		*owner = summary_thread(s, tid);
	return owner ? *owner : NULL;
}

/* Adds the time of SEGMENT to its thread. Runs count by CPU; the length is unknown if the end was
 * lost. */
static int summary_accounts_add(void *userdata, const struct thread_segment *segment)
{
	struct summary *s = userdata;
	struct summary_thread *t = segment->owner;
	uint64_t ns, latency_ns;

	if (!t)
		return 0;
	if (segment->served_ns) {
		latency_ns = summary_recorded(s, segment->served_ns, segment->until_ns);
		if (latency_ns > t->max_wakeup_latency_ns)
			t->max_wakeup_latency_ns = latency_ns;
		if (latency_ns > t->program_latency_ns)
			t->program_latency_ns = latency_ns;
	}
	if (segment->state == THREAD_RUNNING || segment->end == THREAD_END_GAP)
		return 0;
	ns = summary_counted(s, segment->since_ns, segment->until_ns);
	if (segment->state == THREAD_RUNNABLE) {
		t->runnable_ns += ns;
		t->after_wakeup_ns += segment->woken ? ns : 0;
	} else if (segment->state == THREAD_BLOCKED) {
		t->blocked_ns += ns;
	}
	return 0;
}

int summary_account_segment(void *userdata, const struct thread_segment *segment)
{
	struct summary *s = userdata;
	int r = 0;

	summary_accounts_add(s, segment);
	for (size_t i = 0; r == 0 && i < s->n_listeners; i++)
		r = s->listeners[i].fn(s->listeners[i].userdata, segment);
	return r;
}

/* Returns true if the run that EV begins follows a wakeup of its thread; *RET_NS is the wakeup's
 * time. */
static bool summary_accounts_serves(const struct summary *s, const struct event *ev,
				    uint64_t *ret_ns)
{
	struct thread_now now;

	if (ev->sw.synthetic || !thread_states_get(s->states, ev->sw.next_tid, &now))
		return false;
	*ret_ns = now.woken_ns;
	return now.woken_ns != 0 && now.known;
}

bool summary_wakeup_latency(const struct summary *s, const struct event *ev, uint64_t *ret_ns)
{
	uint64_t woken_ns;

	if (ev->cpu > FXT_CPU_MAX || !summary_accounts_serves(s, ev, &woken_ns))
		return false;
	*ret_ns = summary_recorded(s, woken_ns, ev->ts_ns);
	return true;
}

/* If a woken thread preempts OUT, adds the time since its wakeup in which OUT still ran. Must be
 * called before EV is processed. */
static void summary_accounts_preempt(struct summary *s, const struct summary_cpu *cpu,
				     struct summary_thread *out, const struct event *ev)
{
	uint64_t woken_ns;

	if (thread_states_after(ev) != THREAD_RUNNABLE)
		return;
	out->preempted++;
	if (cpu->tid == out->tid && summary_accounts_serves(s, ev, &woken_ns))
		out->until_preempted_ns += summary_counted(
			s, woken_ns > cpu->since_ns ? woken_ns : cpu->since_ns, ev->ts_ns);
}

int summary_account_switch(struct summary *s, const struct event *ev)
{
	struct summary_cpu *cpu = summary_accounts_get_cpu(s, ev->cpu);
	struct summary_thread *out = NULL, *in = NULL;

	if (!cpu)
		return ev->cpu > FXT_CPU_MAX ? 0 : -ENOMEM;
	if (ev->tid != 0 && !fxt_koid_is_other(ev->tid)) {
		out = summary_accounts_thread(s, ev->tid);
		if (!out)
			return -ENOMEM;
		if (out->pid == 0)
			out->pid = ev->pid;
	}
	if (ev->sw.next_tid != 0)
		s->sched_slices++;
	if (ev->sw.next_tid != 0 && !fxt_koid_is_other(ev->sw.next_tid)) {
		in = summary_accounts_thread(s, ev->sw.next_tid);
		if (!in)
			return -ENOMEM;
	}
	/*
	 * If another thread than ev->tid ran here, records are missing, and the end of its run is
	 * unknown: its time is not added.
	 */
	if (cpu->seen && cpu->tid == ev->tid)
		summary_account_cpu(s, cpu, out ?: summary_accounts_on(s, cpu), ev->ts_ns);
	if (!ev->sw.synthetic) {
		s->switches++;
		cpu->switches++;
	}
	if (out)
		summary_accounts_preempt(s, cpu, out, ev);
	if (in && !ev->sw.synthetic)
		in->switches++;
	cpu->seen = true;
	cpu->tid = ev->sw.next_tid;
	cpu->since_ns = ev->ts_ns;
	return thread_states_add(s->states, ev);
}

int summary_account_wake(struct summary *s, const struct event *ev)
{
	struct summary_thread *t;

	s->wakeups++;
	if (ev->tid == 0)
		return 0;
	t = summary_accounts_thread(s, ev->tid);
	if (!t)
		return -ENOMEM;
	t->wakeups++;
	return thread_states_add(s->states, ev);
}

int summary_account_new_tid(struct summary *s, uint32_t old_tid, uint32_t tid, uint64_t ts_ns)
{
	struct thread_rename rename = { .from_tid = old_tid, .to_tid = tid, .at_ns = ts_ns };
	struct thread_now now;

	if (!table_get(&s->threads, old_tid) || tid == 0)
		return 0;
	if (!summary_accounts_thread(s, old_tid) || !summary_accounts_thread(s, tid))
		return -ENOMEM;
	if (thread_states_get(s->states, old_tid, &now) && now.state == THREAD_RUNNING &&
	    s->cpus[now.cpu].tid == old_tid) {
		summary_account_cpu(s, &s->cpus[now.cpu], table_get(&s->threads, old_tid), ts_ns);
		s->cpus[now.cpu].tid = tid;
		s->cpus[now.cpu].since_ns = ts_ns;
		rename.runs = true;
	}
	return thread_states_rename(s->states, &rename);
}

int summary_account_until(struct summary *s, struct summary_thread *t, uint64_t ts_ns)
{
	struct summary_cpu *cpu;
	struct thread_now now;

	if (!summary_accounts_thread(s, t->tid))
		return -ENOMEM;
	if (!thread_states_get(s->states, t->tid, &now))
		now = (struct thread_now){ THREAD_UNKNOWN };
	if (ts_ns <= now.since_ns)
		return 0;
	cpu = now.cpu < s->n_cpus ? &s->cpus[now.cpu] : NULL;
	if (now.state == THREAD_RUNNING && cpu && cpu->tid == t->tid && cpu->since_ns < ts_ns) {
		summary_account_cpu(s, cpu, t, ts_ns);
		cpu->since_ns = ts_ns;
	}
	return thread_states_split(s->states, t->tid, ts_ns);
}

/* (CPUs with records after TO_NS are skipped: such records can precede the end of the pause in the
 * file) */
int summary_account_pause(struct summary *s, uint64_t from_ns, uint64_t to_ns)
{
	for (size_t i = 0; i < s->n_cpus; i++) {
		if (s->cpus[i].since_ns >= to_ns)
			continue;
		summary_account_cpu(s, &s->cpus[i], summary_accounts_on(s, &s->cpus[i]), to_ns);
		s->cpus[i].tid = 0;
		s->cpus[i].since_ns = to_ns;
	}
	return thread_states_pause(s->states, from_ns, to_ns);
}

static uint64_t summary_accounts_smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void summary_accounts_end_cpus(struct summary *s, uint64_t end_ns)
{
	for (size_t i = 0; i < s->n_cpus; i++) {
		struct summary_cpu *cpu = &s->cpus[i];

		summary_account_cpu(s, cpu, summary_accounts_on(s, cpu), end_ns);
		/* Times beyond session_stop are known only now. */
		cpu->busy_ns = summary_accounts_smaller(cpu->busy_ns, s->recorded_ns);
		cpu->other_ns =
			summary_accounts_smaller(cpu->other_ns, s->recorded_ns - cpu->busy_ns);
		cpu->idle_ns = s->recorded_ns - cpu->busy_ns - cpu->other_ns;
	}
}

void summary_account_end(struct summary *s, uint64_t end_ns)
{
	summary_accounts_end_cpus(s, end_ns);
	thread_states_peek(s->states, end_ns, summary_accounts_add, s);
}

int summary_account_finish(struct summary *s, uint64_t end_ns)
{
	summary_accounts_end_cpus(s, end_ns);
	return thread_states_finish(s->states, end_ns);
}
