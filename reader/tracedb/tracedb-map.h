/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The buffers of a program at a point of a trace, by address. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tracedb_region {
	uint64_t address, size;
	uint32_t left, right; /* numbers of the regions before and after it; 0 = no region */
	uint32_t priority;    /* no region below it in the tree has a greater priority */
};

/* The result of the last look-up. */
struct tracedb_map_last {
	uint64_t first, end; /* first and last address with the result `region` */
	uint32_t region;     /* number of the region; 0 = no region */
	bool known;
};

struct tracedb_map {
	struct tracedb_region *regions; /* owned; the first element is not used */
	uint32_t n_regions, room;
	uint32_t root;
	uint32_t unused; /* first element of a list of unused regions, linked by `left` */
	uint32_t random;
	struct tracedb_map_last last;
};

/* The address is in no buffer. */
#define TRACEDB_NO_SIZE UINT64_MAX

void tracedb_map_deinit(struct tracedb_map *m);

/* Sets the SIZE of the buffer at ADDRESS; 0 removes the buffer. Returns 0, or -ENOMEM with the map
 * unchanged. */
int tracedb_map_set(struct tracedb_map *m, uint64_t address, uint64_t size);

/*
 * Returns the number of bytes from ADDRESS to the end of the last buffer that begins at or before
 * ADDRESS: 0 directly after the buffer's end; TRACEDB_NO_SIZE beyond its end, or if there is no
 * such buffer.
 */
uint64_t tracedb_map_size(struct tracedb_map *m, uint64_t address);

/*
 * Finds the start of the last buffer that begins at or before ADDRESS. Returns false if there is no
 * such buffer.
 */
bool tracedb_map_start(struct tracedb_map *m, uint64_t address, uint64_t *ret);
