/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Problems of a GDB trace file. TFILE_FINDING_DAMAGED ends the file; other problems do not. */
#pragma once

#include <stdint.h>

#include "base/finding.h"

enum tfile_finding_id {
	TFILE_FINDING_DAMAGED,
	TFILE_FINDING_CONTAINER,
	TFILE_FINDING_LONG_LINE,
	TFILE_FINDING_BAD_LINE,
	TFILE_FINDING_REPEATED_LINE,
	TFILE_FINDING_UNKNOWN_LINE,
	TFILE_FINDING_UNKNOWN_BLOCK,
	TFILE_FINDING_NO_END,
	TFILE_FINDING_TRAILING,
	TFILE_FINDING_NO_STATUS,
	TFILE_FINDING_FRAME_COUNT,
	TFILE_FINDING_ORDER,
	TFILE_FINDING_UNDEFINED_TRACEPOINT,
	TFILE_FINDING_UNDEFINED_VARIABLE,
	TFILE_FINDING_NO_REGISTERS,
	TFILE_FINDING_NO_DESCRIPTION,
	TFILE_FINDING_MAX,
};

/* The kinds of findings, indexed by their id. */
extern const struct finding_kind tfile_finding_kinds[TFILE_FINDING_MAX];

/* Receives a finding at a byte of the decompressed file. */
typedef void (*tfile_finding_fn)(void *userdata, enum tfile_finding_id id, uint64_t offset);
