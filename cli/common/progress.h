/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line of progress on standard error for what takes long, if that is a terminal. What is done
 * before half a second is over shows nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool wanted, shown;
	uint64_t total;   /* bytes; 0 = not known */
	uint64_t next_ns; /* when it is shown again */
};

/* Of TOTAL bytes (0 = nobody knows). */
void progress_begin(struct progress *p, uint64_t total);

/* DONE bytes of them are done. Cheap, to be called often. */
void progress_show(struct progress *p, uint64_t done);

/* Takes the line away: before messages, and at the end. */
void progress_clear(struct progress *p);
