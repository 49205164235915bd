/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the threads and processes without a name that kymo's records, or any objects, mention. They
 * get a name at the end, so that readers know their owner.
 */
#pragma once

#include "base/cleanup.h"
#include "edit/edit-copy.h"

struct edit_names;

int edit_names_new(struct edit_names **ret);
struct edit_names *edit_names_free(struct edit_names *n);
DEFINE_CLEANUP(struct edit_names *, edit_names_free)

/* Notes the threads and processes in RECORD of provider FROM. Returns 0 or -ENOMEM. */
int edit_names_see(struct edit_names *n, const struct fxt_provider *from,
		   const struct fxt_record *record);

/*
 * Writes the missing objects, all with the name "?" (docs/FXT-MAPPING.md). *RET_COUNT is their
 * number. Returns 0 or a negative errno, like edit_copy_event().
 */
int edit_names_write(struct edit_names *n, struct edit_copy *copy, uint64_t *ret_count);
