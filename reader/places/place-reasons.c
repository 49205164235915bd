/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/places/place-reasons.h"

static const char *const texts[PLACE_REASON_MAX] = {
	[PLACE_REASON_NONE] = "",
	[PLACE_REASON_OPTIMISED] = "optimised out",
	[PLACE_REASON_NOT_KEPT] =
		"optimised out: it was in a register when the function was called, and is not kept",
	[PLACE_REASON_POINTS_NOWHERE] = "it points to something that is optimised out",
	[PLACE_REASON_COMPLEX] = "its location is too complex",
	[PLACE_REASON_VECTOR] = "in a vector register, which a probe cannot see",
	[PLACE_REASON_IN_THREAD] = "it is thread-local",
	[PLACE_REASON_NO_FRAME] = "there is no unwind information for this address",
	[PLACE_REASON_NOT_WHOLE] = "it is not a number, a pointer, or a structure of these",
	[PLACE_REASON_SIZE] = "its size is known only when the program runs",
	[PLACE_REASON_SIZES] = "an array of arrays whose size is known only when the program runs",
	[PLACE_REASON_NO_TYPE] = "it has no type",
	[PLACE_REASON_NO_POINTER] = "it is no pointer",
	[PLACE_REASON_NO_MEMORY] = "there is no memory",
	[PLACE_REASON_WIDE] = "it is larger than a register",
	[PLACE_REASON_NO_SYMBOL] =
		"its address is that of a symbol that the file does not have, or has several times",
};

const char *place_reason_text(enum place_reason reason)
{
	return texts[reason];
}
