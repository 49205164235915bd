/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is so at one moment of an archive because records before it said it: who is who, what is
 * mapped where and called how, the last value of each counter. What has ended is forgotten, a
 * moment later: the last records of a thread stand behind its end. A child has mapped what its
 * parent had at the fork; what that said is said of the child.
 *
 * Memory is bounded: of what is more than 128 MiB, nothing is kept, and it is counted.
 */
#pragma once

#include "base/cleanup.h"
#include "edit/edit-kept.h"

struct edit_state;

int edit_state_new(struct edit_state **ret);
struct edit_state *edit_state_free(struct edit_state *s);
DEFINE_CLEANUP(struct edit_state *, edit_state_free)

/* Takes RECORD in, a view of KEPT. Returns 1 if it is part of the state, 0 if not, or -ENOMEM. */
int edit_state_take(struct edit_state *s, struct edit_kept *kept, const struct fxt_record *record);

/* How many records there was no room for. */
uint64_t edit_state_left_out(const struct edit_state *s);

/* Called with each record of the state, names first. Returns 0 or a negative errno. */
typedef int (*edit_state_fn)(void *userdata, const struct fxt_provider *from,
			     struct fxt_record *record);

/* Gives all records to WRITE, and forgets them. Stops at its first error, which it returns. */
int edit_state_give(struct edit_state *s, edit_state_fn write, void *userdata);
