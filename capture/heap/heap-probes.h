/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process whose allocators have probes, file by file; and which have none, and why.
 */
#pragma once

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
	char text[MEMORY_TEXT_BYTES / 2];
};

struct heap_probes {
	uint32_t pid;
	uint32_t instance; /* 0 = not yet */
	struct heap_probes_file files[HEAP_PROBES_FILES_MAX];
	size_t n_files;
	char refused[128];     /* why there are no probes in a file of it, heap_probes_note(); "" */
	unsigned n_looks;      /* since exec */
	uint64_t next_look_ns; /* CLOCK_MONOTONIC; 0 = none */
};

/* What it takes to set probes in one; all borrowed. */
struct heap_probes_args {
	const struct session_options *options;
	const struct collector_memory *own; /* the programs */
	struct allocator_cache *cache;
	const struct memory_sink *sink; /* calls it off */
	struct probe_keeper *keeper;
};

/*
 * Whether what takes long is not to be begun any more: files are read, and a watched process may
 * have many.
 */
bool heap_probes_are_cancelled(const struct heap_probes_args *how);

/* Attaches to those files of the process that have no probes yet. Returns how many. */
unsigned heap_probes_look(struct heap_probes *a, const struct heap_probes_args *how);

/* WHY is one more reason. */
void heap_probes_note(struct heap_probes *a, const char *why);

/* All of it in a text for people, cut to SIZE. */
void heap_probes_describe(const struct heap_probes *a, char *text, size_t size);

/* It is somebody else's: what was found out about it is forgotten. */
void heap_probes_strip(struct heap_probes *a, const struct heap_probes_args *how);

/* Its probes, ids of HOW's keeper, go behind those in GOING, to be detached together. */
void heap_probes_free(struct heap_probes *a, const struct heap_probes_args *how,
		      struct outbuf *going);
