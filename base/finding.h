/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Problems of a file. Each reader has a table of the kinds of problems, and refers to a kind by its
 * index.
 */
#pragma once

#include <stddef.h>

enum finding_severity {
	FINDING_ERROR,   /* against the format, or known readers fail at it */
	FINDING_WARNING, /* known readers show something wrong */
	FINDING_NOTE,    /* valid, and worth knowing */
};

struct finding_kind {
	enum finding_severity severity;
	const char *id, *text, *explain;
};

const char *finding_severity_text(enum finding_severity severity);

/* Returns the index of ID in the N KINDS, or -1. */
int finding_by_id(const struct finding_kind *kinds, size_t n, const char *id);
