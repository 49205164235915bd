/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reasons why the value of a variable or an argument is unavailable to a probe.
 */
#pragma once

enum place_reason {
	PLACE_REASON_NONE, /* the value is available */
	PLACE_REASON_OPTIMISED,
	PLACE_REASON_NOT_KEPT,
	PLACE_REASON_POINTS_NOWHERE,
	PLACE_REASON_COMPLEX,
	PLACE_REASON_VECTOR,
	PLACE_REASON_IN_THREAD,
	PLACE_REASON_NO_FRAME,
	PLACE_REASON_NOT_WHOLE,
	PLACE_REASON_SIZE,
	PLACE_REASON_SIZES,
	PLACE_REASON_NO_TYPE,
	PLACE_REASON_NO_POINTER,
	PLACE_REASON_NO_MEMORY,
	PLACE_REASON_WIDE,
	PLACE_REASON_NO_SYMBOL,
	PLACE_REASON_MAX,
};

/* Returns the sentence for REASON, which must not be PLACE_REASON_NONE. */
const char *place_reason_text(enum place_reason reason);
