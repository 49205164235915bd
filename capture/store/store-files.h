/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A directory of chunks: NAME-BEGIN-END.fxt, with the suffix of how it is packed, BEGIN and END
 * being UTC (20261120T190834.123456Z), so that names sort by time. While it is written a chunk is
 * called .NAME-BEGIN.part, and locked (flock()); it is complete the moment it is renamed. Nothing
 * is ever written over: what would have the name of another one (the clock was put back) gets the
 * next microsecond's.
 *
 * When the first chunk begins, what a dead process has left (.part) is cut to whole records, or
 * packed blocks, and gets its name: its end is the time of its last write. That is not done earlier
 * since it may take long, and only the output's thread has time.
 *
 * After each chunk, and when the first one begins, the oldest ones of this NAME go until both
 * limits hold, however they are packed; the one just written stays.
 */
#pragma once

#include <stdint.h>

#include "capture/store/store.h"
#include "writer/pack/pack.h"

struct store_files_options {
	int dir_fd;          /* open directory; a duplicate is kept */
	const char *name;    /* [A-Za-z0-9_]{1,64}; copied */
	uint64_t keep_bytes; /* of all chunks of this name; 0 = no limit */
	uint64_t keep_ns;    /* older ones go, by when they end; 0 = no limit */
	enum pack_method packed;
};

/* Returns 0, -EINVAL (no such name), or another errno. */
int store_files_new(const struct store_files_options *o, struct store **ret);

/*
 * Gives what a dead process has left in the directory its name; what of it is none's does not
 * matter. May take its time.
 */
void store_files_recover(const struct store_files_options *o);
