/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A leak report as the input of the post-processing. The post-processing reads bytes at any
 * offsets, several times. Data that does not support this (a pipe, a compressed file) is first
 * copied to a temporary file without a name, in TMPDIR.
 */
#pragma once

#include <sys/types.h>

#include "cli/common/input-file.h"
#include "cli/common/progress.h"
#include "reader/pack/unpack.h"

struct rtrace_input {
	struct input_file file;
	struct unpack *unpack; /* source of the temporary file; NULL = `fd` is the input itself */
	int fd;                /* descriptor of `file`, or (owned) of a temporary file */
	uint64_t begin;        /* position of the report in FD */
	uint64_t position;     /* position in the decompressed data */
	uint64_t n_damages;    /* number of damages in the compressed data */
	struct progress progress;
};

#define RTRACE_INPUT_NULL                                                                          \
	(struct rtrace_input)                                                                      \
	{                                                                                          \
		.file = INPUT_FILE_NULL, .fd = -1                                                  \
	}

/* Opens PATH; "-" is standard input. ONCE = true: the input is read once, from beginning to end.
 * Returns CLI_OK, or CLI_FAILED after an error message. *IN must be closed in both cases. */
int rtrace_input_open(struct rtrace_input *in, const char *path, bool once);
void rtrace_input_close(struct rtrace_input *in);

/* The function read_at() of struct rtrace_postprocess_io. */
ssize_t rtrace_input_read(struct rtrace_input *in, uint64_t offset, void *to, size_t n);
