/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads and processes that kymo's records mention, and those that an object names. Those
 * without a name get one at the end, so that readers know their owner.
 */
#pragma once

#include "base/cleanup.h"
#include "edit/edit-copy.h"

struct edit_names;

int edit_names_new(struct edit_names **ret);
struct edit_names *edit_names_free(struct edit_names *n);
DEFINE_CLEANUP(struct edit_names *, edit_names_free)

/* Looks at RECORD of provider FROM. Returns 0 or -ENOMEM. */
int edit_names_see(struct edit_names *n, const struct fxt_provider *from,
		   const struct fxt_record *record);

/*
 * Writes the objects that are missing, all called "?" (docs/FXT-MAPPING.md). Returns 0 or a
 * negative errno, as edit_copy_event().
 */
int edit_names_write(struct edit_names *n, struct edit_copy *copy, uint64_t *ret_count);
