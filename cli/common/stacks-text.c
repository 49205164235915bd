/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/stacks-text.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/common/json.h"
#include "cli/common/verb.h"

static const char *const stacks_text_rest[WALK_ENDS_MAX] = {
	[WALK_FULL] = "at the limit of frames",
	[WALK_FRAME_POINTERS] = "by frame pointers alone",
	[WALK_NO_CODE] = "at an address that is not code",
	[WALK_NO_TABLE] = "in code without a table",
	[WALK_UNSUPPORTED] = "in code whose table has rules that are not supported",
	[WALK_UNREADABLE] = "at a frame that cannot be read",
	[WALK_BUSY] = "while mappings changed",
};

uint64_t stacks_walked(const uint64_t walks[static WALK_ENDS_MAX])
{
	uint64_t all = 0;

	for (size_t i = 0; i < WALK_ENDS_MAX; i++)
		all += walks[i];
	return all;
}

struct json_object *stacks_json(const uint64_t walks[static WALK_ENDS_MAX])
{
	return JSON_MAP(n, walks, WALK_ENDS_MAX, JSON(walk_end_names[n - walks], *n));
}

const char *stacks_text_format(char to[static STACKS_TEXT_MAX],
			       const uint64_t walks[static WALK_ENDS_MAX])
{
	uint64_t all = stacks_walked(walks);
	const char *before = "; incomplete: ";
	int at;

	*to = '\0';
	if (all == 0)
		return to;
	at = snprintf(to, STACKS_TEXT_MAX,
		      "%" PRIu64 " walked, %.1f%% reach the start of the thread", all,
		      100.0 * (double)walks[WALK_WHOLE] / (double)all);
	for (size_t i = WALK_WHOLE + 1; i < WALK_ENDS_MAX; i++) {
		if (walks[i] == 0 || at >= STACKS_TEXT_MAX)
			continue;
		at += snprintf(to + at, STACKS_TEXT_MAX - (size_t)at, "%s%" PRIu64 " %s", before,
			       walks[i], stacks_text_rest[i]);
		before = ", ";
	}
	return to;
}

void stacks_report_incomplete(const uint64_t walks[static WALK_ENDS_MAX], unsigned percent)
{
	uint64_t all = stacks_walked(walks), whole = walks[WALK_WHOLE] + walks[WALK_FULL];
	char text[STACKS_TEXT_MAX];

	if (whole < all && (all - whole) * 100 >= all * percent)
		cli_error("stacks of programs: %s; of an incomplete stack, the outermost calls are "
			  "missing",
			  stacks_text_format(text, walks));
}
