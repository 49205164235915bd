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
	size_t n; /* number of all names, including those that are not in the text */
};

void call_names_deinit(struct call_names *l);

void call_names_add(struct call_names *l, const char *name);

/*
 * Returns the text with the names, in quotes, and the number of further names. Can be called once.
 * Returns NULL if there are no names or there is no memory. The text is borrowed.
 */
const char *call_names_text(struct call_names *l);
