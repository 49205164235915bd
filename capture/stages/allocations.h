/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocations, for the archive: the worker's reports of its tables (capture/heap/heap-trace.h), and
 * in log mode each allocation and free from the rings. This stage also has the books of
 * descriptors, mappings and other resources (capture/stages/resources.h).
 *
 * The worker reports a new program as watched only when it knows the files that the program has
 * loaded. Until then, records from the rings wait.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "base/table.h"
#include "bpf/record.h"
#include "capture/options/options.h"
#include "capture/stages/heap-copies.h"
#include "capture/stages/stage.h"
#include "capture/stages/watch-gap.h"

struct allocations {
	const struct pipeline *pipe;  /* borrowed */
	size_t n_in_snapshot;         /* watches with an incomplete snapshot */
	uint64_t interval, min_bytes; /* as in struct memory_options */
	uint64_t n_events;            /* number of events that were written */
	uint64_t usage_interval_ns;   /* as in struct memory_options */
	bool log;                     /* as in struct memory_options */
	uint64_t n_dropped;           /* number of unusable records since the last query */
	struct table watches;         /* instance -> struct watch; owned */
	/* Pid + 1 -> struct watch: watched processes that have not ended. */
	struct table pids;
	/* Struct rec_* from the rings whose instance is not known yet. */
	struct outbuf waiting;
	struct heap_copies copies; /* stacks whose outermost frames are not known yet */
	struct watch_gap_files files;
	bool is_closing; /* nothing is awaited any more */
};

extern const struct stage allocations_stage;

void allocations_init(struct allocations *a, const struct pipeline *pipe);
void allocations_deinit(void *allocations);

/* Sets OPTIONS. To be called once, before all records. Returns 0 or -ENOMEM. */
int allocations_begin(void *allocations, const struct session_options *options);

/*
 * Handles the next record, which is of bpf/record-memory.h and was checked. Returns 0 or the
 * archive's error.
 */
int allocations_record(struct allocations *a, const struct rec_head *rec);

/* Returns true if process PID is watched. */
bool allocations_watches(const struct allocations *a, uint32_t pid);

/* Called when process PID has ended. Reports about the process can follow later. */
void allocations_ended(struct allocations *a, uint32_t pid);

/* Returns true if ends of watches wait for the examination of files. */
bool allocations_await_files(const struct allocations *a);
