/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which calls of a trace are meant, as apitrace's --calls says it: "5", "2-4", "10-", "*", each
 * with "/3" (every third from the first on) or "/frame" (those that end a frame), joined by commas.
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

/* All zeroes is every call. */
struct calls_set {
	struct calls_range *ranges; /* owned */
	size_t n, room;
};

void calls_set_deinit(struct calls_set *s);

/* Adds what TEXT says. Returns 0, -EINVAL, or -ENOMEM. */
int calls_set_add(struct calls_set *s, const char *text);

bool calls_set_has(const struct calls_set *s, const struct apitrace_call *call);
