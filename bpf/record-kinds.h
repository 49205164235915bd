/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The kinds of records, one row each. All code that needs all kinds is generated from these rows.
 * bpf/record.h includes this file, and defines the records.
 */
#pragma once

/*
 * Kinds that eBPF programs write.
 *
 * 	ROW(KIND, number, struct, bytes, ring)
 *
 * defines REC_<KIND>, and REC_<KIND>_RING for rec_reserve(). In user space, decode_record() checks
 * the size and calls <struct>_is_valid(), and the merge finds the queue. Unit tests send each kind
 * through the merge, and check that a stage handles it. A duplicate number does not compile.
 */
#define REC_PROGRAM_KINDS(ROW)                                                                     \
	ROW(FORK, 1, rec_fork, REC_WHOLE(rec_fork), LIFECYCLE)                                     \
	ROW(EXEC, 2, rec_exec,                                                                     \
	    REC_FROM_TO(REC_EXEC_BYTES(REC_ARGS_SHORT), sizeof(struct rec_exec)), LIFECYCLE)       \
	ROW(EXIT, 3, rec_exit, REC_WHOLE(rec_exit), LIFECYCLE)                                     \
	ROW(RENAME, 4, rec_rename, REC_WHOLE(rec_rename), LIFECYCLE)                               \
	/* (it is in the ring whose loss it marks) */                                              \
	ROW(LOST, 5, rec_lost, REC_WHOLE(rec_lost), LIFECYCLE)                                     \
	/* (from the iterator over all tasks) */                                                   \
	ROW(TASK, 6, rec_task, REC_WHOLE(rec_task), NONE)                                          \
	ROW(WORK, 7, rec_work, REC_WHOLE(rec_work), WORKQUEUE)                                     \
	ROW(FUNCTION, 8, rec_function, REC_WHOLE(rec_function), WORKQUEUE)                         \
	ROW(FREQUENCY, 9, rec_frequency, REC_WHOLE(rec_frequency), FREQUENCY)                      \
	ROW(STACK, 11, rec_stack, REC_FROM_TO(REC_STACK_BYTES(1), sizeof(struct rec_stack)),       \
	    STACKS)                                                                                \
	ROW(SAMPLE, 12, rec_sample, REC_WHOLE(rec_sample), STACKS)                                 \
	ROW(OFFCPU, 13, rec_offcpu, REC_WHOLE(rec_offcpu), STACKS)                                 \
	ROW(ALLOC, 16, rec_alloc, REC_WHOLE(rec_alloc), MEMORY)                                    \
	ROW(FREE, 17, rec_free, REC_WHOLE(rec_free), MEMORY)                                       \
	ROW(RESOURCE, 18, rec_resource, REC_WHOLE(rec_resource), MEMORY)                           \
	/* (a stack that is named by REC_ALLOC and REC_RESOURCE) */                                \
	ROW(NAMED, 19, rec_named, REC_WHOLE(rec_named), MEMORY)                                    \
	ROW(CPU_GONE, 25, rec_cpu_gone, REC_WHOLE(rec_cpu_gone), LIFECYCLE)                        \
	/* (from the iterator over all tasks; user space makes some, too) */                       \
	ROW(REGISTERS, 28, rec_registers, REC_WHOLE(rec_registers), NONE)                          \
	ROW(PIECE, 29, rec_piece,                                                                  \
	    REC_FROM_TO(sizeof(struct rec_piece), sizeof(struct rec_piece) + PIECE_BYTES_MAX),     \
	    STACKS)                                                                                \
	ROW(CALL, 30, rec_call, REC_FROM_TO(REC_CALL_BYTES(0), sizeof(struct rec_call)), CALLS)    \
	ROW(CALL_END, 31, rec_call_end,                                                            \
	    REC_FROM_TO(REC_CALL_END_BYTES(0), sizeof(struct rec_call_end)), CALLS)                \
	ROW(MOMENT, 32, rec_moment, REC_FROM_TO(REC_MOMENT_BYTES(0), sizeof(struct rec_moment)),   \
	    CALLS)                                                                                 \
	/* (some come from an iterator) */                                                         \
	ROW(CGROUP, 33, rec_cgroup, REC_FROM_TO(REC_CGROUP_BYTES(2), sizeof(struct rec_cgroup)),   \
	    LIFECYCLE)                                                                             \
	/* (the stack of an allocation, like NAMED; user space continues its walk) */              \
	ROW(HEAP_PIECE, 34, rec_piece,                                                             \
	    REC_FROM_TO(sizeof(struct rec_piece), sizeof(struct rec_piece) + PIECE_BYTES_MAX),     \
	    MEMORY)                                                                                \
	ROW(TRACEPOINT, 35, rec_tracepoint,                                                        \
	    REC_FROM_TO(REC_TRACEPOINT_BYTES(0), sizeof(struct rec_tracepoint)), TRACEPOINTS)      \
	ROW(REQUEST, 36, rec_request, REC_WHOLE(rec_request), BLOCK)                               \
	/* (precedes the stacks that name it) */                                                   \
	ROW(PYTHON_CODE, 37, rec_python_code,                                                      \
	    REC_FROM_TO(sizeof(struct rec_python_code) + PYTHON_LINES_BYTES(0),                    \
			sizeof(struct rec_python_code) + PYTHON_LINES_MAX),                        \
	    STACKS)                                                                                \
	/* (the same for stacks of allocations) */                                                 \
	ROW(HEAP_PYTHON_CODE, 38, rec_python_code,                                                 \
	    REC_FROM_TO(sizeof(struct rec_python_code) + PYTHON_LINES_BYTES(0),                    \
			sizeof(struct rec_python_code) + PYTHON_LINES_MAX),                        \
	    MEMORY)

