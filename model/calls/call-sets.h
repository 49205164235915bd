/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Words for values in calls: sets of flags, and named numbers. The type of an argument names a set:
 * "flags:open", "enum:seek" (capture/options/call-spec.h).
 *
 * The values are from the headers of the system where kymo is built. Numbers of sets change from
 * one version to the next, so stored data contains the set's name, or the text.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model/calls/call-set-words.h"

enum {
	CALL_SET_NONE = 0,
	CALL_SET_TEXT_MAX = 1024, /* room for any value of any set, the NUL included */
};

/*
 * Returns the number of the set with the NAME of N bytes: "flags:open". CALL_SET_NONE = no such
 * set.
 */
unsigned call_set_find(const char *name, size_t n);

/* Returns the set with NUMBER, or NULL. Numbers begin at 1, without gaps. */
const struct call_set *call_set_by_number(unsigned number);

/* "flags" or "enum", the part of the name of SET before the ':'. */
const char *call_set_prefix(const struct call_set *set);

/*
 * Writes VALUE to TEXT (SIZE > 0 bytes) as words of the set NUMBER, truncated if it does not fit:
 * "O_RDONLY|O_CLOEXEC|0x100000", "SEEK_END", "17". If there is no set NUMBER, VALUE is written in
 * hex. Returns the length.
 */
size_t call_set_format(unsigned number, uint64_t value, char *text, size_t size);
