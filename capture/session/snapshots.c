/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/session/snapshots.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"

static void snapshots_drop_now(struct snapshots *q)
{
	if (q->now)
		snapshot_cancel(q->now);
	q->now = snapshot_unref(q->now);
}

void snapshots_deinit(struct snapshots *q)
{
	snapshots_drop_now(q);
	for (unsigned i = 0; i < q->n_waiting; i++)
		store_free(q->waiting[i].to);
	*q = (struct snapshots){ 0 };
}

int snapshots_request(struct snapshots *q, struct store *to, uint64_t *ret_number)
{
	if (q->n_waiting == SNAPSHOTS_WAITING_MAX)
		return -EBUSY;
	q->waiting[q->n_waiting].to = to;
	q->waiting[q->n_waiting++].asked_ns = clock_boot_ns();
	*ret_number = ++q->n_asked;
	return 0;
}

static void snapshots_note_end(struct snapshots *q, int error)
{
	q->errors[++q->n_ended % SNAPSHOTS_KNOWN] = error;
	q->now = snapshot_unref(q->now);
}

bool snapshots_step(struct snapshots *q)
{
	int r;

	if (q->now && snapshot_ended(q->now, &r))
		snapshots_note_end(q, r);
	while (!q->now && q->n_waiting > 0) {
		struct store *to = q->waiting[0].to;

		q->asked_ns = q->waiting[0].asked_ns;
		q->taken = false;
		memmove(&q->waiting[0], &q->waiting[1], --q->n_waiting * sizeof(q->waiting[0]));
		r = to ? snapshot_new(to, &q->now) : -ECANCELED;
		if (r == 0)
			return true;
		store_free(to);
		snapshots_note_end(q, r);
	}
	return false;
}

void snapshots_cancel(struct snapshots *q, uint64_t number)
{
	uint64_t first = q->n_asked - q->n_waiting + 1; /* the first that waits */

	if (number > q->n_asked || number <= q->n_ended)
		return;
	if (number >= first) {
		/* It keeps its place, so the numbers of later ones stay valid. */
		q->waiting[number - first].to = store_free(q->waiting[number - first].to);
	} else if (q->now) {
		snapshot_cancel(q->now);
	}
}

bool snapshots_ended(const struct snapshots *q, uint64_t number, int *ret_error)
{
	if (number > q->n_ended)
		return false;
	*ret_error = q->errors[number % SNAPSHOTS_KNOWN];
	return true;
}
