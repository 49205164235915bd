/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that a command maps when it starts: its program, an interpreter, and the libraries that
 * the dynamic linker lists. The linker runs with the rights of the user, and does not run code of
 * the command.
 */
#pragma once

#include <stddef.h>

#include "capture/options/options.h"

/*
 * Returns the path of COMMAND, found like by execvp(), as a new string owned by the caller; NULL if
 * it is not found.
 */
char *loaded_files_command(const char *command);

/*
 * Opens the files of COMMAND, found like by execvp(), into FDS. FDS has room for
 * ALLOCATOR_FILES_MAX descriptors. Skips files that cannot be opened, and files beyond the limit.
 * Returns their number.
 */
size_t loaded_files(const char *command, int *fds);
