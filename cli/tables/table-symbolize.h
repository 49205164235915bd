/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds names to tables of frames: those of exported archives, which can be of other machines. A
 * frame is looked up by its build id and its offset in the file.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text-set.h"
#include "reader/symbols/symbols.h"

struct table_symbolize {
	struct symbols *symbols; /* borrowed */
	bool has_sysroot;        /* the caller has given the files */

	/* The results: */
	uint64_t n_tables, n_changed;
	uint64_t n_frames;  /* frames of all tables */
	uint64_t n_known;   /* of these, frames that had a name before */
	uint64_t n_named;   /* frames that got a name */
	uint64_t n_no_id;   /* frames without a build id or an offset */
	uint64_t n_unnamed; /* frames whose files were not found, or do not have the name */
};

/*
 * Adds names to the table PATH (frames.parquet), or to all such tables in the directory PATH and
 * those below it. A table that gets a name is replaced when the new one is complete. Returns CLI_OK
 * or CLI_FAILED; prints errors, and continues with the other tables after an error of one table.
 */
int table_symbolize(struct table_symbolize *s, const char *path);
