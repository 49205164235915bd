/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The output file of a recording. The command opens it, with the rights of its user, even if the
 * daemon writes it.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct output_file {
	char *path;    /* as in messages; owned */
	int fd;        /* owned */
	bool standard; /* standard output */
	bool created;  /* by this command, which removes it if the recording fails */
	dev_t device;  /* of the created file */
	ino_t inode;
};

#define OUTPUT_FILE_NULL                                                                           \
	(struct output_file)                                                                       \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/*
 * Opens PATH for writing (NULL = kymo-YYYYMMDD-HHMMSS.fxt, followed by SUFFIX; "-" = standard
 * output), mode 0600. An existing file is an error, unless FORCE is set; it is not truncated yet. A
 * named pipe without a reader is an error, too. Returns 0, or a negative errno after an error
 * message.
 */
int output_file_open(const char *path, const char *suffix, bool force, struct output_file *ret);

/* Empties a regular file that existed before. Returns 0, or a negative errno with a message. */
int output_file_begin(struct output_file *o);

/* Removes the file if this command created it. */
void output_file_discard(struct output_file *o);

/* The same, if the file is empty. */
void output_file_discard_empty(struct output_file *o);

void output_file_deinit(struct output_file *o);
