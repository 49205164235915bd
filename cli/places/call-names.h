/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first names of a list of functions, for a message.
 */
#pragma once

#include <stddef.h>

#include "base/outbuf.h"

enum { CALL_NAMES_SHOWN_MAX = 4 };

struct call_names {
	struct outbuf text;
	size_t n; /* all, including those that are not in the text */
};

void call_names_deinit(struct call_names *l);

void call_names_add(struct call_names *l, const char *name);

/*
 * The text, in which the names are in quotes, and which ends with the number of further names.
 * Called once. Returns NULL if there is no name, or no memory. Borrowed.
 */
const char *call_names_text(struct call_names *l);
