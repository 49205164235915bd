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
 * Examines the libraries that FILE needs, and with INCLUDES_FILE also FILE, except for those of
 * libc, whose callers show what they use of it. A file that is not found or cannot be read is not
 * examined. Returns 0, or -EPERM with a sentence in WHY.
 */
int stack_switches_check(const char *file, bool includes_file, const struct capture_filter *filter,
			 char why[static PLACES_WHY_MAX]);
