/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A GDB trace file made from another: all of its frames, or some. If the first frame is left out,
 * the list of shared libraries that it has goes into the first one that is not: GDB finds them by
 * that.
 */
#pragma once

#include "base/outbuf.h"
#include "cli/common/open-trace.h"

/* Whether FRAME, the number NO of the file it is in, is wanted. */
typedef bool (*tfile_copy_fn)(void *userdata, uint64_t no, const struct tfile_frame *frame);

struct tfile_copy {
	struct outbuf head, frames;
	uint64_t n_frames, left_out;
	struct tfile_block *link_map; /* owned, as are its bytes: of the first frame */
	size_t n_link_map, link_map_room;
	uint64_t shortened; /* of which a part could not be read, nor carried over */
};

void tfile_copy_deinit(struct tfile_copy *c);

/* A finding of the reader; USERDATA is the struct tfile_copy. */
void tfile_copy_found(void *userdata, enum tfile_finding_id id, uint64_t offset);

/*
 * Makes C of what WANTED (NULL = everything) takes of T. Returns CLI_OK, or CLI_FAILED when it has
 * said why.
 */
int tfile_copy(struct tfile_copy *c, struct open_trace *t, tfile_copy_fn wanted, void *userdata);

/* Says on stderr what is missing. */
void tfile_copy_say_missing(const struct tfile_copy *c, const char *name);
