/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges a record that the reader could take apart: does it keep to the specification in what the
 * reader does not need?
 */
#pragma once

#include <stdbool.h>

#include "reader/fxt/fxt-reader.h"

struct fxt_finding {
	const char *what; /* static text */
	bool warning;     /* odd, but nothing is lost by it */
};

enum { FXT_CHECK_MAX = 16 };

struct fxt_findings {
	struct fxt_finding list[FXT_CHECK_MAX]; /* each thing is named once, however often found */
	unsigned n;
	unsigned n_errors;
};

void fxt_check_record(const struct fxt_record *record, struct fxt_findings *ret);
