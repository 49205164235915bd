/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Describes how walks of user stacks have ended.
 */
#pragma once

#include <json-c/json.h>
#include <stdint.h>

#include "model/event.h"

#define STACKS_TEXT_MAX 320

/* Returns the number of walks. */
uint64_t stacks_walked(const uint64_t walks[static WALK_ENDS_MAX]);

/*
 * Writes WALKS, by enum walk_end, to TO, and returns TO: "1203 walked, 99.2% reach the start of the
 * thread; incomplete: 9 in code without a table"; "" without walks.
 */
const char *stacks_text_format(char to[static STACKS_TEXT_MAX],
			       const uint64_t walks[static WALK_ENDS_MAX]);

/*
 * Reports on standard error how the WALKS have ended, if at least PERCENT of them ended early
 * (PERCENT 0 = if any walk ended early). Walks that ended at the limit of frames do not count,
 * since such stacks are marked where they are shown.
 */
void stacks_report_incomplete(const uint64_t walks[static WALK_ENDS_MAX], unsigned percent);

/* WALKS as a JSON object, owned by the caller. */
struct json_object *stacks_json(const uint64_t walks[static WALK_ENDS_MAX]);
