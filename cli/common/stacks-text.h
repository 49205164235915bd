/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How walks of the stacks of programs have ended, in words.
 */
#pragma once

#include <json-c/json.h>
#include <stdint.h>

#include "writer/event.h"

#define STACKS_TEXT_MAX 320

/* How many there were. */
uint64_t stacks_walked(const uint64_t walks[static WALK_ENDS_MAX]);

/*
 * WALKS, by enum walk_end, into TO, which is returned: "1203 walked, 99.2 % to the thread's
 * beginning; 9 in code without a table"; "" if there were none.
 */
const char *stacks_text_format(char to[static STACKS_TEXT_MAX],
			       const uint64_t walks[static WALK_ENDS_MAX]);

/* Likewise, an object that the caller owns. */
struct json_object *stacks_json(const uint64_t walks[static WALK_ENDS_MAX]);
