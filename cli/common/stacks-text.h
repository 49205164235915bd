/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How walks of the stacks of programs have ended, in words.
 */
#pragma once

#include <stdint.h>

#include "writer/event.h"

#define STACKS_TEXT_MAX 320

/*
 * WALKS, by enum walk_end, into TO, which is returned: "1,203 walked, 99.2 % to the thread's
 * beginning; 9 in code without a table"; "" if there were none.
 */
const char *stacks_text_format(char to[static STACKS_TEXT_MAX],
			       const uint64_t walks[static WALK_ENDS_MAX]);
