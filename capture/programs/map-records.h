/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel says in a perf ring about code that is mapped, made struct rec_*.
 *
 * Two events write to each ring, and each reports every mapping: one with the build id, one with
 * device and inode, since the kernel's record holds either. A CPU writes the two behind each other,
 * with nothing between them. They become one record; where one was lost the other one is enough.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"
#include "capture/proc/proc-records.h"

/* Of a kernel's record: it has 16 bits for its size. */
enum { MAP_RECORD_MAX = 65536 };

/* Called with each struct rec_*, whole and right. Returns 0 or a negative errno. */
typedef int (*map_record_fn)(const struct rec_head *rec, void *userdata);

struct map_records {
	unsigned cpu;
	bool waiting; /* for its other half */
	bool has_build_id, has_inode;
	/* a struct rec_mapping */
	_Alignas(8) uint8_t room[sizeof(struct rec_mapping) + MAPPING_PATH_BYTES + 8];
};

/*
 * Takes one record of SIZE bytes, of which nothing has been checked but that they are there; what
 * makes no sense is passed over. *RET_LOST grows by what the kernel says that it lost. Returns 0 or
 * what FN ended it with.
 */
int map_records_take(struct map_records *m, const void *data, size_t size, map_record_fn fn,
		     void *userdata, uint64_t *ret_lost);

/* Hands on what still waits for its other half, if it is older than BEFORE_NS. */
int map_records_flush(struct map_records *m, uint64_t before_ns, map_record_fn fn, void *userdata);
