/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What programs allocate, into the archive: what the worker says of its tables
 * (capture/heap/heap-trace.h), and, in log mode, each allocation and free as it comes out of the
 * rings. Of descriptors, mappings and the like it keeps the books (capture/pipeline/resources.h).
 *
 * Of a new program the worker says only after a while that it is watched, when it knows what that
 * has loaded. What comes out of the rings until then waits.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "base/table.h"
#include "bpf/record.h"
#include "capture/options/options.h"
#include "capture/pipeline/pipeline.h"

struct allocations {
	const struct pipeline *pipe;  /* borrowed */
	size_t n_in_snapshot;         /* watches whose snapshot is not complete yet */
	uint64_t interval, min_bytes; /* of the session, as struct memory_options says */
	uint64_t n_events;            /* written */
	uint64_t usage_interval_ns;   /* likewise */
	bool log;                     /* likewise */
	uint64_t n_dropped;           /* records that could not be used, since the last look */
	struct table watches;         /* instance -> struct watch, owned */
	struct table pids; /* pid + 1 -> this: processes that were watched, and have not ended */
	struct outbuf waiting; /* struct rec_* from the rings, of instances that are not known */
};

void allocations_init(struct allocations *a, const struct pipeline *pipe);
void allocations_deinit(struct allocations *a);

/* Takes in what OPTIONS say. Once, before all records. */
void allocations_begin(struct allocations *a, const struct session_options *options);

/*
 * The next record: one of those that bpf/record.h has under "what programs allocate", checked.
 * Returns 0 or the archive's error.
 */
int allocations_record(struct allocations *a, const struct rec_head *rec);

/*
 * Where the recording is split, after allocations_begin(), and each event is recorded: writes to
 * TO, and changes nothing, the blocks that the books have, as of AT_NS. NAME says who a thread is.
 */
int allocations_say_blocks(const struct allocations *a, struct fxt_archive *to, uint64_t at_ns,
			   int (*name)(uint32_t tid, void *userdata), void *userdata);

/* Whether process PID is watched. */
bool allocations_watches(const struct allocations *a, uint32_t pid);

/* Process PID has ended. What is said of it may come later. */
void allocations_ended(struct allocations *a, uint32_t pid);
