/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A directory of chunks: NAME-BEGIN-END.fxt, with a suffix for the compression. BEGIN and END are
 * UTC (20261120T190834.123456Z), so that names sort by time. While a chunk is written, it is called
 * .NAME-BEGIN.part and is locked (flock()). A chunk that has been renamed is complete. No file is
 * ever overwritten: if the name exists (the clock was set back), the next microsecond is used.
 *
 * When the first chunk begins, the files of dead processes (.part) are truncated after the last
 * whole record or packed block, and renamed. Their end is the time of their last write. This is not
 * done earlier, since it can take long, and only the output's thread has the time.
 *
 * After each chunk, and when the first one begins, the oldest files of this NAME are removed until
 * both limits are met, whatever their compression is. The chunk that was just written stays.
 */
#pragma once

#include <stdint.h>

#include "capture/store/store.h"
#include "writer/pack/pack.h"

struct store_files_options {
	int dir_fd;          /* open directory; a duplicate is kept */
	const char *name;    /* [A-Za-z0-9_]{1,64}; copied */
	uint64_t keep_bytes; /* maximum size of all chunks of this name; 0 = no limit */
	uint64_t keep_ns;    /* files that ended earlier are removed; 0 = no limit */
	enum pack_method packed;
};

/* Returns 0, -EINVAL (the name is invalid), or another errno. */
int store_files_new(const struct store_files_options *o, struct store **ret);

/*
 * Completes and renames the files of dead processes in the directory. Other files are ignored. Can
 * take long.
 */
void store_files_recover(const struct store_files_options *o);
