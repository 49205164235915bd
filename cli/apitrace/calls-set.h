/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of calls, with the syntax of apitrace's --calls: "5", "2-4", "10-", "*", each with "/3"
 * (every third call, from the first one) or "/frame" (calls that end a frame), separated by commas.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "writer/apitrace/apitrace-model.h"

struct calls_range {
	uint64_t first, last, step;
	bool frames;
};

/* A set of zeroes contains every call. */
struct calls_set {
	struct calls_range *ranges; /* owned */
	size_t n, room;
};

void calls_set_deinit(struct calls_set *s);

/* Adds the calls in TEXT. Returns 0, -EINVAL, or -ENOMEM. */
int calls_set_add(struct calls_set *s, const char *text);

bool calls_set_has(const struct calls_set *s, const struct apitrace_call *call);
