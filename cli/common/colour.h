/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Colours for the text output. They are used if standard output is a terminal, $NO_COLOR is not set
 * and $TERM is not "dumb". Otherwise, all of them are empty strings.
 */
#pragma once

enum colour {
	COLOUR_OFF, /* the default */
	COLOUR_BAD,
	COLOUR_WARNING,
	COLOUR_GOOD,
	COLOUR_HEADING,
	COLOUR_MAX,
};

/* Returns the escape sequence for standard output that starts the colour. */
const char *colour(enum colour c);
