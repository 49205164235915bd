/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks whether a program switches stacks, in itself or in a library that it needs. Return probes
 * can kill such a program (capture/probes/call-places.h).
 */
#pragma once

#include <stdbool.h>

#include "capture/options/options.h"
#include "reader/places/places.h"

/*
 * Examines the libraries that FILE needs. Libraries of libc are skipped, since their callers show
 * which functions of libc they use. Returns 0, or -EPERM if a library switches stacks, is not
 * found, or cannot be examined: then *RET_WHY is a message, which the caller frees (NULL = no
 * memory). If FILE itself is not found, returns 0, since it cannot be recorded.
 */
int switching_programs_check(const char *file, const struct capture_filter *filter, char **ret_why);

/*
 * Examines the program of COMMAND and its libraries, like switching_programs_check(). The program
 * of a script is its interpreter.
 */
int switching_programs_check_command(const char *command, const struct capture_filter *filter,
				     char **ret_why);

/*
 * Examines the libraries that the dynamic linker adds to the program of COMMAND, like
 * switching_programs_check(): those in LD_PRELOAD, and in the file PRELOAD
 * (NEEDED_LIBRARY_PRELOAD).
 */
int switching_programs_check_preloaded(const char *command, const char *preload, char **ret_why);
