/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A script for `gdb -x` that loads programs and libraries at their recorded addresses, and then the
 * trace file. The format itself does not contain relocations.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"

/* A program or library. */
struct tfile_script_file {
	const char *path;     /* where GDB finds it */
	const char *build_id; /* for the comment; "" = not known */
	uint64_t bias; /* address of file offset 0 minus the first p_vaddr; 0 = not relocated */
};

/* A frame for the index: GDB has none, and searches the file for each frame. */
struct tfile_script_frame {
	uint32_t number, tracepoint; /* number: from 0 on, for `tfind NUMBER` */
	uint32_t tid;
	uint64_t ts_ns;   /* as in the archive */
	const char *text; /* such as "main.c:42"; "" = none */
};

struct tfile_script {
	const char *trace;                         /* the trace file, as GDB finds it */
	struct tfile_script_file program;          /* path NULL = not known */
	const struct tfile_script_file *libraries; /* with add-symbol-file each */
	size_t n_libraries;
	const char *const *comments; /* lines for people, on top */
	size_t n_comments;
	const struct tfile_script_frame *frames; /* of this file, in order */
	size_t n_frames;
	/*
	 * The first frame has the link map (tfile-link-map.h): GDB reads it, and finds the
	 * libraries by itself. Do not add them to `libraries`, too.
	 */
	bool has_link_map;
};

/*
 * Writes S to OUT. The script selects the first frame. Returns 0, -EINVAL (a path that GDB cannot
 * parse: empty, or with a line feed), or OUT's error. On failure, nothing is written. Comments and
 * the text of frames are cleaned.
 */
int tfile_script_write(struct outbuf *out, const struct tfile_script *s);
