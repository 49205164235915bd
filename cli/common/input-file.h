/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An input file of a verb, or standard input.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct input_file {
	const char *name; /* name for messages; borrowed */
	int fd;           /* owned, unless it is standard input */
	bool standard;    /* the file is standard input */
};

#define INPUT_FILE_NULL                                                                            \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/* Opens PATH for reading; "-" is standard input, which must not be a terminal. Returns CLI_OK, or
 * CLI_FAILED after an error message. */
int input_file_open(struct input_file *f, const char *path);

void input_file_close(struct input_file *f);

/* Prints that reading failed with the negative errno E. Returns CLI_FAILED. */
int input_file_failed(const struct input_file *f, int e);

/* Returns the size of the file in bytes; 0 = unknown. */
uint64_t input_file_size(const struct input_file *f);

/* Returns the number of bytes that were read; 0 = unknown. */
uint64_t input_file_position(const struct input_file *f);
