/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Complete events of a part that end where it ends, but continue in the next part. They are held
 * until the next part has shown the event: then they are not needed. Those that it does not show
 * are all that is left of their events.
 */
#pragma once

#include "base/table.h"
#include "edit/edit-sort.h"

/* The maximum number of them, and of their bytes. */
enum { EDIT_HALVES_MAX = 1 << 16 };
#define EDIT_HALVES_BYTES_MAX ((size_t)32 << 20)

struct edit_half;

struct edit_halves {
	struct table by_event;  /* hash of an event -> index + 1 */
	struct edit_half *list; /* owned */
	size_t n, room, bytes;
	size_t n_taken; /* from the begin of the list */
};

void edit_halves_deinit(struct edit_halves *h);

/* Holds ITEM. Returns 1, 0 if there is no room, or -ENOMEM. */
int edit_halves_hold(struct edit_halves *h, const struct edit_sorted *item);

/* Whether H has the first half of the event that R is a later part of; then it is dropped. */
bool edit_halves_drop(struct edit_halves *h, const struct fxt_record *r);

/* Takes the next one that was not dropped; owned by the caller. NULL: there is none. Nothing can be
 * held or dropped afterwards. */
struct edit_kept *edit_halves_take(struct edit_halves *h);
