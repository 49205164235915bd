/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums of function calls: number, failures, and duration.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "reader/views/latency.h"
#include "model/event.h"
#include "model/other-files.h"

struct call_sum {
	char *function;         /* owned */
	uint64_t failed;        /* number of calls that returned an error or -1 */
	uint64_t unwound, open; /* numbers of calls that did not return */
	/* Number of calls that the recording left out because of a limit; the other members lack
	 * these calls. */
	uint64_t left_out;
	struct latency took; /* the durations of calls that returned */
};

struct call_sums {
	struct table functions;    /* hash -> struct call_sum, owned */
	struct other_files others; /* files without probes, whose calls are missing */
};

/*
 * Returns true if a call with RESULT has failed: RESULT is the name of an error, or -1. (If an
 * enumeration of a program has a value with the name of an errno, the recorder adds the number to
 * the name, so that the value is not taken for an error.)
 */
bool call_sums_has_failed(const struct call_value *result);

void call_sums_deinit(struct call_sums *s);

/* Adds an event of any kind. Returns 0 or -ENOMEM. */
int call_sums_add(struct call_sums *s, const struct event *ev);

/* Stores the sums of all functions, the longest total time first, in a new array, which the caller
 * frees. Returns 0 or -ENOMEM. */
int call_sums_by_time(const struct call_sums *s, struct call_sum ***ret, size_t *ret_n);
