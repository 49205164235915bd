/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns the kernel's records of mappings in a perf ring into struct rec_*.
 *
 * Two perf events write to each ring. Each reports every mapping: one with the build id, the other
 * with device and inode, since a record of the kernel has room for only one of the two. A CPU
 * writes the two records directly one after the other, and this module makes one struct rec_mapping
 * of them. If one record was lost, the other is sufficient.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"
#include "capture/proc/proc-records.h"

/* The maximum size of a kernel record, whose header has 16 bits for the size. */
enum { MAP_RECORD_MAX = 65536 };

/* Called with each struct rec_*, complete and checked. Returns 0 or a negative errno. */
typedef int (*map_record_fn)(const struct rec_head *rec, void *userdata);

struct map_records {
	unsigned cpu;
	uint64_t inode_event; /* the id of the perf event that reports inodes */
	bool waiting;         /* a record waits for its other half */
	bool has_build_id, has_inode;
	bool translates;   /* the ids in records are those of another pid namespace */
	int ids_fd;        /* a map with the ids in records as keys, and the kernel's ids as values;
			    * negative = no map */
	uint32_t pid, tid; /* the kernel's ids of the current record */
	/* a struct rec_mapping */
	_Alignas(8) uint8_t room[sizeof(struct rec_mapping) + MAPPING_PATH_BYTES + 8];
};

/*
 * Processes one record of SIZE bytes; only its size has been checked. Ignores invalid records. Adds
 * the losses that the kernel reports to *RET_LOST. Returns 0, or the result of FN that ended the
 * call.
 */
int map_records_decode(struct map_records *m, const void *data, size_t size, map_record_fn fn,
		       void *userdata, uint64_t *ret_lost);

/*
 * Returns true if REC maps a file whose inode is unknown here: the half with the inode was lost, or
 * comes later. The kernel reports mappings without a file as "//anon", or in brackets.
 */
bool map_records_lacks_inode(const struct rec_mapping *rec);

/* Passes on a record that waits for its other half, if the record is older than BEFORE_NS. */
int map_records_flush(struct map_records *m, uint64_t before_ns, map_record_fn fn, void *userdata);
