/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call stacks and mappings, for the archive.
 *
 * At exec, the kernel reports the mappings of the new program before it reports the exec. In
 * archives, mappings follow the exec (docs/FXT-MAPPING.md), so they wait for the exec here.
 *
 * The eBPF programs apply filters, but mappings do not come from these programs. So with a filter,
 * the mappings of a process wait for a record of one of its threads, which shows that the process
 * was selected. Other processes are discarded when they have ended. A mapping that could not be
 * kept counts as lost only if it is needed.
 *
 * If only one user's processes are recorded (`own`), each mapping waits for proof that its process
 * was selected after the mapping (profiler_need() with a time). Mappings of a program that was
 * never selected are discarded at the next exec. If the record of an exec may have been lost, all
 * waiting mappings are dropped. Later mappings are also dropped, until an exec or a fork of their
 * process is reported (profiler_doubt()).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "model/other-files.h"
#include "bpf/record.h"
#include "capture/python/python-names.h"
#include "capture/stages/stacks.h"
#include "capture/proc/proc-records.h"
#include "capture/stages/stage.h"

struct maps;

/*
 * Limits for the mappings that a head can have: in one process; and in all processes, as the memory
 * to keep them.
 */
enum { PROFILER_MAPS_OF_ONE_MAX = 16384, PROFILER_MAPS_BYTES_MAX = 32 << 20 };

/* Limits for threads whose copied stacks are kept until they run again. */
enum { PROFILER_LEFT_MAX = 4096, PROFILER_LEFT_BYTES_MAX = 8 << 20 };

struct probed_inodes;
struct named_stacks;

struct profiler {
	const struct pipeline *pipe; /* borrowed */
	struct named_stacks *named;  /* borrowed: the stacks of wakers; NULL = none */
	uint64_t offcpu_min_ns;      /* shorter times off CPU are not written */
	/* With `own`: reports up to this time can be incomplete; 0 = complete. */
	uint64_t doubt_ns;
	/* With `own`: number of lost records that doubt_ns takes into account. */
	uint64_t known_lost;
	uint64_t n_events;   /* number of events that were written */
	uint64_t n_mappings; /* mappings among n_events */
	uint64_t n_homeless; /* number of references to unknown stacks since the last query */
	/* Number of needed mappings that were not kept, since the last query. */
	uint64_t n_dropped;
	/* The files with probes, borrowed (NULL = none), and those that processes use instead. */
	const struct probed_inodes *probed;
	struct other_files others;
	struct stacks stacks;
	struct python_names python;
	/* Stacks of threads that waited when the recording of times off CPU began: the last time
	 * (`waiting`), and the time before. Id -> struct left, owned */
	struct table waiting, waiting_before;
	/* The copied stack with which each thread left its CPU last: tid + 1 -> struct left, owned;
	 * at most PROFILER_LEFT_MAX elements, and PROFILER_LEFT_BYTES_MAX bytes of copies */
	struct table left;
	size_t left_bytes;      /* size of the copies that are not walked to the end yet */
	struct table processes; /* pid + 1 -> struct process, owned */
	size_t waiting_bytes;   /* size of the mappings of all processes that wait */
	uint64_t swept_ns;      /* when ended processes were last discarded */
	size_t swept_bytes;     /* waiting_bytes at that time */
	size_t n_swept;         /* the number of processes at that time */
	struct maps *maps;      /* mappings that were written, by pid; NULL = not kept. Owned */
};

extern const struct stage profiler_stage;

void profiler_init(struct profiler *p, const struct pipeline *pipe);
void profiler_deinit(void *profiler);

/*
 * Handles the next record in order of time: a stack, a record with a stack, or a mapping. The
 * record was checked. Returns 0 or the archive's error.
 */
int profiler_record(struct profiler *p, const struct rec_head *rec);

/* Takes mappings from before the recording, in any order. */
int profiler_listed(struct profiler *p, const struct rec_mapping *rec);

/* To be called when thread TID has ended, or its kept stack is outdated. */
void profiler_forget_left(struct profiler *p, uint32_t tid);

/*
 * Takes PIECES (struct rec_piece): the stacks of threads that wait when the recording of times off
 * CPU starts, for the first time or again. A stack is kept until its thread runs, or until the
 * second start after it. Returns 0 or -ENOMEM.
 */
int profiler_add_waiting(struct profiler *p, const struct outbuf *pieces);

/*
 * Puts the functions of Python between the native ones in FRAMES, N frames that the eBPF programs
 * have sent, and writes their names. SAMPLE is the event that is being made. Returns the new number
 * of frames, which is not greater, or a negative errno.
 */
int profiler_add_python(struct profiler *p, const struct event *sample, uint64_t *frames,
			unsigned n);

/*
 * Called when a stack of PID at TS_NS needs the mappings of PID. With `own`, PID was selected at
 * TS_NS; if that is 0, PID may not have been selected.
 */
int profiler_need(struct profiler *p, uint32_t pid, uint64_t ts_ns);

/* Called when a fork, exec or exit of a process was written. */
int profiler_forked(struct profiler *p, uint32_t parent, uint32_t child);
int profiler_executed(struct profiler *p, uint32_t pid, uint64_t ts_ns);
int profiler_ended(struct profiler *p, uint32_t pid);

/* Called when a record shows that PID was selected. */
int profiler_selected(struct profiler *p, uint32_t pid);

/*
 * Called when a thread of PID was renamed: by itself, so that a filter may now select it, or by an
 * exec that is reported later.
 */
void profiler_renamed(struct profiler *p, uint32_t pid);

/*
 * With `own`. The first function is called when records of mappings or of lifecycle were lost
 * before NOW_NS, and other records from that time can follow. The second one is called when PID was
 * forked at TS_NS. The state of PID is then complete, unless that time is in doubt. The second
 * function returns 0 or -ENOMEM.
 */
void profiler_doubt(struct profiler *p, uint64_t now_ns);
int profiler_trust(struct profiler *p, uint32_t pid, uint64_t ts_ns);

/* Writes the mappings that still wait. To be called once, at the end. */
int profiler_finish(struct profiler *p);
