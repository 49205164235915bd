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

struct apitrace_range {
	uint64_t first, last, step;
	bool frames;
};

/* A struct with all bytes zero contains every call. */
struct apitrace_numbers {
	struct apitrace_range *ranges; /* owned */
	size_t n, room;
};

void apitrace_numbers_deinit(struct apitrace_numbers *s);

/* Adds the calls in TEXT. Returns 0, -EINVAL, or -ENOMEM. */
int apitrace_numbers_add(struct apitrace_numbers *s, const char *text);

bool apitrace_numbers_has(const struct apitrace_numbers *s, const struct apitrace_call *call);
