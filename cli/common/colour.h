/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Colour for what people read on a terminal: standard output is one, $NO_COLOR is not set and $TERM
 * is not "dumb". Anywhere else all of these are empty texts, so what is printed stays the same.
 */
#pragma once

enum colour {
	COLOUR_OFF, /* back to what it was */
	COLOUR_BAD,
	COLOUR_WARNING,
	COLOUR_GOOD,
	COLOUR_HEADING,
	COLOUR_MAX,
};

/* What begins it: to be printed to standard output. */
const char *colour(enum colour c);
