/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Complete events that cross an end of a cut are clipped there.
 *
 * A clipped event is marked: calls and waits by `left by` and `begun`, as at the ends of a
 * recording. The true times of the event are in `began at` and `ends at`, so that the event can be
 * made whole again if the parts are merged (docs/FXT-MAPPING.md, "Parts").
 */
#pragma once

#include "edit/edit-copy.h"

/* The changes to the copy of one record. If all members are 0, the record is not clipped. */
struct edit_clip {
	/* True times of the event; 0 = not clipped at this end, or already known. */
	uint64_t began_ns, ends_ns;
	const char *left_by, *begun;
};

/*
 * Clips R, a complete event, at TO_NS if R ends later. A clipped call or wait is marked as open at
 * its end.
 */
void edit_clip_end(struct edit_clip *c, struct fxt_record *r, uint64_t to_ns);

/* Clips R, a complete event for which edit_clip_end() was called, at FROM_NS if R began earlier. */
void edit_clip_begin(struct edit_clip *c, struct fxt_record *r, uint64_t from_ns);

/* Gives R, an instant event from before the cut, the time FROM_NS. */
void edit_clip_move(struct edit_clip *c, struct fxt_record *r, uint64_t from_ns);

/*
 * Functions for struct edit_rules: edit_clip_add() is the additional argument N; edit_clip_keeps()
 * is whether the argument NAME is kept.
 */
int edit_clip_add(const struct edit_clip *c, unsigned n, struct fxt_out_arg *ret);
bool edit_clip_keeps(const struct edit_clip *c, int name);
