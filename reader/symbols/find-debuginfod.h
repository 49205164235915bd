/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds files by their build id, on the servers in DEBUGINFOD_URLS. This uses the network, so it is
 * done only on request. kymo can be built without this.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Fetches the debug information (DEBUG), or else the program itself, from a server or the cache.
 * Can take as long as DEBUGINFOD_TIMEOUT. Returns a descriptor, with its path in TO (ROOM bytes),
 * or a negative errno (-ENOSYS: kymo was built without this, or the library is not installed).
 */
int find_debuginfod(const uint8_t *build_id, size_t n, bool debug, char *to, size_t room);
