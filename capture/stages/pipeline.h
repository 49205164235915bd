/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The context of a pipeline, which its stages share.
 *
 * A stage knows this context. It does not know other stages or the owner of the pipeline. `struct
 * pipeline_links` has the functions that a stage needs from another stage or from the merge, and
 * `struct pipeline_owner` has the functions that a stage needs from outside. A stage that works on
 * the state of another stage has a pointer to that stage. Stages have no other dependencies.
 * capture/recorder/recorder-stages.c lists the stages in their order.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"
#include "capture/python/python-names.h"
#include "capture/stages/tasks.h"
#include "writer/fxt/fxt-archive.h"

struct collector;
struct outbuf;
struct rec_mapping;
struct trigger;

/*
 * Functions that stages have for each other. These functions return 0 or a negative errno, unless
 * stated otherwise.
 */
struct pipeline_links {
	/* Of lifecycle: writes the identity of TID. Called only by pipeline_announce(). */
	int (*announce)(uint32_t tid, void *userdata);
	/* Of profiler: writes the mappings of PID, which will have stacks from TS_NS on. */
	int (*need_mappings)(uint32_t pid, uint64_t ts_ns, void *userdata);
	/* Of profiler: profiler_add_python(). Called only by pipeline_add_python(). */
	int (*add_python)(const struct event *sample, uint64_t *frames, unsigned n, void *userdata);
	/* Of triggers: called when T has fired, at a record that is written. */
	int (*fire)(const struct trigger *t, void *userdata);
	void *userdata;
	/* Of news: passes REC, from the worker, to the stages that accept it. */
	int (*pass_news)(const struct rec_head *rec, void *userdata);
	/* Of activity: writes a loss. Called by pipeline_write_shortage(). */
	int (*lost)(enum event_class class, const struct rec_lost *lost, void *userdata);
	/*
	 * Returns the number of all records of CLASS that were lost so far, whether the losses have
	 * been written to the archive or not.
	 */
	uint64_t (*n_lost)(enum event_class class, void *userdata);
	/* Of allocations: whether process PID is watched. */
	bool (*watches)(uint32_t pid, void *userdata);
	/*
	 * Of lifecycle: called if TID, a known thread, ended by AT_NS without a report. All stages
	 * forget it.
	 */
	int (*forget_task)(uint32_t tid, uint64_t at_ns, void *userdata);
	/*
	 * Of merge: finds the thread that has run on CPU since the start. *TID and *PRIO have the
	 * thread by the list of tasks. If the next records of CPU are more reliable, both are
	 * replaced. If these records were lost, *TID becomes 0.
	 */
	void (*first_running)(unsigned cpu, uint32_t *tid, int32_t *prio, void *userdata);
	/* Of merge: returns true if the next scheduling record of CPU is a loss that began at
	 * *RET_NS, before AT_NS. */
	bool (*loss_is_next)(unsigned cpu, uint64_t at_ns, uint64_t *ret_ns, void *userdata);
};

/*
 * Functions that the owner of the pipeline has for the stages. A function that is not available is
 * NULL, except where noted.
 */
struct pipeline_owner {
	/*
	 * Never NULL. Begins to look up the unknown TID. Returns false if that is impossible now.
	 */
	bool (*ask)(uint32_t tid, void *userdata);
	/*
	 * Gets the next data of the worker about watched processes. Returns false if there is no
	 * data.
	 */
	bool (*fetch_memory)(struct outbuf *ret, void *userdata);
	/*
	 * Not NULL if allocations are recorded. Examines a file that the watched process PID has
	 * mapped.
	 */
	void (*check_files)(uint32_t pid, uint64_t ts_ns, void *userdata);
	/*
	 * Begins to examine the file of REC, whose process has ended (struct late_file). Returns
	 * false if that is impossible now.
	 */
	bool (*examine)(const struct rec_mapping *rec, void *userdata);
	/* Returns true if thread or process TID has certainly ended. */
	bool (*is_gone)(uint32_t tid);
	/* Called when a trigger has fired. */
	void (*triggered)(const struct trigger *t, void *userdata);
	void *userdata;
};

struct pipeline {
	struct fxt_archive *archive; /* borrowed, like `tasks` */
	struct tasks *tasks;
	struct collector *collector; /* borrowed; NULL before and after the recording */
	unsigned n_cpus;
	uint32_t categories;
	bool filtered;  /* only selected threads are recorded */
	bool reselects; /* threads can begin or cease to be selected while they run */
	bool own;       /* only processes of one user are recorded; implies `filtered` */
	bool splits; /* the recording can be split into chunks: the state for their heads is kept */
	/*
	 * Events outside of this time are not written. Identities are always learned. `to_ns` is
	 * set when the end is known.
	 */
	uint64_t from_ns, to_ns;
	uint64_t seen_ns;  /* end of a pause: the end of earlier intervals is unknown */
	uint64_t split_ns; /* start of the current chunk; 0 = it is the first chunk */
	/* Start of the current chunk; for the first chunk, the start of the recording. */
	uint64_t chunk_ns;
	/* A round ends when the archive's current buffer has this many bytes; 0 = never. */
	size_t buffer_full;
	struct pipeline_links links;
	struct pipeline_owner owner;
};

/* Writes the identity of TID, unless the archive has it. Returns 0 or a negative errno. */
static inline int pipeline_announce(const struct pipeline *p, uint32_t tid)
{
	if (__builtin_expect(tasks_announced(p->tasks, tid), 1))
		return 0;
	return p->links.announce(tid, p->links.userdata);
}

/*
 * Like pipeline_announce(), for a thread that an event assigns to process PID. If the identity of
 * the thread is not found, the thread counts as one of PID. Otherwise, readers would show two
 * threads.
 */
static inline int pipeline_announce_thread(const struct pipeline *p, uint32_t tid, uint32_t pid)
{
	int r = pipeline_announce(p, tid);

	return r ?: tasks_belongs(p->tasks, tid, pid);
}

/*
 * Puts the functions of Python, if there are any, between the native ones in the N FRAMES, and
 * writes their names. SAMPLE is the event of the stack. Returns the new number of frames, which is
 * not greater, or a negative errno.
 */
static inline int pipeline_add_python(const struct pipeline *p, const struct event *sample,
				      uint64_t *frames, unsigned n)
{
	if (!python_names_are_in(frames, n))
		return (int)n;
	return p->links.add_python(sample, frames, n, p->links.userdata);
}

/*
 * To be called after a record. Returns ERROR if it is negative; otherwise 1 if the round ends,
 * since the current buffer is full, or 0.
 */
static inline int pipeline_after(const struct pipeline *p, int error)
{
	if (error < 0)
		return error;
	return p->buffer_full && fxt_archive_bytes(p->archive) >= p->buffer_full;
}

/*
 * Writes that *N records of CLASS were unusable, at the present time (or at the end of the
 * recording, if that is earlier), and sets *N to 0. Returns 0 or a negative errno.
 */
int pipeline_write_shortage(const struct pipeline *p, enum event_class class, uint64_t *n);

/* If paths of cgroups were forgotten, makes the eBPF programs send all of them again. */
void pipeline_forget_cgroups(const struct pipeline *p);
