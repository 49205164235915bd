/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that a command maps when it starts: its program, an interpreter, and the libraries that
 * the dynamic linker lists. The linker runs with the rights of the user, and does not run code of
 * the command.
 *
 * A file can be on a file system that does not answer (FUSE), or the linker can be a program that
 * does not end. So a separate process opens the files, and is killed if this takes too long.
 */
#pragma once

#include <stddef.h>

#include "capture/options/options.h"

enum { LOADED_FILES_MS_MAX = 5000 };

/*
 * Returns the path of COMMAND, found like by execvp(), as a new string owned by the caller; NULL if
 * COMMAND is not found.
 */
char *loaded_files_command(const char *command);

/*
 * Opens the files of COMMAND, found like by execvp(), into FDS. FDS has room for
 * ALLOCATOR_FILES_MAX descriptors. Skips files that cannot be opened, and files beyond the limit.
 * Returns the number of descriptors. If this takes longer than LOADED_FILES_MS_MAX, prints a
 * message, and returns the files so far; later calls then return none.
 */
size_t loaded_files(const char *command, int *fds);
