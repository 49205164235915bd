/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file that a recording goes to. It is opened here, with the rights of the user who runs the
 * command, also when the daemon writes it.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct output_file {
	char *path;    /* as it is called in messages; owned */
	int fd;        /* owned */
	bool standard; /* standard output */
	bool created;  /* by us: goes again if nothing comes of it */
	dev_t device;  /* of what was created */
	ino_t inode;
};

#define OUTPUT_FILE_NULL                                                                           \
	(struct output_file)                                                                       \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/*
 * Opens PATH for writing (NULL = kymo-YYYYMMDD-HHMMSS.fxt with SUFFIX behind it, "-" = standard
 * output), mode 0600. An existing file is an error, unless FORCE is set; it is not truncated yet. A
 * named pipe that nobody reads is an error, too: it is not waited for. Returns 0, or a negative
 * errno after it has said why.
 */
int output_file_open(const char *path, const char *suffix, bool force, struct output_file *ret);

/* Empties a regular file that existed before. Returns 0, or a negative errno with a message. */
int output_file_begin(struct output_file *o);

/* Removes the file again if we created it. */
void output_file_discard(struct output_file *o);

/* The same, if there is nothing in it. */
void output_file_discard_empty(struct output_file *o);

void output_file_deinit(struct output_file *o);
