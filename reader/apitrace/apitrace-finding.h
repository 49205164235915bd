/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What can be wrong with a call trace beside damage, which ends it.
 */
#pragma once

#include <stdint.h>

enum apitrace_severity {
	APITRACE_ERROR,   /* against the format, or known readers crash at it */
	APITRACE_WARNING, /* known readers show something wrong */
	APITRACE_NOTE,    /* right, and worth knowing */
};

enum apitrace_finding_id {
	APITRACE_DAMAGED,
	APITRACE_CONTAINER,
	APITRACE_SEMANTICS,
	APITRACE_ARG_UNDECLARED,
	APITRACE_LEAVE_WITHOUT_ENTER,
	APITRACE_ZERO_FLAG,
	APITRACE_SPARSE_ID,
	APITRACE_FORGOTTEN,
	APITRACE_NEVER_LEFT,
	APITRACE_FINDING_MAX,
};

struct apitrace_finding_kind {
	enum apitrace_severity severity;
	const char *id, *text, *explain;
};

/* By id. */
extern const struct apitrace_finding_kind apitrace_finding_kinds[APITRACE_FINDING_MAX];

const char *apitrace_severity_text(enum apitrace_severity severity);

/* The enum apitrace_finding_id that is called ID, or -1. */
int apitrace_finding_by_id(const char *id);
