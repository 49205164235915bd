/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Complete events that cross an end of a cut are clipped there.
 *
 * A clipped event says so: calls and waits by `left by` and `begun`, as at the ends of a recording.
 * Its true times are in `began at` and `ends at`, so that it can be made whole again if the parts
 * are merged (docs/FXT-MAPPING.md, "Parts").
 */
#pragma once

#include "edit/edit-copy.h"

/* The changes to the copy of one record. All 0: it is not clipped. */
struct edit_clip {
	uint64_t began_ns, ends_ns; /* its true times; 0 = not clipped there, or already known */
	const char *left_by, *begun;
};

/* R, a complete event, ends at TO_NS if it continues. Calls and waits are open then. */
void edit_clip_end(struct edit_clip *c, struct fxt_record *r, uint64_t to_ns);

/* R, a complete event that edit_clip_end() was called for, begins at FROM_NS if it is older. */
void edit_clip_begin(struct edit_clip *c, struct fxt_record *r, uint64_t from_ns);

/* R, an instant event from before the cut, has the time FROM_NS. */
void edit_clip_move(struct edit_clip *c, struct fxt_record *r, uint64_t from_ns);

/* For struct edit_rules: additional argument N, and whether the argument NAME is kept. */
int edit_clip_add(const struct edit_clip *c, unsigned n, struct fxt_out_arg *ret);
bool edit_clip_keeps(const struct edit_clip *c, int name);
