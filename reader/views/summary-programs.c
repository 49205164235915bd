/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A thread's sums cover all of its programs. At an exec, the part of the program that ends goes
 * into `earlier`. The sums that are in no `earlier` are the part of the last program.
 */
#include "reader/views/summary-programs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "reader/views/summary-accounts.h"

/* The members of a thread that are sums of times or counts. */
static const size_t summary_programs_sums[] = {
	offsetof(struct summary_thread, cpu_ns),
	offsetof(struct summary_thread, runnable_ns),
	offsetof(struct summary_thread, blocked_ns),
	offsetof(struct summary_thread, switches),
	offsetof(struct summary_thread, preempted),
	offsetof(struct summary_thread, wakeups),
	offsetof(struct summary_thread, samples),
	offsetof(struct summary_thread, after_wakeup_ns),
	offsetof(struct summary_thread, until_preempted_ns),
};

static uint64_t *summary_programs_sum(struct summary_thread *t, size_t i)
{
	return (uint64_t *)(void *)((char *)t + summary_programs_sums[i]);
}

/* Returns the part of T's sums that belongs to its last program. */
static struct summary_thread summary_programs_rest(const struct summary_thread *t)
{
	struct summary_thread rest = *t;

	for (size_t i = 0; t->before && i < ARRAY_SIZE(summary_programs_sums); i++)
		*summary_programs_sum(&rest, i) -= *summary_programs_sum(t->before, i);
	rest.before = NULL;
	rest.max_wakeup_latency_ns = t->program_latency_ns;
	return rest;
}

void summary_programs_join(const struct summary *s, struct summary_thread *t)
{
	t->program = programs_last(&s->programs, t->pid);
}

/* Moves the sums of T up to TS_NS, those of the program that ends, to a new struct in t->earlier.
 * Returns 0 or -ENOMEM. */
static int summary_programs_end(struct summary *s, struct summary_thread *t, uint64_t ts_ns)
{
	_cleanup_free_ struct summary_thread *earlier = malloc(sizeof(*earlier));
	int r;

	if (!t->before)
		t->before = calloc(1, sizeof(*t->before));
	if (!earlier || !t->before)
		return -ENOMEM;
	r = summary_account_until(s, t, ts_ns);
	if (r < 0)
		return r;
	*earlier = summary_programs_rest(t);
	for (size_t i = 0; i < ARRAY_SIZE(summary_programs_sums); i++)
		*summary_programs_sum(t->before, i) = *summary_programs_sum(t, i);
	/* (the name of an ended program is that of its main thread: programs_name()) */
	earlier->name = NULL;
	earlier->until_ns = ts_ns;
	earlier->earlier = t->earlier;
	t->earlier = TAKE_PTR(earlier);
	t->program_latency_ns = 0;
	return 0;
}

int summary_programs_add(struct summary *s, const struct event *ev)
{
	int ended = programs_add(&s->programs, ev);
	struct summary_thread *t;
	int r = 0;

	if (ended <= 0)
		return ended;
	if (ev->exec.old_tid != 0)
		r = summary_account_new_tid(s, ev->exec.old_tid, ev->tid, ev->ts_ns);
	t = table_get(&s->threads, ev->tid);
	if (r < 0 || !t)
		return r;
	r = summary_programs_end(s, t, ev->ts_ns);
	summary_programs_join(s, t);
	return r;
}

void summary_programs_forget(struct summary *s)
{
	struct summary_thread *t, *next;

	for (size_t pos = 0; (t = table_next(&s->threads, &pos));) {
		for (struct summary_thread *e = t->earlier; e; e = next) {
			next = e->earlier;
			free(e);
		}
		t->earlier = NULL;
		t->before = free_ptr(t->before);
		t->program = 0;
	}
	programs_deinit(&s->programs);
}

DEFINE_ORDER(summary_programs_compare, struct summary_thread,
	COMPARE(y->cpu_ns, x->cpu_ns) ?: COMPARE(x->tid, y->tid) ?: COMPARE(x->program, y->program))

int summary_programs_by_cpu(const struct summary *s, struct summary_thread **ret, size_t *ret_n)
{
	_cleanup_free_ struct summary_thread **threads = NULL;
	struct summary_thread *rows;
	size_t n_threads, n = 0;
	int r = summary_threads_by_cpu(s, &threads, &n_threads);

	if (r < 0)
		return r;
	rows = calloc(n_threads + s->programs.n + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < n_threads; i++) {
		rows[n++] = summary_programs_rest(threads[i]);
		for (const struct summary_thread *e = threads[i]->earlier; e; e = e->earlier) {
			rows[n] = *e;
			rows[n++].name = (char *)programs_name(&s->programs, e->pid, e->program);
		}
	}
	SORT(rows, n, summary_programs_compare);
	*ret = rows;
	*ret_n = n;
	return 0;
}

const char *summary_process_name(const struct summary *s, const struct summary_thread *t)
{
	const struct summary_process *p = table_get(&s->processes, (uint64_t)t->pid + 1);

	return programs_name(&s->programs, t->pid, t->program) ?: (p ? p->name : NULL);
}
