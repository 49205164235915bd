/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The output file of a recording. The command opens it, with the rights of its user, even if the
 * daemon writes it.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct output_file {
	char *path;    /* path in messages; owned */
	int fd;        /* owned */
	bool standard; /* the file is standard output */
	/* This command has created the file, and removes it if the recording fails. */
	bool created;
	bool begun;   /* an existing file was opened itself, and has been emptied */
	dev_t device; /* device and inode of the created file */
	ino_t inode;
	/* The created file can get its name only in output_file_keep(), for example if it replaces
	 * an existing file. Until then, it has the name BESIDE in the same directory. */
	int directory; /* owned; -1 = the file has its name */
	/* Final and present name of the created file in DIRECTORY; owned. */
	char *target, *beside;
	dev_t target_device;
	ino_t target_inode;
	int error; /* why the file could not get its name */
	/* Another file that output_file_watch_signals() watches; NULL = none. Borrowed. */
	struct output_file *also;
};

#define OUTPUT_FILE_NULL                                                                           \
	(struct output_file)                                                                       \
	{                                                                                          \
		.fd = -1, .directory = -1                                                          \
	}

/*
 * Opens PATH for writing (NULL = kymo-YYYYMMDD-HHMMSS.fxt, followed by SUFFIX; "-" = standard
 * output), mode 0600. An existing file is an error, unless FORCE is set. A named pipe without a
 * reader is an error, too. Returns 0, or a negative errno after an error message.
 *
 * With FORCE, an existing regular file stays as it is until output_file_keep(): a new file with its
 * owner and mode is written next to it. If that is not possible, the file itself is opened; it is
 * not truncated yet. Replacing the file is not possible if the directory or the owner forbids it,
 * if the file is mounted, or if it has several names or an access control list. Devices, pipes and
 * links in /proc are opened, too.
 */
int output_file_open(const char *path, const char *suffix, bool force, struct output_file *ret);

/*
 * Like output_file_open() for a path, but even a new file gets its name only in output_file_keep().
 * So a process that is killed leaves no file with this name. It leaves a file whose name begins
 * with a dot, and engines do not read such files.
 */
int output_file_open_unnamed(const char *path, bool force, struct output_file *ret);

/* Empties a regular file that existed before and was opened itself. Returns 0, or a negative errno
 * with a message. */
int output_file_begin(struct output_file *o);

/* Returns true if FD is the file itself, or the file that it replaces. */
bool output_file_is(const struct output_file *o, int fd);

/*
 * Gives the file its name, and so replaces the existing file, if there is one. Returns 0, or a
 * negative errno with a message; later calls return the same errno without a message. After a
 * failure, the new file keeps its present name.
 */
int output_file_keep(struct output_file *o);

/* Like output_file_keep(), if the file is not empty. */
int output_file_keep_written(struct output_file *o);

/* Removes the file if this command created it. An existing file that was to be replaced stays.
 * Calls only functions that are safe in a signal handler. */
void output_file_discard(struct output_file *o);

/* Discards the file if it is empty; otherwise, keeps it. */
int output_file_end(struct output_file *o);

/* Ends the file after a failure: an existing file stays. If the new file is not empty, the new file
 * stays, too, and a message names it; otherwise, it is discarded. */
void output_file_fail(struct output_file *o);

/* Discards the file. An existing file that was opened itself is emptied after output_file_begin(),
 * so that it does not look like a trace. Before that, it stays as it is. Calls only functions that
 * are safe in a signal handler. */
void output_file_abandon(struct output_file *o);

/* From now on, SIGHUP, SIGINT and SIGTERM abandon O, and the files in the list that begins with
 * o->also, before they end the process. This ends at output_file_deinit(), or at a call with O
 * NULL. Files of earlier calls are not watched any more. An ignored signal (nohup) stays ignored.
 */
void output_file_watch_signals(struct output_file *o);

/*
 * Delays the signals of output_file_watch_signals() until output_file_admit_signals() is called
 * with *RET_BEFORE.
 */
void output_file_hold_signals(sigset_t *ret_before);
void output_file_admit_signals(const sigset_t *before);

/*
 * From now on, the first of the watched signals is only noted. A later signal (SIGNAL_TWICE_NS)
 * ends the process at once, and discards nothing. Afterwards, output_file_raise_noted() ends the
 * process by the noted signal, if there was one.
 */
void output_file_note_signals(void);
bool output_file_is_interrupted(void);
void output_file_raise_noted(void);

/* Returns advice for the negative errno ERROR of an output, to append to its message; or "". */
const char *output_file_advice(int error);

/* Discards a file that was to replace another one, but is not kept. */
void output_file_deinit(struct output_file *o);
