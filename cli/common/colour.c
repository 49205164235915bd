/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/colour.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool colour_is_wanted(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && *no) && term && *term && strcmp(term, "dumb") != 0 && isatty(STDOUT_FILENO);
}

const char *colour(enum colour c)
{
	static const char *const texts[COLOUR_MAX] = {
		[COLOUR_OFF] = "\033[0m",      [COLOUR_BAD] = "\033[1;31m",
		[COLOUR_WARNING] = "\033[33m", [COLOUR_GOOD] = "\033[32m",
		[COLOUR_HEADING] = "\033[1m",
	};
	static int wanted = -1;

	if (wanted < 0)
		wanted = colour_is_wanted();
	return wanted ? texts[c] : "";
}
