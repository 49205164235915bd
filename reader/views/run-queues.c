/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/views/run-queues.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "writer/fxt/fxt-names.h"
#include "writer/fxt/fxt-wire.h"

struct run_queue {
	bool seen;  /* it had a switch */
	bool known; /* it had a switch since the last loss or pause */
	bool runs;  /* a thread runs */
	uint32_t n_waiting;
};

void run_queues_deinit(struct run_queues *q)
{
	table_deinit(&q->waiting);
	q->cpus = free_ptr(q->cpus);
}

static uint32_t run_queues_length(const struct run_queue *cpu)
{
	return cpu->n_waiting + cpu->runs;
}

/* Adds CPU to the numbers of CPUs. */
static void run_queues_include(struct run_queues *q, const struct run_queue *cpu)
{
	uint32_t length = run_queues_length(cpu);

	q->n_known += cpu->known;
	q->n_idle += cpu->known && length == 0;
	q->n_long += length >= 2;
	q->length += length;
	if (length > q->longest_queue && q->now_ns >= q->from_ns && q->now_ns < q->to_ns) {
		q->longest_queue = length;
		q->longest_cpu = (uint32_t)(cpu - q->cpus);
		q->longest_at_ns = q->now_ns;
	}
}

/* Takes CPU, which is about to change, out of the sums over CPUs. */
static void run_queues_exclude(struct run_queues *q, const struct run_queue *cpu)
{
	uint32_t length = run_queues_length(cpu);

	q->n_known -= cpu->known;
	q->n_idle -= cpu->known && length == 0;
	q->n_long -= length >= 2;
	q->length -= length;
}

/* Adds the time up to TS_NS. For a late event, no time is added: the event changes the present
 * state only. */
static void run_queues_advance(struct run_queues *q, uint64_t ts_ns)
{
	uint64_t from_ns = q->now_ns > q->from_ns ? q->now_ns : q->from_ns,
		 to_ns = ts_ns < q->to_ns ? ts_ns : q->to_ns;

	if (ts_ns <= q->now_ns)
		return;
	q->now_ns = ts_ns;
	if (to_ns <= from_ns || q->n_cpus == 0 || q->n_known < q->n_cpus)
		return;
	q->known_ns += to_ns - from_ns;
	q->queue_ns += q->length * (to_ns - from_ns);
	if (q->n_long > 0 && q->n_idle > 0)
		q->idle_beside_queue_ns += to_ns - from_ns;
}

static struct run_queue *run_queues_cpu(struct run_queues *q, uint32_t cpu)
{
	if (cpu < q->room)
		return &q->cpus[cpu];
	return GROW_ZERO(q->cpus, q->room, (size_t)cpu + 1) < 0 ? NULL : &q->cpus[cpu];
}

/* Moves thread TID to the queue in which STATES says that it waits now, or out of all queues. */
static int run_queues_update(struct run_queues *q, const struct thread_states *states, uint32_t tid)
{
	uintptr_t old = (uintptr_t)table_get(&q->waiting, tid);
	struct thread_now now;
	uint32_t cpu = 0;
	struct run_queue *to;

	if (tid == 0 || fxt_koid_is_other(tid))
		return 0;
	if (thread_states_get(states, tid, &now) && now.known && now.state == THREAD_RUNNABLE &&
	    now.queue_cpu <= FXT_CPU_MAX)
		cpu = now.queue_cpu + 1;
	if (cpu == old)
		return 0;
	if (old) {
		run_queues_exclude(q, &q->cpus[old - 1]);
		q->cpus[old - 1].n_waiting--;
		run_queues_include(q, &q->cpus[old - 1]);
		table_remove(&q->waiting, tid);
	}
	if (!cpu)
		return 0;
	to = run_queues_cpu(q, cpu - 1);
	if (!to || table_set(&q->waiting, tid, (void *)(uintptr_t)cpu) < 0)
		return -ENOMEM;
	run_queues_exclude(q, to);
	to->n_waiting++;
	run_queues_include(q, to);
	return 0;
}

static int run_queues_switch(struct run_queues *q, const struct thread_states *states,
			     const struct event *ev)
{
	struct run_queue *cpu;
	int r;

	if (ev->cpu > FXT_CPU_MAX)
		return 0;
	/* (the incoming thread must not count twice) */
	r = run_queues_update(q, states, ev->sw.next_tid);
	cpu = r < 0 ? NULL : run_queues_cpu(q, ev->cpu);
	if (!cpu)
		return -ENOMEM;
	run_queues_exclude(q, cpu);
	q->n_cpus += !cpu->seen;
	cpu->seen = cpu->known = true;
	cpu->runs = ev->sw.next_tid != 0;
	run_queues_include(q, cpu);
	return run_queues_update(q, states, ev->tid);
}

/* Forgets the state of all CPUs and queues, after a loss or in a pause. */
static void run_queues_forget(struct run_queues *q)
{
	for (size_t i = 0; i < q->room; i++)
		q->cpus[i] = (struct run_queue){ .seen = q->cpus[i].seen };
	table_clear(&q->waiting);
	q->n_known = q->n_idle = q->n_long = 0;
	q->length = 0;
}

/* Returns true if EV is a loss or a pause, after which no state is known. */
static bool run_queues_is_gap(const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_DAMAGE:
	case EVENT_STOP:
		return true;
	case EVENT_LOST:
		return strcmp(ev->lost.class_name, event_class_names[CLASS_SCHED]) == 0;
	case EVENT_SHED:
		return strcmp(ev->shed.what, "session") == 0;
	default:
		return false;
	}
}

int run_queues_add(struct run_queues *q, const struct thread_states *states, const struct event *ev)
{
	bool gap = run_queues_is_gap(ev);

	if (!gap && ev->kind != EVENT_SWITCH && ev->kind != EVENT_WAKE && ev->kind != EVENT_MIGRATE)
		return 0;
	if (ev->kind != EVENT_DAMAGE)
		run_queues_advance(q, ev->ts_ns);
	if (ev->kind == EVENT_SWITCH)
		return run_queues_switch(q, states, ev);
	if (!gap)
		return run_queues_update(q, states, ev->tid);
	run_queues_forget(q);
	return 0;
}
