/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the threads and processes without a name that kymo's records, or any objects, mention. They
 * get a name at the end, so that readers know their owner. Also finds mappings whose module (file)
 * has no record, since it was lost. A module is then written before the mapping, since readers
 * resolve the id of a module in the order of the records.
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

/*
 * Must be called before RECORD of provider FROM is copied. If RECORD is a mapping of an unknown
 * module, writes a module with the name "?" to COPY. Returns like edit_copy_record().
 */
int edit_names_see_module(struct edit_names *n, struct edit_copy *copy,
			  const struct fxt_provider *from, const struct fxt_record *record);

/* Returns the number of modules that edit_names_see_module() has written. */
uint64_t edit_names_modules_lost(const struct edit_names *n);
