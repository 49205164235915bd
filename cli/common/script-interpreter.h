/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the program that the kernel executes for a script.
 */
#pragma once

#include <limits.h>

/*
 * Writes the path of the interpreter in the first line of the open file FD to TO, as the kernel
 * reads it: "#!", blanks, and a path, which is relative to the working directory. Returns 0, or
 * -ENOEXEC: the file is not a script, or the kernel does not execute it.
 */
int script_interpreter_read(int fd, char to[static PATH_MAX]);

/*
 * Replaces the path PATH of a script by the path of its interpreter, and repeats this until the
 * file is not a script. Returns 0; -ELOOP: the kernel follows no more than 5 scripts; or another
 * negative errno.
 */
int script_interpreter_follow(char path[static PATH_MAX]);
