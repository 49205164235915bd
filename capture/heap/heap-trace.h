/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces the allocations of processes, in the worker of a session. This module attaches probes to
 * the allocators of the watched processes, and reads the tables of the eBPF programs periodically
 * and at the end.
 *
 * A process is traced when it is selected at the start, when it is forked, and when it has called
 * exec. It is checked again when it maps another file. The eBPF programs report fork and exec at
 * once. An image is one executable in one process. After it ends, its blocks stay in the tables
 * until the next heap_trace_tick() reads them.
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

/* Detaches all probes. Returns NULL. */
struct heap_trace *heap_trace_free(struct heap_trace *m);

DEFINE_CLEANUP(struct heap_trace *, heap_trace_free)

/*
 * Becomes readable when a process has called fork or exec. Then heap_trace_drain_events() must be
 * called.
 */
int heap_trace_fd(const struct heap_trace *m);
void heap_trace_drain_events(struct heap_trace *m);

/*
 * Watches process PID from now on, if possible. If it is already watched, checks it for other
 * files. A process that no longer exists is reported as ended at once. Returns 0 or a negative
 * errno.
 */
int heap_trace_probe(struct heap_trace *m, uint32_t pid);

/*
 * Reports process PID, which started at START_NS, as not watched, since the recording ends before
 * it can be watched.
 */
void heap_trace_leave_out(struct heap_trace *m, uint32_t pid, uint64_t start_ns);

/* Must be called when all existing processes are watched. Processes that are found later count as
 * started during the recording. */
void heap_trace_begun(struct heap_trace *m);

/* Stops watching PID. The next heap_trace_tick() reports the blocks of PID. */
void heap_trace_release(struct heap_trace *m, uint32_t pid);

/* Returns true if PID is watched, and is still the same, living process. */
bool heap_trace_watches(const struct heap_trace *m, uint32_t pid);

/* Checks PID, if it is watched, for files that were mapped after MAPPED_NS (CLOCK_BOOTTIME). */
void heap_trace_check_process(struct heap_trace *m, uint32_t pid, uint64_t mapped_ns);

/* Returns the time of the next heap_trace_tick(): CLOCK_MONOTONIC. */
uint64_t heap_trace_next_ns(const struct heap_trace *m);
void heap_trace_tick(struct heap_trace *m);

/*
 * Returns true if new processes may be missing from the reports since the last call. Then
 * heap_trace_probe() must be called for all selected processes.
 */
bool heap_trace_has_missed(struct heap_trace *m);

/*
 * Forgets processes that are no longer watched, if reports of ends were lost, or MISSED, the result
 * of heap_trace_has_missed(), is true. Must be called after heap_trace_drain_events().
 */
void heap_trace_forget_outdated(struct heap_trace *m, bool missed);

/* Checks all processes for files that were mapped after MAPPED_NS (CLOCK_BOOTTIME). */
void heap_trace_check_all(struct heap_trace *m, uint64_t mapped_ns);

/*
 * Reports the live blocks of each watched process and continues. A process that has called exec,
 * and is still loading its program, is skipped. Returns 0 or a negative errno.
 */
int heap_trace_snapshot(struct heap_trace *m);

/*
 * Searches for reachable blocks of process PID, which is stopped at its exit, so one search is
 * sufficient. The result is kept for the report of the end of PID. Returns 0, also if PID is not
 * watched, or a negative errno.
 */
int heap_trace_search(struct heap_trace *m, uint32_t pid);

/*
 * Stops all watches and detaches all probes; the data is kept. Must be called before the eBPF
 * programs are removed. FOR_GOOD: the session ends, so reachable blocks are searched for first, if
 * this is requested. Otherwise, the session pauses.
 */
void heap_trace_stop(struct heap_trace *m, bool for_good);

/*
 * Reports all remaining data, after heap_trace_stop(). Returns 0, the result of the sink, or
 * another negative errno: then the data is incomplete.
 */
int heap_trace_finish(struct heap_trace *m);
