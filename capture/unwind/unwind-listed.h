/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes whose mappings were listed in the last second, and those that are to be listed. A
 * list takes a lock of the process for each of its mappings, so lists are limited.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"

enum { UNWIND_LISTS_MAX = 3 }; /* lists of a process per second that unwind_listed_next() allows */

/* All zeroes at the beginning. */
struct unwind_listed {
	uint64_t second;
	struct table processes; /* in that second, by pid + 1: how often they were listed */
	struct table due;       /* by pid + 1, which is also the value */
};

void unwind_listed_deinit(struct unwind_listed *l);

/*
 * Whether process PID, with a record of TS_NS, is to be listed: once per second. It is, from now
 * on.
 */
bool unwind_listed_begin(struct unwind_listed *l, uint32_t pid, uint64_t ts_ns);

/* Process PID is to be listed. */
void unwind_listed_add(struct unwind_listed *l, uint32_t pid);

/*
 * Returns the id of a process that is to be listed; 0 = none. It stays so until
 * unwind_listed_done(). A process that was listed too often comes in the next second. NOW_NS is of
 * the same clock as TS_NS.
 */
uint32_t unwind_listed_next(struct unwind_listed *l, uint64_t now_ns);

/* Process PID was listed. */
void unwind_listed_done(struct unwind_listed *l, uint32_t pid);

/*
 * PID is another process from now on, or has another program: the earlier lists do not count. If it
 * is to be listed, it stays so: records do not come in the order of time, so it can be due because
 * of a mapping of the new program.
 */
void unwind_listed_forget(struct unwind_listed *l, uint32_t pid);
