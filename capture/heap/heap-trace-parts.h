/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shared part of heap-trace's files. Internal to heap-trace*.c.
 *
 *   heap-trace.c         the watched processes: probes, fork and exec
 *   heap-trace-check.c   checks the files of processes, and the threads that hold their probes
 *   heap-trace-look.c    reads processes that run: lists, snapshots, searches
 *   heap-trace-ended.c   the records of a program and of its end
 */
#pragma once

#include "capture/probes/allocator-cache.h"
#include "capture/heap/heap-probes.h"
#include "capture/heap/heap-images.h"
#include "capture/heap/heap-trace.h"
#include "capture/heap/shared-programs.h"

struct ring_buffer;

/*
 * The number of remembered processes that were skipped. Other reports about a remembered process
 * are ignored.
 */
enum { HEAP_TRACE_PASSED_MAX = 64 };

struct heap_trace {
	const struct session_options *options;
	struct collector *collector;
	struct collector_memory own; /* maps and programs; owned by the collector */
	struct memory_sink sink;
	struct shared_programs shared;
	struct memory_tables tables;
	struct allocator_cache *cache;
	struct heap_probes_args probing;
	struct ring_buffer *events;
	struct table processes; /* pid + 1 -> struct heap_probes, owned */
	struct heap_images images;
	uint64_t next_usage_ns;     /* CLOCK_MONOTONIC */
	uint64_t events_unreported; /* number of unreported events at the last reading */
	uint64_t ends_unreported;   /* number of unreported ends at the last reading */
	/* Number of missed ends at the last heap_trace_forget_outdated(). */
	uint64_t ends_missed;
	/* Time at which entries without an image are removed (CLOCK_MONOTONIC), ... */
	uint64_t foreign_entries_ns;
	/* ... if their instances are up to this one; 0 = no removal is due. */
	uint32_t foreign_entries;
	/* These entries are removed in this round, since all running processes are known. */
	bool foreign_entries_go;
	/* Number of images whose ends were reported, but not read yet. */
	unsigned n_ended;
	struct outbuf going;  /* ids of probes of ended processes, to be detached */
	uint64_t happened_ns; /* time of the last report of a process, CLOCK_MONOTONIC */
	int error;            /* error of the sink, which accepts no more records; or 0 */
	bool stopping;        /* no more probes are attached */
	bool stopped;         /* no process is watched any more */
	uint64_t passed
		[HEAP_TRACE_PASSED_MAX]; /* a ring of start times of skipped processes; 0 = none */
	unsigned n_passed;
	bool begun; /* all existing processes are watched; later ones are new */
	/*
	 * The start time of the program whose files a client has announced (0 = not started yet),
	 * and the result for these files.
	 */
	uint64_t announced_ns;
	struct heap_probes_found announced;
	char announced_text[MEMORY_TEXT_BYTES];
};

static inline struct heap_probes *heap_trace_probes_of(const struct heap_trace *m, uint32_t pid)
{
	return table_get(&m->processes, (uint64_t)pid + 1);
}

/* Plans the checks of TRACED, which is mapping its libraries. */
void heap_trace_plan_checks(struct heap_probes *traced);

/*
 * Checks the files of TRACED, which may already run another program. Returns true if the process is
 * watched. If it belongs to another user by now, detaches its probes and returns true.
 */
bool heap_trace_check(struct heap_trace *m, struct heap_probes *traced);

/* Applies the results of the last check of TRACED to IMAGE, if that program still runs. */
void heap_trace_apply_found(struct heap_trace *m, const struct heap_probes *traced,
			    struct heap_image *image);

/*
 * Checks the processes whose next check is due. Checks do not remove processes from the table.
 * Returns true if all checks of some process are done, so that its watch can be announced.
 */
bool heap_trace_check_due(struct heap_trace *m, uint64_t now_ns);

/*
 * Selects another holder for the probes if the thread that they belong to has ended, at ENDED_NS (0
 * = unknown). The new holder can end meanwhile, and so can the next one. If holders end faster than
 * they are replaced, calls are missed, which is a gap.
 */
