/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies of the memory of an argument, and the size of the text that shows them.
 */
#pragma once

#include <stdint.h>

#include "bpf/record.h"
#include "model/calls/call-sets.h"

/*
 * The maximum length of a value's text: each byte can become four characters, and bytes can be
 * shown as they are before the call and at its return.
 */
enum { CALL_VALUE_TEXT_MAX = 2 * (4 * CALL_TEXT_BYTES + 8) + 8 };
_Static_assert((int)CALL_VALUE_TEXT_MAX >= (int)CALL_SET_TEXT_MAX, "room for both");

/* The copies of an argument's memory; NULL = no copy. */
struct call_copies {
	const struct call_text *in, *out; /* at the entry and at the return of the call */
	uint64_t total; /* number of bytes that the call has written; UINT64_MAX = unknown */
};
