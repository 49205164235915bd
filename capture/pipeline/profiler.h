/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call stacks, and where code is mapped, into the archive.
 *
 * What a new program maps while it is being put in place, the kernel reports before it reports the
 * exec; archives have it behind (docs/FXT-MAPPING.md): it waits for the exec.
 *
 * What a filter selects is decided in the kernel, and mappings do not come from there. With a
 * filter those of a process wait until a record of one of its threads comes, which has been
 * selected then. Strangers are forgotten when they have ended; what of anybody could not be kept is
 * lost only if somebody asks for it.
 *
 * Where only one user's own processes are recorded (`own`), each mapping waits: until it is known
 * that its process was selected after that (profiler_need() with a time). What a program has mapped
 * that was never selected goes with the next exec. When records were lost that could be those of an
 * exec, all that waits is dropped, and what is mapped until an exec or a fork of its process was
 * reported (profiler_doubt()).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "bpf/record.h"
#include "capture/pipeline/pipeline.h"
#include "capture/pipeline/stacks.h"
#include "capture/proc/proc-records.h"

struct maps;

/* Of what a head says is mapped: in one process; in all of them, with what it takes to keep it. */
enum { PROFILER_MAPS_OF_ONE_MAX = 16384, PROFILER_MAPS_BYTES_MAX = 32 << 20 };

struct profiler {
	const struct pipeline *pipe; /* borrowed */
	uint64_t doubt_ns;           /* own: reports up to then may be incomplete; 0 = none */
	uint64_t n_events;           /* written */
	uint64_t n_homeless; /* stacks that were named and are not known, since the last look */
	uint64_t n_dropped;  /* mappings that were not kept and that somebody asked for, likewise */
	struct stacks stacks;
	struct table processes; /* pid + 1 -> struct process, owned */
	size_t waiting_bytes;   /* of all of them */
	uint64_t swept_ns; /* when those were forgotten that have ended; what there was then: */
	size_t swept_bytes, n_swept;
	struct maps *maps; /* what was written of mappings, by pids; NULL = not kept. Owned */
};

void profiler_init(struct profiler *p, const struct pipeline *pipe);
void profiler_deinit(struct profiler *p);

/*
 * The next record in the order of time, checked: one of a stack, or with one, or of a mapping.
 * Returns 0 or the archive's error.
 */
int profiler_record(struct profiler *p, const struct rec_head *rec);

/* What was mapped when the recording began, in whatever order. */
int profiler_listed(struct profiler *p, const struct rec_mapping *rec);

/*
 * There is a stack of PID at TS_NS: what it needs is to be known. With `own`: PID was selected
 * then; 0 = it may not have been.
 */
int profiler_need(struct profiler *p, uint32_t pid, uint64_t ts_ns);

/* What has happened to a process, and has been written. */
int profiler_forked(struct profiler *p, uint32_t parent, uint32_t child);
int profiler_executed(struct profiler *p, uint32_t pid, uint64_t ts_ns);
int profiler_ended(struct profiler *p, uint32_t pid);

/* A record that only selected processes have was about a thread of PID. */
int profiler_selected(struct profiler *p, uint32_t pid);

/*
 * A thread of PID was renamed: by itself (maybe that selects it) or by an exec, which is reported
 * later.
 */
void profiler_renamed(struct profiler *p, uint32_t pid);

/* The recording will be split: what is mapped is kept. Returns 0 or -ENOMEM. */
int profiler_will_split(struct profiler *p);

/*
 * Writes to TO what has been written of all that is mapped, as of AT_NS, and changes nothing. NAME
 * writes who a process is.
 */
int profiler_say_mappings(const struct profiler *p, struct fxt_archive *to, uint64_t at_ns,
			  int (*name)(uint32_t pid, void *userdata), void *userdata);

/*
 * With `own`: records of mappings, or of what happens to processes, were lost before NOW_NS; others
 * of before that are still to come. And: PID was forked at TS_NS, so all is known of it, unless
 * there is doubt about that time. Returns 0 or -ENOMEM.
 */
void profiler_doubt(struct profiler *p, uint64_t now_ns);
int profiler_trust(struct profiler *p, uint32_t pid, uint64_t ts_ns);

/* After a pause: of nobody it is known any more what is mapped there, nor what waits for it. */
int profiler_forget_mappings(struct profiler *p);

/* Writes what would have waited on. Once, at the end. */
int profiler_finish(struct profiler *p);
