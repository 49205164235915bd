/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Complete events of a part that end at the end of the part, but continue in the next part. Each is
 * held until the next part has shown the whole event, and is then dropped. If the next part does
 * not show the event, the held record is written, since nothing else is left of the event.
 */
#pragma once

#include "base/table.h"
#include "edit/edit-sort.h"

/* The maximum number of held events, and of their bytes. */
enum { EDIT_HALVES_MAX = 1 << 16 };
#define EDIT_HALVES_BYTES_MAX ((size_t)32 << 20)

struct edit_half;

struct edit_halves {
	struct table by_event;  /* hash of an event -> index + 1 */
	struct edit_half *list; /* held events in their order; owned */
	size_t n, room, bytes;
	size_t n_taken; /* number of elements that were taken from the begin of the list */
};

void edit_halves_deinit(struct edit_halves *h);

/* Holds ITEM. Returns 1, 0 if there is no room, or -ENOMEM. */
int edit_halves_hold(struct edit_halves *h, const struct edit_sorted *item);

/*
 * If H holds the first half of the event of which R is a later part, drops that half and returns
 * true.
 */
bool edit_halves_drop(struct edit_halves *h, const struct fxt_record *r);

/*
 * Removes and returns the first held event, which the caller then owns. Dropped events are skipped.
 * NULL = all were taken. Afterwards, nothing can be held or dropped.
 */
struct edit_kept *edit_halves_take(struct edit_halves *h);
