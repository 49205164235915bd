/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The watched processes (capture/heap/heap-trace.h): those that the filter selects, or those that
 * grow (capture/heap/triage.h).
 */
#pragma once

#include <stdint.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "capture/programs/collector.h"
#include "capture/heap/heap-trace.h"
#include "capture/options/options.h"

struct heap_targets;

/*
 * TASKS, struct rec_task, are the live tasks. OPTIONS and COLLECTOR are borrowed, SINK is copied.
 * Can be slow. Returns 0 or a negative errno.
 */
int heap_targets_new(const struct session_options *options, struct collector *collector,
		     const struct memory_sink *sink, const struct outbuf *tasks,
		     struct heap_targets **ret);

/* Detaches all probes. Returns NULL. */
struct heap_targets *heap_targets_free(struct heap_targets *w);

DEFINE_CLEANUP(struct heap_targets *, heap_targets_free)

/* Returns the watched processes; borrowed. */
struct heap_trace *heap_targets_memory(const struct heap_targets *w);

/*
 * Starts to watch processes that are new or have grown, and stops watching processes that have not
 * grown. Must be called when heap_trace_fd() is readable, and periodically.
 */
void heap_targets_do_due_work(struct heap_targets *w);

/*
 * Returns the time of the next call of heap_targets_do_due_work() or heap_trace_tick():
 * CLOCK_MONOTONIC.
 */
uint64_t heap_targets_next_ns(const struct heap_targets *w);
