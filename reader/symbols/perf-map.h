/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /tmp/perf-PID.map: names of the code that JIT compilers (of JavaScript, Java, ...) made. A line
 * is "START SIZE NAME", with hexadecimal numbers.
 *
 * A line has no time. If lines with different names overlap, one function has replaced the other,
 * and an address in both has no name.
 *
 * A map that was last written before its process began was left by an earlier process with the pid.
 * A map that was created after code was mapped lacks the functions that were replaced before: a
 * compiler like that of Java writes the whole map once, on request or at its end.
 *
 * Every user can create a file of that name. So the file must belong to root, or to the user of the
 * process. If the process is gone, the file must belong to root or the calling user, and its names
 * are unsure: another process may have had the pid since.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "reader/symbols/find-file.h"

struct perf_map;

/*
 * Reads the map of QUERY's process, in the mount namespace of the process and by its pid there. If
 * the process has ended, reads the map in DIR by the recorded pid. Returns 1 with *RET, 0 if there
 * is no map, -ENOMEM, or -EBADMSG with *RETERR_WHAT.
 */
int perf_map_open(struct perf_map **ret, const struct find_places *places,
		  const struct symbol_query *query, const char *dir, const char **reterr_what);

struct perf_map *perf_map_free(struct perf_map *m);
DEFINE_CLEANUP(struct perf_map *, perf_map_free)

/*
 * Returns the name of the function around ADDRESS, *RET_N bytes that belong to M, and the offset of
 * ADDRESS in the function. NULL = ADDRESS has no name, or several names.
 */
const char *perf_map_find(const struct perf_map *m, uint64_t address, size_t *ret_n,
			  uint64_t *ret_offset);

/* Returns true if functions with different names were at ADDRESS, one after another. */
bool perf_map_is_reused(const struct perf_map *m, uint64_t address);

bool perf_map_is_unsure(const struct perf_map *m);

/*
 * Returns true if M was created after MAPPED_NS (by the wall clock; 0 = unknown), a time at which
 * memory with code was mapped. Then M has only the last function of each address.
 */
bool perf_map_is_late(const struct perf_map *m, uint64_t mapped_ns);

/* Returns the size of M in memory, in bytes. */
uint64_t perf_map_bytes(const struct perf_map *m);
