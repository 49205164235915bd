/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A call stack of the page.
 */
#pragma once

#include "cli/report/report.h"

/*
 * Adds the functions of the stack of PROFILE whose innermost call is NODE, the innermost first, as
 * a list that is closed until the reader opens it. LABEL is its title.
 */
void report_stack(const struct report *r, struct outbuf *out, const struct profile *profile,
		  uint32_t node, const char *label);
