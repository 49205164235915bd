/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Adds to a history what only the records of times off CPU show: wakeups whose scheduling records
 * are missing, and the times in which threads were throttled.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "reader/why/history-state.h"

/* True if the piece at I of T is the wait of W, and the scheduling record of its wakeup is
 * missing. */
static bool history_wakeups_lack(const struct history_thread *t, size_t i,
				 const struct history_wakeup *w)
{
	const struct history_piece *p = &t->pieces[i], *next = i + 1 < t->n ? &p[1] : NULL;

	if (p->state != THREAD_BLOCKED || p->from_ns != w->from_ns || p->woken || !next)
		return false;
	if (p->end == THREAD_END_GAP)
		return next->state == THREAD_UNKNOWN && next->end != THREAD_END_PAUSE;
	return p->end == THREAD_END_EVENT && next->state == THREAD_RUNNING &&
	       w->woken_ns < next->from_ns;
}

/* The index of the piece of T that begins at NS; t->n = none. */
static size_t history_wakeups_find(const struct history_thread *t, uint64_t ns)
{
	size_t i = ARRAY_FIRST(k, 0, t->n, t->pieces[k].from_ns >= ns);

	return i < t->n && t->pieces[i].from_ns == ns ? i : t->n;
}

bool history_lacks_wakeup(const struct history *h, const struct history_wakeup *w)
{
	const struct history_thread *t = w->tid != 0 ? table_get(&h->threads, w->tid) : NULL;
	size_t i = t ? history_wakeups_find(t, w->from_ns) : 0;

	return t && i < t->n && history_wakeups_lack(t, i, w);
}

/*
 * Appends the wait at I of T to TO, divided at the wakeup W. If an unknown state follows the wait
 * and lasts longer than W, its rest is appended, too. Returns the number of pieces of T that this
 * replaces.
 */
static size_t history_wakeups_divide(const struct history_thread *t, size_t i,
				     const struct history_wakeup *w, struct history_piece *to,
				     size_t *n)
{
	const struct history_piece *p = &t->pieces[i];
	size_t n_old = p->end == THREAD_END_GAP ? 2 : 1;
	uint64_t end_ns = i + n_old < t->n ? p[n_old].from_ns : t->to_ns;
	struct history_piece blocked = *p, ready = { .from_ns = w->woken_ns, .cpu = p->cpu };

	blocked.end = THREAD_END_EVENT;
	blocked.woken = w->waker_tid != 0;
	blocked.waker_tid = w->waker_tid;
	ready.state = THREAD_RUNNABLE;
	ready.woken = blocked.woken;
	ready.waker_tid = w->waker_tid;
	if (i + n_old < t->n && p[n_old].state == THREAD_RUNNING)
		ready.cpu = p[n_old].cpu;
	to[(*n)++] = blocked;
	if (w->woken_ns < end_ns)
		to[(*n)++] = ready;
	if (n_old == 2 && w->to_ns < end_ns) {
		to[(*n)++] = p[1];
		to[*n - 1].from_ns = w->to_ns;
	}
	return n_old;
}

/* Divides the waits of T at the wakeups in LIST, which has N elements, all of T. */
static int history_wakeups_divide_all(struct history *h, struct history_thread *t,
				      struct history_wakeup *list, size_t n)
{
	struct history_piece *pieces = calloc(t->n + n * 2 + 1, sizeof(*pieces));
	size_t n_pieces = 0, k = 0;

	if (!pieces)
		return -ENOMEM;
	for (size_t i = 0; i < t->n;) {
		while (k < n && list[k].from_ns < t->pieces[i].from_ns)
			k++;
		if (k < n && history_wakeups_lack(t, i, &list[k])) {
			list[k].used = true;
			i += history_wakeups_divide(t, i, &list[k], pieces, &n_pieces);
		} else {
			pieces[n_pieces++] = t->pieces[i++];
		}
	}
	h->n_pieces += n_pieces - t->n;
	free(t->pieces);
	t->room = t->n + n * 2 + 1;
	t->pieces = pieces;
	t->n = n_pieces;
	return 0;
}

int history_add_wakeups(struct history *h, struct history_wakeup *list, size_t n)
{
	int r = 0;

	for (size_t i = 0, end; i < n && r == 0; i = end) {
		struct history_thread *t = table_get(&h->threads, list[i].tid);

		for (end = i + 1; end < n && list[end].tid == list[i].tid;)
			end++;
		r = t ? history_wakeups_divide_all(h, t, &list[i], end - i) : 0;
	}
	return r;
}

void history_set_throttled(struct history *h, uint32_t tid, uint64_t from_ns)
{
	struct history_thread *t = table_get(&h->threads, tid);
	size_t i = t ? history_wakeups_find(t, from_ns) : 0;

	/* (a migration begins another piece) */
	for (; t && i < t->n && t->pieces[i].state == THREAD_RUNNABLE; i++)
		t->pieces[i].throttled = 1;
}
