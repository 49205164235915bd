/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Problems of a call trace. Damage ends the trace; other problems do not.
 */
#pragma once

#include <stdbool.h>
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

/* The kinds of findings, indexed by their id. */
extern const struct finding_kind apitrace_finding_kinds[APITRACE_FINDING_MAX];

/* Receives a finding. OFFSET is the position of the reader. */
typedef void (*apitrace_finding_fn)(void *userdata, enum apitrace_finding_id id, uint64_t offset);

struct apitrace_damage {
	uint64_t offset;  /* position in the unpacked stream */
	const char *what; /* static text */
	bool truncated;   /* the stream ends too early */
};
