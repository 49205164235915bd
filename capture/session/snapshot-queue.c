/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/session/snapshot-queue.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"

static void snapshot_queue_drop_now(struct snapshot_queue *q)
{
	if (q->now)
		snapshot_cancel(q->now);
	q->now = snapshot_unref(q->now);
}

void snapshot_queue_deinit(struct snapshot_queue *q)
{
	snapshot_queue_drop_now(q);
	for (unsigned i = 0; i < q->n_waiting; i++)
		store_free(q->waiting[i].to);
	*q = (struct snapshot_queue){ 0 };
}

int snapshot_queue_request(struct snapshot_queue *q, struct store *to, uint64_t *ret_number)
{
	if (q->n_waiting == SNAPSHOTS_WAITING_MAX)
		return -EBUSY;
	q->waiting[q->n_waiting].to = to;
	q->waiting[q->n_waiting++].asked_ns = clock_boot_ns();
	*ret_number = ++q->n_asked;
	return 0;
}

static void snapshot_queue_note_end(struct snapshot_queue *q, int error)
{
	q->errors[++q->n_ended % SNAPSHOTS_KNOWN] = error;
	q->now = snapshot_unref(q->now);
}

bool snapshot_queue_step(struct snapshot_queue *q)
{
	int r;

	if (q->now && snapshot_ended(q->now, &r))
		snapshot_queue_note_end(q, r);
	while (!q->now && q->n_waiting > 0) {
		struct store *to = q->waiting[0].to;

		q->asked_ns = q->waiting[0].asked_ns;
		q->taken = false;
		memmove(&q->waiting[0], &q->waiting[1], --q->n_waiting * sizeof(q->waiting[0]));
		r = to ? snapshot_new(to, &q->now) : -ECANCELED;
		if (r == 0)
			return true;
		store_free(to);
		snapshot_queue_note_end(q, r);
	}
	return false;
}

void snapshot_queue_cancel(struct snapshot_queue *q, uint64_t number)
{
	/* Number of the first snapshot that waits. */
	uint64_t first = q->n_asked - q->n_waiting + 1;

	if (number > q->n_asked || number <= q->n_ended)
		return;
	if (number >= first) {
		/* The request keeps its place, so that the numbers of later requests stay valid. */
		q->waiting[number - first].to = store_free(q->waiting[number - first].to);
	} else if (q->now) {
		snapshot_cancel(q->now);
	}
}

bool snapshot_queue_ended(const struct snapshot_queue *q, uint64_t number, int *ret_error)
{
	if (number > q->n_ended)
		return false;
	*ret_error = q->errors[number % SNAPSHOTS_KNOWN];
	return true;
}
