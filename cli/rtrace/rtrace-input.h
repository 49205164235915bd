/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A leak report as its post-processing reads it: by bytes at offsets, several times. What cannot be
 * read so (a pipe, what is packed) goes into a temporary file first, in TMPDIR, that has no name.
 */
#pragma once

#include <sys/types.h>

#include "cli/common/input-file.h"
#include "cli/common/progress.h"
#include "reader/pack/unpack.h"

struct rtrace_input {
	struct input_file file;
	struct unpack *unpack; /* what it comes from; NULL = bytes are where they are */
	int fd;                /* where they are: `file`'s, or a temporary file's, which is owned */
	uint64_t begin;        /* of the report in FD */
	uint64_t position;     /* of UNPACK */
	uint64_t n_damages;    /* of what it is packed in */
	struct progress progress;
};

#define RTRACE_INPUT_NULL                                                                          \
	(struct rtrace_input)                                                                      \
	{                                                                                          \
		.file = INPUT_FILE_NULL, .fd = -1                                                  \
	}

/*
 * Opens PATH; "-" is standard input. ONCE: it is read once, from beginning to end. Returns CLI_OK,
 * or CLI_FAILED when it has said what is wrong. *IN must be closed in any case.
 */
int rtrace_input_open(struct rtrace_input *in, const char *path, bool once);
void rtrace_input_close(struct rtrace_input *in);

/* read_at() of struct rtrace_postprocess_io. */
ssize_t rtrace_input_read(struct rtrace_input *in, uint64_t offset, void *to, size_t n);
