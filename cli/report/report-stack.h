/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A call stack of the page.
 */
#pragma once

#include "cli/report/report.h"

/*
 * Adds a stack of PROFILE as a list of functions, the innermost first. NODE is the innermost call.
 * The list is closed until the reader opens it. LABEL is its title.
 */
void report_stack(const struct report *r, struct outbuf *out, const struct profile *profile,
		  uint32_t node, const char *label);
