/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes whose mappings were listed in the last second, and the processes that must be
 * listed. Listing takes a lock of the process for each of its mappings, so the number of lists is
 * limited.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"

/* How often per second unwind_listed_next() allows that a process is listed. */
enum { UNWIND_LISTS_MAX = 3 };

/* All zeroes at the beginning. */
struct unwind_listed {
	uint64_t second;
	struct table processes; /* pid + 1 -> how often the process was listed in that second */
	struct table due;       /* pid + 1 -> the same number: processes that must be listed */
};

void unwind_listed_deinit(struct unwind_listed *l);

/*
 * Returns true if process PID, which has a record of TS_NS, must be listed (once per second), and
 * then counts it as listed.
 */
bool unwind_listed_begin(struct unwind_listed *l, uint32_t pid, uint64_t ts_ns);

/* Notes that process PID must be listed. */
void unwind_listed_add(struct unwind_listed *l, uint32_t pid);

/*
 * Returns the id of a process that must be listed; 0 = no process. The process stays due until
 * unwind_listed_done() is called for it. A process that was listed UNWIND_LISTS_MAX times in this
 * second is not returned before the next second. NOW_NS is of the same clock as TS_NS.
 */
uint32_t unwind_listed_next(struct unwind_listed *l, uint64_t now_ns);

/* Notes that process PID was listed. */
void unwind_listed_done(struct unwind_listed *l, uint32_t pid);

/*
 * Called if PID is another process from now on, or has another program: its earlier lists no longer
 * count. If the process is due to be listed, it stays so: records do not come in the order of time,
 * so a mapping of the new program can be the reason.
 */
void unwind_listed_forget(struct unwind_listed *l, uint32_t pid);