/* The size of the records of a kind: constant, or from LEAST to MOST bytes. */
#define REC_WHOLE(tag) REC_FROM_TO(sizeof(struct tag), sizeof(struct tag))
#define REC_FROM_TO(least, most)                                                                   \
	{                                                                                          \
		least, most                                                                        \
	}

/*
 * Kinds that only user space makes: from counters, perf rings and /proc
 * (capture/proc/proc-records.h), and from the tables of memory.bpf.c (capture/heap/heap-records.h).
 *
 *	ROW(KIND, number, queue of the merge)
 */
#define REC_USER_KINDS(ROW)                                                                        \
	ROW(COUNTERS, 10, NONE)                                                                    \
	ROW(MAPPING, 14, MAPPINGS)                                                                 \
	ROW(NEW_IMAGE, 15, MAPPINGS)                                                               \
	ROW(WATCH, 20, NONE)                                                                       \
	ROW(WATCHED, 21, NONE)                                                                     \
	ROW(USAGE, 22, NONE)                                                                       \
	ROW(SNAPSHOT, 23, NONE)                                                                    \
	ROW(BLOCK, 24, NONE)                                                                       \
	ROW(LISTING, 26, NONE)                                                                     \
	ROW(FOUND, 27, NONE)

/* The BPF ring buffers of a CPU */
#define REC_RING_LIFECYCLE   0
#define REC_RING_WORKQUEUE   1
#define REC_RING_FREQUENCY   2
#define REC_RING_STACKS      3
#define REC_RING_MEMORY      4
#define REC_RING_CALLS       5
#define REC_RING_TRACEPOINTS 6
#define REC_RING_BLOCK       7
#define REC_RINGS            8
/* (no BPF ring buffer: user space makes the records from perf rings) */
#define REC_RING_MAPPINGS 8
#define REC_SOURCES       9
#define REC_RING_NONE     REC_SOURCES /* records that come through no ring */

enum {
#define REC_KIND_NUMBER(KIND, number, tag, bytes, ring)                                            \
	REC_##KIND = (number), REC_##KIND##_RING = REC_RING_##ring,
	REC_PROGRAM_KINDS(REC_KIND_NUMBER)
#undef REC_KIND_NUMBER
#define REC_KIND_NUMBER(KIND, number, ring)                                                        \
	REC_##KIND = (number), REC_##KIND##_RING = REC_RING_##ring,
		REC_USER_KINDS(REC_KIND_NUMBER)
#undef REC_KIND_NUMBER
			REC_KINDS = 39, /* greater than the last number */
};

/* Returns the ring of KIND. REC_RING_NONE if KIND is unknown. */
static inline __u32 rec_kind_ring(__u32 kind)
{
	switch (kind) {
#define REC_KIND_RING(KIND, number, tag, bytes, ring)                                              \
	case REC_##KIND:                                                                           \
		return REC_##KIND##_RING;
		REC_PROGRAM_KINDS(REC_KIND_RING)
#undef REC_KIND_RING
#define REC_KIND_RING(KIND, number, ring)                                                          \
	case REC_##KIND:                                                                           \
		return REC_##KIND##_RING;
		REC_USER_KINDS(REC_KIND_RING)
#undef REC_KIND_RING
	default:
		return REC_RING_NONE;
	}
}
