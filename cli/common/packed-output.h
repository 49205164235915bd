/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file to which a trace is written, compressed or not. Blocks end at the ends of records, as in a
 * recording, so that a damaged file can be read up to its damage.
 *
 * An unfinished file is removed, even if a signal ends the process, so that no incomplete trace is
 * left.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "cli/common/output-file.h"
#include "writer/pack/pack.h"

struct packed_output {
	struct output_file file;
	struct pack packer;
	pack_whole_fn whole;
	struct outbuf waiting; /* data of less than a block */
	struct outbuf packed;
	uint64_t bytes;      /* size of the uncompressed data */
	uint64_t file_bytes; /* size of the data in the file */
};

#define PACKED_OUTPUT_NULL                                                                         \
	(struct packed_output)                                                                     \
	{                                                                                          \
		.file = OUTPUT_FILE_NULL                                                           \
	}

struct packed_output_args {
	const char *path; /* path, as for output_file_open() */
	bool force;
	enum pack_method method;
	pack_whole_fn whole; /* finds whole records of the format */
	const int *inputs;   /* the open input files; the output must not be one of them */
	size_t n_inputs;
};

/* Returns 0, or a negative errno after an error message. Only one output can be open at a time. */
int packed_output_open(struct packed_output *o, const struct packed_output_args *args);

/* Opens FD (borrowed), a file without a name, like packed_output_open(). Messages call the file
 * NAME. The output is not compressed. */
int packed_output_open_fd(struct packed_output *o, int fd, const char *name);

/* Writes N bytes at DATA. Returns 0, or a negative errno after an error message. */
int packed_output_write(struct packed_output *o, const void *data, size_t n);

/* Writes the waiting data and closes the file. Returns 0, or a negative errno after an error
 * message. */
int packed_output_finish(struct packed_output *o);

/* Removes an unfinished file. */
void packed_output_deinit(struct packed_output *o);

/* Writes all N bytes at DATA to a file. Returns 0, or a negative errno after an error message. */
int packed_output_put(const struct packed_output_args *args, const void *data, size_t n);

/* A value of `whole`, for data that can be split anywhere. */
size_t packed_output_any_bytes(const uint8_t *data, size_t n);
