/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies all or some frames of a GDB trace file. If the first frame is not copied, its list of
 * shared libraries is added to the first frame that is copied. GDB finds the libraries with this
 * list.
 */
#pragma once

#include "base/outbuf.h"
#include "cli/common/open-trace.h"

/* Whether FRAME, which is number NO in its file, is selected. */
typedef bool (*tfile_copy_fn)(void *userdata, uint64_t no, const struct tfile_frame *frame);

struct tfile_copy {
	struct outbuf head, frames;
	uint64_t n_frames, left_out;
	/* Memory with the list of libraries, from the first frame; array and bytes are owned. */
	struct tfile_block *link_map;
	size_t n_link_map, link_map_room;
	uint64_t shortened; /* number of frames whose unreadable part is missing in the copy */
};

void tfile_copy_deinit(struct tfile_copy *c);

/* Counts the findings of unreadable blocks; USERDATA is the struct tfile_copy. */
void tfile_copy_found(void *userdata, enum tfile_finding_id id, uint64_t offset);

/* Fills C with the frames of T that WANTED selects (NULL = all). Returns CLI_OK, or CLI_FAILED
 * after an error message. */
int tfile_copy(struct tfile_copy *c, struct open_trace *t, tfile_copy_fn wanted, void *userdata);

/* Reports missing data on stderr. */
void tfile_copy_report_missing(const struct tfile_copy *c, const char *name);
