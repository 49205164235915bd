/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /tmp/perf-PID.map: what compilers at run time (of JavaScript, Java, ...) say of the code that
 * they made. A line is "START SIZE NAME", numbers in hexadecimal; what stands later in the file
 * holds.
 *
 * Anybody can put a file of that name there. So it must be of root, or of the user of the process;
 * where there is no process to ask, of the user who asks, and then its names are unsure: the pid
 * may have been another's since.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "reader/symbols/find-file.h"

struct perf_map;

/*
 * Reads the map of the process of QUERY, that it has in its mount namespace and under its pid
 * there, or, if it does not live, the one in DIR. Returns 1 with *RET, 0 if there is none, -ENOMEM,
 * or -EBADMSG with *RETERR_WHAT.
 */
int perf_map_open(struct perf_map **ret, const struct find_places *places,
		  const struct symbol_query *query, const char *dir, const char **reterr_what);

struct perf_map *perf_map_free(struct perf_map *m);
DEFINE_CLEANUP(struct perf_map *, perf_map_free)

/* The name at ADDRESS, borrowed, *RET_N bytes, or NULL. */
const char *perf_map_find(const struct perf_map *m, uint64_t address, size_t *ret_n,
			  uint64_t *ret_offset);

bool perf_map_is_unsure(const struct perf_map *m);

/* Bytes of memory. */
uint64_t perf_map_bytes(const struct perf_map *m);
