/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that a verb reads, or standard input.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct input_file {
	const char *name; /* borrowed; for messages */
	int fd;           /* owned, but for standard input */
	bool standard;    /* standard input */
};

#define INPUT_FILE_NULL                                                                            \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/*
 * Opens PATH for reading; "-" is standard input, which must not be a terminal. Returns CLI_OK, or
 * CLI_FAILED when it has said what is wrong.
 */
int input_file_open(struct input_file *f, const char *path);

void input_file_close(struct input_file *f);

/* Says that reading failed with the negative errno E. Returns CLI_FAILED. */
int input_file_failed(const struct input_file *f, int e);

/* How many bytes there are; 0 = nobody knows. */
uint64_t input_file_size(const struct input_file *f);

/* How many of them were read; 0 = nobody knows. */
uint64_t input_file_position(const struct input_file *f);
