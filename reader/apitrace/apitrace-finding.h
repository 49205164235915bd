/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Problems of a call trace, apart from damage, which ends it.
 */
#pragma once

#include <stdint.h>

#include "base/finding.h"

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

/* By id. */
extern const struct finding_kind apitrace_finding_kinds[APITRACE_FINDING_MAX];
