/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes on the allocators of a process, by file, and the reasons for files without probes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/outbuf.h"
#include "capture/heap/heap-records.h"
#include "capture/probes/allocator-cache.h"
#include "capture/programs/collector.h"
#include "capture/heap/heap-tables.h"
#include "capture/options/options.h"
#include "capture/probes/probe-attacher.h"
#include "capture/probes/probe-removals.h"

enum {
	HEAP_PROBES_FILES_MAX = 64,  /* maximum number of files with probes in one process */
	HEAP_PROBES_HOLDERS_MAX = 8, /* maximum number of successive holders in one attempt */
};

/* A file with probes in a process. */
struct heap_probes_file {
	dev_t device;
	ino_t inode;
	uint32_t probes; /* id of the file's probes in the attacher */
	/* Id of the holder's probes, which keep `probes` in place; 0 = no such probes. */
	uint32_t held;
	pid_t holder;      /* thread that the probes belong to; 0 = the main thread */
	bool is_mapped;    /* mapped at the last check */
	bool is_refused;   /* the kernel has refused some of the probes */
	uint32_t missing;  /* bits 1 << MEMORY_FN_*: functions whose probes were refused */
	bool allocates;    /* one of the probed functions returns blocks */
	uint64_t since_ns; /* time at which all probes were in place, CLOCK_BOOTTIME */
	char text[MEMORY_TEXT_BYTES / 2];
};

/* The reason if no file of the process has another problem. */
#define HEAP_PROBES_NO_ALLOCATOR "none of its files has a known allocator"

/* The result of a check of files. */
struct heap_probes_found {
	bool any;           /* the process has files; otherwise it had ended, or was hidden */
	bool allocates;     /* one of the files is an allocator with probes */
	uint32_t missing;   /* functions without all of their probes, in any file */
	uint64_t since_ns;  /* time at which the last allocator got its probes, CLOCK_BOOTTIME */
	uint64_t mapped_ns; /* files with new probes were mapped after this time, CLOCK_BOOTTIME */
	bool is_static;     /* the program loads no libraries */
	/* Why no file is an allocator with probes; unused if `allocates`. */
	char why[MEMORY_REASON_BYTES];
};

struct heap_probes {
	uint32_t pid;
	uint32_t instance; /* 0 = the process is not watched yet */
	struct heap_probes_file files[HEAP_PROBES_FILES_MAX];
	size_t n_files;
	/* Result of the last check of the process's files. */
	struct heap_probes_found found;
	struct heap_probes_found announced;     /* result for the files that a client announced */
	char announced_text[MEMORY_TEXT_BYTES]; /* heap_probes_describe() of the announced files */
	char refused[128];                      /* a file without probes, and the reason; or "" */
	pid_t holder; /* capture/heap/probe-holder.h; 0 = the main thread is running */
	/* A time at which the holder had not ended, CLOCK_BOOTTIME; 0 = unknown. */
	uint64_t held_ns;
	/* Some probes have had no holder since this time, CLOCK_BOOTTIME; 0 = all have one. */
	uint64_t unheld_ns;
	bool has_gap;      /* some of its probes were not in place all the time */
	unsigned n_checks; /* number of checks since exec */
	/* Begin of the last full check, CLOCK_BOOTTIME; 0 = no full check yet. */
	uint64_t checked_ns;
	/*
	 * Begin of the last check that has seen all mappings, even if it left out files,
	 * CLOCK_BOOTTIME.
	 */
	uint64_t examined_ns;
	/* Time of a mapping since the last check, CLOCK_BOOTTIME; 0 = unknown. */
	uint64_t mapped_ns;
	/*
	 * Files that partial checks missed were mapped after this time, CLOCK_BOOTTIME; 0 = no such
	 * files.
	 */
	uint64_t missed_ns;
	/* Start time of the process, as reported at HAPPENED_NS; 0 = not reported yet. */
	uint64_t start_ns;
	uint64_t happened_ns;
	/* Start time of the program, if an exec was reported at HAPPENED_NS; otherwise 0. */
	uint64_t exec_ns;
	/* The process existed when the recording began, and has not called exec. */
	bool from_start;
	uint64_t next_check_ns; /* time of the next check, CLOCK_MONOTONIC; 0 = no check is due */
};

/* The means to attach probes; all borrowed. */
struct heap_probes_args {
	const struct session_options *options;
	const struct collector_memory *own; /* the eBPF programs */
	struct allocator_cache *cache;
	const struct memory_sink *sink; /* can cancel the operation */
	struct probe_attacher *attacher;
	struct probe_removals *removals; /* NULL = removals are unknown */
};

/*
 * Returns true if no further slow steps may begin. A check reads all files of a process, and there
 * can be many.
 */
bool heap_probes_are_cancelled(const struct heap_probes_args *how);

/*
 * Attaches probes to files without probes. Returns the number of new files whose probes report
 * resources. (Others only identify callers.) If the main thread has ended, the probes get a holder.
 * If the check ends before all probes belong to the holder, calls can be missed (`unheld_ns`).
 */
unsigned heap_probes_check(struct heap_probes *a, const struct heap_probes_args *how);

/* Returns true if the thread that the probes belong to has ended, or is ending. */
bool heap_probes_has_lost_holder(const struct heap_probes *a);

/* Returns true if, likewise, the thread of the probes is lost, and another thread is running. */
bool heap_probes_lack_holder(const struct heap_probes *a);

/* Describes files and reasons in a text for people, cut to SIZE. */
void heap_probes_describe(const struct heap_probes *a, char *text, size_t size);

/* Detaches all probes and discards the results, since the process belongs to another user now. */
void heap_probes_strip(struct heap_probes *a, const struct heap_probes_args *how);

/*
 * Frees A, and appends the ids of its probes to GOING, so that they are detached together. If there
 * is no memory for the ids, the probes are detached at once.
 */
void heap_probes_free(struct heap_probes *a, const struct heap_probes_args *how,
		      struct outbuf *going);
