/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A progress line on standard error, if it is a terminal. It appears after half a second, with the
 * rate and, if the total is known, the time that is left. No line is shown if standard output is a
 * pipe: its reader can be a pager that uses the same terminal. Messages remove the line that is
 * shown.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool wanted;
	uint64_t total;    /* in bytes; 0 = unknown */
	uint64_t begin_ns; /* time of the beginning */
	uint64_t next_ns;  /* time of the next update */
};

/* Begins the progress through TOTAL bytes (0 = unknown). */
void progress_begin(struct progress *p, uint64_t total);

/* Whether the line is to be updated now. Cheap enough for frequent calls. */
bool progress_is_due(const struct progress *p);

/* Shows that DONE bytes are done, if the line is to be updated now. */
void progress_show(struct progress *p, uint64_t done);

/* Removes the line that is shown, if there is one: before messages, and at the end. */
void progress_clear(void);
