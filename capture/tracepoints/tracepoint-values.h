/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fields of an event of a tracepoint, from its record.
 */
#pragma once

#include "bpf/record.h"
#include "capture/tracepoints/tracepoints.h"
#include "model/event.h"

enum {
	TRACEPOINT_TEXTS_BYTES = 8192, /* for all texts of an event */
	/* Maximum size of the text of one field. Longer texts end with "...". */
	TRACEPOINT_VALUE_BYTES = 3 * TRACEPOINT_DYNAMIC_BYTES + 4,
};

struct tracepoint_values {
	struct call_value list[EVENT_TRACEPOINT_ARGS_MAX];
	unsigned n;
	/* The texts of the list. */
	char texts[TRACEPOINT_TEXTS_BYTES];
	size_t used;
};

/*
 * Sets *TO to the fields of REC, which is a valid event of T. If there are too many fields, the
 * last value is a text with the remaining ones. Returns false if REC is too short for T.
 */
bool tracepoint_values_fill(struct tracepoint_values *to, const struct tracepoint *t,
			    const struct rec_tracepoint *rec);
