/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace on its way into a file, packed or not: the file, and the packer before it. Blocks end
 * where records end, as those of a recording do, so that what is packed can be read up to where a
 * file is damaged.
 *
 * A file that is not finished is taken away again, also when a signal ends the process: none that
 * looks like a whole one stays behind.
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
	struct outbuf waiting; /* less than a block */
	struct outbuf packed;
	uint64_t bytes;      /* that were given */
	uint64_t file_bytes; /* that are in the file */
};

#define PACKED_OUTPUT_NULL                                                                         \
	(struct packed_output)                                                                     \
	{                                                                                          \
		.file = OUTPUT_FILE_NULL                                                           \
	}

struct packed_output_args {
	const char *path; /* as output_file_open() takes it */
	bool force;
	enum pack_method method;
	pack_whole_fn whole; /* of the format */
	const int *inputs;   /* of what is read meanwhile: none of them may be the same file */
	size_t n_inputs;
};

/* Returns 0, or a negative errno when it has said what is wrong. One at a time may be open. */
int packed_output_open(struct packed_output *o, const struct packed_output_args *args);

/*
 * The same for a file that is open, without a name, and called NAME in messages: FD is borrowed,
 * nothing is packed.
 */
int packed_output_open_fd(struct packed_output *o, int fd, const char *name);

/* Takes N bytes at DATA. Returns 0, or a negative errno when it has said why. */
int packed_output_write(struct packed_output *o, const void *data, size_t n);

/* Writes what is left and closes the file. Returns 0, or a negative errno when it has said why. */
int packed_output_finish(struct packed_output *o);

/* Takes away a file that was not finished. */
void packed_output_deinit(struct packed_output *o);

/*
 * All of N bytes at DATA into a file of its own. Returns 0, or a negative errno when it has said
 * why not.
 */
int packed_output_put(const struct packed_output_args *args, const void *data, size_t n);

/* The `whole` of what may end anywhere. */
size_t packed_output_any_bytes(const uint8_t *data, size_t n);
