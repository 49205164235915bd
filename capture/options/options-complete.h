/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All options of a session together, by the rows of option-table.h.
 */
#pragma once

#include "capture/options/options.h"

/*
 * Fills in all unset options except the size of rings. Returns 0, or -EINVAL if a value is out of
 * range or an option lacks a requirement (option_check()).
 */
int session_options_complete(struct session_options *o);

/*
 * Describes all options except filters, for the archive. Categories are included only if they are
 * not the default. Returns a new string that the caller frees, or NULL if there is no memory.
 */
char *session_options_describe(const struct session_options *o);
