/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes whose mappings were listed in the last second. A list takes a lock of the process
 * for each of its mappings, so a process is listed at most once per second.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"

/* All zeroes at the beginning. */
struct unwind_listed {
	uint64_t second;
	struct table processes; /* in that second, by pid + 1 */
};

void unwind_listed_deinit(struct unwind_listed *l);

/* Whether process PID, with a record of TS_NS, is to be listed. It is, from now on. */
bool unwind_listed_begin(struct unwind_listed *l, uint32_t pid, uint64_t ts_ns);
