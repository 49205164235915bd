/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a program switches stacks in a library that it needs, or in itself. Return probes can
 * kill such a program (capture/probes/call-places.h).
 */
#pragma once

#include <stdbool.h>

#include "capture/options/options.h"
#include "reader/places/places.h"

/*
 * Examines the libraries that FILE needs, except for those of libc, whose callers show what they
 * use of it. Returns 0, or -EPERM with a sentence in *RET_WHY, which the caller frees (NULL = no
 * memory): one of them switches stacks, or is not found, or cannot be examined. There is no result
 * for a FILE that is not found, because it cannot be recorded.
 */
int switching_programs_check(const char *file, const struct capture_filter *filter, char **ret_why);

/*
 * The same for the program of COMMAND and its libraries. The program of a script is its
 * interpreter.
 */
int switching_programs_check_command(const char *command, const struct capture_filter *filter,
				     char **ret_why);

/*
 * The same for the libraries that the dynamic linker adds to the program of COMMAND: those of
 * LD_PRELOAD, and of the file PRELOAD (NEEDED_LIBRARY_PRELOAD).
 */
int switching_programs_check_preloaded(const char *command, const char *preload, char **ret_why);
