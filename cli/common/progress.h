/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A progress line on standard error, if it is a terminal. It appears after half a second.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool wanted, shown;
	uint64_t total;   /* in bytes; 0 = unknown */
	uint64_t next_ns; /* time of the next update */
};

/* Begins the progress through TOTAL bytes (0 = unknown). */
void progress_begin(struct progress *p, uint64_t total);

/* Shows that DONE bytes are done. Cheap enough for frequent calls. */
void progress_show(struct progress *p, uint64_t done);

/* Removes the line: before messages, and at the end. */
void progress_clear(struct progress *p);
