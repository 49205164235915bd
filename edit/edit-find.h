/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Identifies the event of a record, and finds an argument of it.
 */
#pragma once

#include "reader/fxt/fxt-reader.h"
#include "reader/fxt/fxt-row.h"

/* Returns the row of RECORD in the table of events, if FROM is kymo; else FXT_ROW_NONE. */
enum fxt_row_id edit_row_of(const struct fxt_provider *from, const struct fxt_record *record);

/*
 * Finds the argument NAME, of TYPE, in RECORD, which can be any event. Returns false if there is no
 * such argument.
 */
bool edit_find_arg(const struct fxt_record *record, int name, enum fxt_arg_type type,
		   struct fxt_arg *ret);

/* Returns the koid in the argument NAME of RECORD, of any event; 0 if there is no such argument. */
static inline uint64_t edit_find_koid(const struct fxt_record *record, int name)
{
	struct fxt_arg arg;

	return edit_find_arg(record, name, FXT_ARG_KOID, &arg) ? arg.uint64 : 0;
}

/*
 * Returns the process of R, an event or a profiler record: the argument `process` of a mapping,
 * otherwise the process of its thread.
 */
uint64_t edit_process_of(const struct fxt_record *r);

/*
 * Returns true if R, an event or a profiler record, is about the kernel's mappings or addresses.
 * These belong to process 2, even if process 2 is not recorded.
 */
bool edit_is_kernel_mapping(const struct fxt_record *r);
