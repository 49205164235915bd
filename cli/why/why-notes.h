/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The uncertain, or missing, parts of an answer of reader/why.
 */
#pragma once

#include <stdbool.h>

#include "reader/why/why.h"

/* Takes a sentence. */
typedef void (*why_note_fn)(void *userdata, const char *text);

/*
 * Passes on the parts of the answer that the archive NAME cannot give, with the option that records
 * them, and the parts that a limit has cut.
 */
void why_notes(const struct why *w, const char *name, why_note_fn note, void *userdata);

/* Returns true if a limit has cut the answer. */
bool why_notes_is_cut(const struct why *w);