void heap_trace_hold_probes(struct heap_trace *m, struct heap_probes *traced, uint64_t ended_ns);

/*
 * Handles the end, at TS_NS, of the thread that owns the probes. If the whole process has ended,
 * too, or no more probes are attached, it is unknown whether calls were missed, so a gap is
 * reported.
 */
void heap_trace_owner_ended(struct heap_trace *m, struct heap_probes *traced, uint64_t ts_ns);

/*
 * Report, once, that IMAGE is watched, or each image that is ready. The records of earlier images
 * of the process come first. If a report depends on how a program that has just ended has ended,
 * the report waits until heap_trace_finish_ended() has read this. Return 0, or the result of the
 * sink.
 */
int heap_trace_announce(struct heap_trace *m, struct heap_image *image);
int heap_trace_announce_ready(struct heap_trace *m);

/* Returns true if the program IMAGE still runs; *RET is its data. */
bool heap_trace_runs(const struct heap_trace *m, const struct heap_image *image,
		     struct memory_process *ret);

/*
 * Returns true if IMAGE is in the eBPF programs' table of running processes: it runs, or its last
 * threads are exiting.
 */
bool heap_trace_has_entry(const struct heap_trace *m, const struct heap_image *image,
			  struct memory_process *ret);

/*
 * Returns true if the eBPF programs watch process PID now, and the process is not exiting. Stores
 * its data in *RET.
 */
bool heap_trace_find_watched(const struct heap_trace *m, uint32_t pid, struct memory_process *ret);
bool heap_trace_is_watched(const struct heap_trace *m, uint32_t pid);

/* Counts the allocations of ended images. If an image has any, it was watched. */
int heap_trace_count_allocated(struct heap_trace *m);

/* Frees TRACED, whose process is gone. heap_trace_detach_forgotten() detaches its probes. */
void heap_trace_forget(struct heap_trace *m, struct heap_probes *traced);
void heap_trace_detach_forgotten(struct heap_trace *m);

/*
 * Writes all records of the ended images, as of TS_NS, and frees them. Begins no other image when
 * this thread has used CPU_NS_MAX of CPU time. Returns 0, 1 if some images are left, or a negative
 * errno.
 */
int heap_trace_finish_ended(struct heap_trace *m, uint64_t ts_ns, uint64_t cpu_ns_max);

/*
 * Creates the image of each process in the eBPF programs' table of running processes, even if no
 * report of the process has arrived yet. Returns 0 or a negative errno.
 */
int heap_trace_know_watched(struct heap_trace *m);

/*
 * Creates the images of all ended programs that were not reported yet. The worker may know only the
 * program that their process executed since. Returns 0 or a negative errno.
 */
int heap_trace_know_ended(struct heap_trace *m);

/* If there are at least this many ended images, they are reported at once. */
enum { HEAP_TRACE_ENDED_MANY = 256 };

/* CPU time for reports of ended images, between other work. */
#define HEAP_TRACE_FINISH_NS_MAX UINT64_C(1000000000)

/* Reports ended images within CPU_NS_MAX. The next tick continues. Returns as above. */
int heap_trace_finish_now(struct heap_trace *m, uint64_t cpu_ns_max);

/*
 * Returns true if the files of process PID may be checked. The calling process has more rights than
 * the user. So with the option `own`, only processes that the eBPF programs list as the user's own
 * may be checked. *RET is the program of PID then.
 */
bool heap_trace_may_check(const struct heap_trace *m, uint32_t pid, struct rec_task *ret);

/* Returns true if the results since heap_trace_may_check() are of the same program. */
bool heap_trace_was_same(const struct heap_trace *m, const struct rec_task *before);

/* Sends the kernel's lists of PID's resources, for comparison with the tracked ones. */
int heap_trace_list_resources(struct heap_trace *m, uint32_t pid, uint32_t instance, bool first);

/*
 * Searches for lost blocks in all processes, or in PID, which is stopped. The probes are still
 * attached, so changes of blocks meanwhile are seen.
 */
int heap_trace_search_images(struct heap_trace *m, uint32_t pid);
