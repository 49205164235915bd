/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A script for `gdb -x` that loads programs and libraries at their recorded addresses, and then the
 * trace file. The script is needed since trace files do not say where files were loaded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"

/* A program or library. */
struct tfile_script_file {
	const char *path;     /* path at which GDB finds the file */
	const char *build_id; /* for the comment; "" = unknown */
	uint64_t bias; /* address of file offset 0 minus the first p_vaddr; 0 = not relocated */
};

/* A frame for the index in the script: GDB has no index, and searches the file for each frame. */
struct tfile_script_frame {
	uint32_t number, tracepoint; /* number: from 0, as in `tfind NUMBER` */
	uint32_t tid;
	uint64_t ts_ns;   /* time in the archive */
	const char *text; /* to display, such as "main.c:42"; "" = none */
};

struct tfile_script {
	const char *trace;                /* path at which GDB finds the trace file */
	struct tfile_script_file program; /* path = NULL if the program is unknown */
	/* Libraries, each with a command add-symbol-file. */
	const struct tfile_script_file *libraries;
	size_t n_libraries;
	const char *const *comments; /* lines at the begin of the script, for people */
	size_t n_comments;
	const struct tfile_script_frame *frames; /* the frames of the trace file, in order */
	size_t n_frames;
	/*
	 * true: the first frame has the link map (tfile-link-map.h), in which GDB finds the
	 * libraries, so they must not be in `libraries`.
	 */
	bool has_link_map;
};

/*
 * Writes S to OUT. The script goes to the first frame. Comments and texts of frames are cleaned.
 * Returns 0, -EINVAL (GDB cannot parse a path: it is empty, or has a line feed), or OUT's error. On
 * failure, nothing is written.
 */
int tfile_script_write(struct outbuf *out, const struct tfile_script *s);
