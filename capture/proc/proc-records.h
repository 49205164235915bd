/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records that user space makes from /proc, /sys and the kernel's perf rings. They have the head
 * and a kind of bpf/record.h, so that they can be merged by time with the records of the eBPF
 * programs.
 */
#pragma once

#include "bpf/record.h"

/* A group of counters, sampled at head.ts_ns. Only user space makes this record. */
#define REC_COUNTERS_VALUES_MAX 15
#define REC_COUNTERS_NAME_BYTES 24
struct rec_counters {
	struct rec_head head;
	__u64 id; /* the number of the CPU, if the counters are of a CPU */
	char name[REC_COUNTERS_NAME_BYTES];
	__u32 n_values;
	__u32 whole; /* a bit for each value that is a __u64; other values are doubles */
	struct {
		char name[REC_COUNTERS_NAME_BYTES];
		__u64 value;
	} values[REC_COUNTERS_VALUES_MAX];
};
_Static_assert(sizeof(struct rec_counters) == 544, "ABI");

/* head.tid mapped code into head.pid at head.ts_ns. Only user space makes this record. */
#define MAPPING_BUILD_ID_BYTES 20
#define MAPPING_PATH_BYTES     4096
struct rec_mapping {
	struct rec_head head;
	__u64 start, bytes, file_offset;
	__u64 device, inode; /* major << 20 | minor; 0 = unknown */
	__u32 build_id_bytes;
	__u32 path_bytes; /* bytes of the path, without the NUL that ends it */
	__u8 build_id[MAPPING_BUILD_ID_BYTES];
	__u32 pad_0;
	char path[]; /* padded to a multiple of 8 bytes */
};
_Static_assert(sizeof(struct rec_mapping) == 96, "ABI");

/* head.pid has released its mappings, in the middle of exec. Only user space makes this record. */
struct rec_new_image {
	struct rec_head head;
};
_Static_assert(sizeof(struct rec_new_image) == 24, "ABI");
