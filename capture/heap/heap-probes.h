/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes on the allocators of a process, file by file; and the files without probes, with the
 * reasons.
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
#include "capture/probes/probe-keeper.h"

enum { HEAP_PROBES_FILES_MAX = 64 }; /* with probes, in one process */

/* A file with probes in a process. */
struct heap_probes_file {
	dev_t device;
	ino_t inode;
	uint32_t probes; /* the keeper's id */
	uint32_t held;   /* likewise, of those that keep them for the holder; 0 = none */
	pid_t holder;    /* the thread that they belong to; 0 = the first one */
	bool is_mapped;  /* the last look has found it */
	bool is_partial; /* the kernel has refused some */
	bool allocates;  /* among its probes are those of a function that returns blocks */
	char text[MEMORY_TEXT_BYTES / 2];
};

/* The reason if nothing else is wrong with its files. */
#define HEAP_PROBES_NO_ALLOCATOR "none of its files has a known allocator"

/* What a look at files has found. */
struct heap_probes_found {
	bool any;                      /* files: otherwise the process had ended, or was hidden */
	bool allocates;                /* one of them is an allocator that has probes */
	bool is_static;                /* it loads no others */
	char why[MEMORY_REASON_BYTES]; /* the reason, unless one allocates */
};

struct heap_probes {
	uint32_t pid;
	uint32_t instance; /* 0 = not yet */
	struct heap_probes_file files[HEAP_PROBES_FILES_MAX];
	size_t n_files;
	struct heap_probes_found found;         /* in the process, by the last look */
	struct heap_probes_found announced;     /* in the files that its client announced */
	char announced_text[MEMORY_TEXT_BYTES]; /* heap_probes_describe() of those */
	char refused[128]; /* reasons for files without probes, heap_probes_note(); or "" */
	pid_t holder;      /* capture/heap/probe-holder.h; 0 = its first thread continues */
	bool has_gap;      /* some of its probes were not in place all the time */
	unsigned n_looks;  /* since exec */
	uint64_t start_ns; /* of the process, as it was reported at HAPPENED_NS; 0 = not yet */
	uint64_t happened_ns;
	bool from_start;       /* it was there when the recording began, and has not called exec */
	uint64_t next_look_ns; /* CLOCK_MONOTONIC; 0 = none */
};

/* The means to set probes; all borrowed. */
struct heap_probes_args {
	const struct session_options *options;
	const struct collector_memory *own; /* the programs */
	struct allocator_cache *cache;
	const struct memory_sink *sink; /* calls it off */
	struct probe_keeper *keeper;
};

/* Whether no more slow steps should begin: files are read, and a process can have many. */
bool heap_probes_are_cancelled(const struct heap_probes_args *how);

/*
 * Attaches to the files of the process that have no probes yet. Returns their number. If its first
 * thread has ended, the probes get a holder.
 */
unsigned heap_probes_look(struct heap_probes *a, const struct heap_probes_args *how);

/* Whether the thread that the probes belong to has ended, and another one continues. */
bool heap_probes_lack_holder(const struct heap_probes *a);

/* Adds the reason WHY of files without probes. */
void heap_probes_note(struct heap_probes *a, const char *why);

/* Writes everything as text for people, cut to SIZE. */
void heap_probes_describe(const struct heap_probes *a, char *text, size_t size);

/* It belongs to another user now: discards the results about it. */
void heap_probes_strip(struct heap_probes *a, const struct heap_probes_args *how);

/* Appends its probes, ids of HOW's keeper, to GOING, to be detached together. */
void heap_probes_free(struct heap_probes *a, const struct heap_probes_args *how,
		      struct outbuf *going);
