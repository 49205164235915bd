/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What processes allocate, as the worker of a session sees it: which of them are watched, with
 * probes on their allocators, and what the programs' tables say, now and then and at the end.
 *
 * A process is traced when it is selected at the start, when it is forked, when it has called exec,
 * and looked at again when it maps another file. The programs report fork and exec at once. An
 * image (one program in one process) that has ended stays in the tables until it has been read
 * here; it is read with the next look at the sums.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "capture/programs/collector.h"
#include "capture/heap/heap-tables.h"
#include "capture/options/options.h"

struct heap_trace;

/* OPTIONS, COLLECTOR and SINK are borrowed. Returns 0 or a negative errno. */
int heap_trace_new(const struct session_options *options, struct collector *collector,
		   const struct memory_sink *sink, struct heap_trace **ret);

/* Detaches what is attached. Returns NULL. */
struct heap_trace *heap_trace_free(struct heap_trace *m);

DEFINE_CLEANUP(struct heap_trace *, heap_trace_free)

/*
 * Becomes readable when a process has called fork or exec: then heap_trace_drain_events() is to be
 * called.
 */
int heap_trace_fd(const struct heap_trace *m);
void heap_trace_drain_events(struct heap_trace *m);

/*
 * Watches process PID from now on, if it can be; or looks whether it has other files by now. That
 * there is no such process any more is said as one that has ended at once. Returns 0 or a negative
 * errno.
 */
int heap_trace_probe(struct heap_trace *m, uint32_t pid);

/* No longer: its blocks are said with the next heap_trace_tick(). */
void heap_trace_release(struct heap_trace *m, uint32_t pid);

/* Whether heap_trace_probe() has to do with PID already. */
bool heap_trace_watches(const struct heap_trace *m, uint32_t pid);

/* Looks whether PID, if it is watched, has other files by now. */
void heap_trace_look(struct heap_trace *m, uint32_t pid);

/* When heap_trace_tick() is to be called again: CLOCK_MONOTONIC. */
uint64_t heap_trace_next_ns(const struct heap_trace *m);
void heap_trace_tick(struct heap_trace *m);

/*
 * True, but once, if processes may have come that were not reported: all that are selected are to
 * be traced.
 */
bool heap_trace_has_missed(struct heap_trace *m);

/* Looks whether any of the processes has other files by now. */
void heap_trace_look_all(struct heap_trace *m);

/*
 * Says what lives now, of each process that is watched, and changes nothing. One that has called
 * exec, and is still loading its program, is passed over. Returns 0 or a negative errno.
 */
int heap_trace_snapshot(struct heap_trace *m);

/*
 * Looks which blocks of process PID can be reached, and keeps the answer for what will be said of
 * it: one that STILL stands where it is, held at its exit, so that one search is enough. Returns
 * 0, also if PID is not watched, or a negative errno.
 */
int heap_trace_search(struct heap_trace *m, uint32_t pid);

/* The end. Nothing is watched any more, nothing attached; what there is stays as it is. The probes
 * must go before the programs do. Unless FOR_GOOD nobody looks for what leads to blocks. */
void heap_trace_stop(struct heap_trace *m, bool for_good);

/*
 * Says all that is left to say. Once stopped. Returns 0, what the sink returned, or another
 * negative errno: then it is not all.
 */
int heap_trace_finish(struct heap_trace *m);
