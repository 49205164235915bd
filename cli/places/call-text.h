/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of a specification for the recorder that come from debug information: the label of the
 * code, and the types, names and locations of its arguments (capture/options/call-spec.h).
 */
#pragma once

#include <stdbool.h>

#include "base/outbuf.h"
#include "reader/places/place-arguments.h"

/*
 * Appends the arguments A and, except for a point, the result. WORDS = true: enumerations are
 * written with their words.
 */
void call_text_put_arguments(struct outbuf *to, const struct place_arguments *a, bool is_point,
			     bool words);

/* Appends a label, in quotes. A long label is cut before a character. */
void call_text_put_label(struct outbuf *to, const char *label);

enum { CALL_TEXT_SHOWN_MAX = 80 };

/* Appends at most CALL_TEXT_SHOWN_MAX bytes of a name for a message, in quotes. */
void call_text_put_shown(struct outbuf *to, const char *name);
