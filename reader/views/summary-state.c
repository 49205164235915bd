/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/views/summary-state.h"

#include <errno.h>

#include "base/array.h"
#include "writer/fxt/fxt-names.h"

struct summary_thread *summary_thread(struct summary *s, uint32_t tid)
{
	struct summary_thread *t = table_make(&s->threads, tid, sizeof(*t));

	if (t)
		t->tid = tid;
	return t;
}

uint64_t summary_recorded(const struct summary *s, uint64_t from, uint64_t to)
{
	if (from < s->start_ns)
		from = s->start_ns;
	if (s->stopped && to > s->end_ns)
		to = s->end_ns;
	if (s->paused && to > s->paused_at_ns)
		to = s->paused_at_ns;
	return to > from ? to - from : 0;
}

uint64_t summary_counted(const struct summary *s, uint64_t from, uint64_t to)
{
	return summary_recorded(s, from > s->part_ns ? from : s->part_ns, to);
}

bool summary_is_complete(const struct summary *s)
{
	return s->started && s->stopped && !s->cut_off;
}

uint64_t summary_lost(const struct summary *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n_lost; i++)
		n += s->lost[i].count;
	return n;
}

DEFINE_ORDER_OF_POINTERS(summary_state_compare_threads, struct summary_thread,
			 COMPARE(y->cpu_ns, x->cpu_ns) ?: COMPARE(x->tid, y->tid))

DEFINE_ORDER_OF_POINTERS(summary_state_compare_processes, struct summary_process,
			 COMPARE(x->pid, y->pid))

/* Returns true if KOID is a pseudo-process or pseudo-thread of kymo, which does not count. */
static bool summary_state_is_pseudo(const struct summary *s, uint32_t koid)
{
	return s->started && koid >> FXT_KOID_TID_BITS == 1;
}

/* Stores the elements of T, without pseudo-processes, in a new sorted array. The first member of
 * each element is its koid. */
static int summary_state_sorted(const struct summary *s, const struct table *t,
				int (*compare)(const void *, const void *), void ***ret,
				size_t *ret_n)
{
	size_t n;

	*ret_n = 0;
	*ret = table_sorted(t, compare, &n);
	if (!*ret)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (!summary_state_is_pseudo(s, *(uint32_t *)(*ret)[i]))
			(*ret)[(*ret_n)++] = (*ret)[i];
	return 0;
}

int summary_threads_by_cpu(const struct summary *s, struct summary_thread ***ret, size_t *ret_n)
{
	return summary_state_sorted(s, &s->threads, summary_state_compare_threads, (void ***)ret,
				    ret_n);
}

int summary_processes_by_pid(const struct summary *s, struct summary_process ***ret, size_t *ret_n)
{
	return summary_state_sorted(s, &s->processes, summary_state_compare_processes,
				    (void ***)ret, ret_n);
}
