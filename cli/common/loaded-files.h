/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that a command will have in memory when it begins: its program, what interprets that,
 * and the libraries that the dynamic linker says it will load. The linker is asked with the rights
 * of the user who runs the command, and runs nothing of it.
 */
#pragma once

#include <stddef.h>

#include "capture/options/options.h"

/*
 * The path of COMMAND, looked for as execvp() does: a new string, the caller's; NULL if there is
 * none.
 */
char *loaded_files_command(const char *command);

/*
 * Opens the files of COMMAND, looked for as execvp() does, into FDS (ALLOCATOR_FILES_MAX of them).
 * What cannot be opened is left out, as are those behind the last one that there is room for.
 * Returns how many.
 */
size_t loaded_files(const char *command, int *fds);
