/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The load of each CPU over time, for a picture: the time in which known threads ran on the CPU, in
 * bins of equal width. Computed in one pass, from the segments of a summary.
 *
 * The length of a recording is not known before its end. So the bins are narrow at first, and when
 * the time exceeds the last bin, each pair of bins becomes one. A recording of any length takes at
 * most CPU_TIMELINE_BINS bins, which are 4 KiB for each CPU.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "reader/views/summary.h"

enum {
	CPU_TIMELINE_BINS = 512,
	/* CPUs with higher numbers have no bins; n_beyond counts their runs. */
	CPU_TIMELINE_CPUS_MAX = 1 << 14,
	/* Pauses of the recording; pauses beyond this number are not kept. */
	CPU_TIMELINE_PAUSES_MAX = 64,
};

/* The width of a new bin. */
#define CPU_TIMELINE_WIDTH_NS UINT64_C(1000000)

struct cpu_timeline_cpu {
	uint64_t *busy_ns; /* owned: CPU_TIMELINE_BINS bins; NULL = no thread ran on it */
	uint64_t total_ns; /* their sum */
};

struct cpu_timeline {
	uint64_t start_ns; /* begin of the first bin */
	uint64_t width_ns; /* of each bin */
	size_t n_bins;     /* number of bins up to the end; set by cpu_timeline_finish() */
	struct cpu_timeline_cpu *cpus; /* owned; indexed by the number of the CPU */
	size_t n_cpus;
	/* The times in which nothing was recorded, in the order of their ends. */
	struct {
		uint64_t from_ns, to_ns;
	} pauses[CPU_TIMELINE_PAUSES_MAX];
	size_t n_pauses;
	uint64_t n_beyond; /* runs on CPUs beyond CPU_TIMELINE_CPUS_MAX */

	const struct summary *summary; /* borrowed */
	size_t room;
	bool begun;
};

/* Creates a timeline that listens to SUMMARY, which is borrowed. Returns 0 or -ENOMEM. */
int cpu_timeline_new(struct cpu_timeline **ret, struct summary *summary);
struct cpu_timeline *cpu_timeline_free(struct cpu_timeline *t);
DEFINE_CLEANUP(struct cpu_timeline *, cpu_timeline_free)

/* Once, after summary_finish(). */
void cpu_timeline_finish(struct cpu_timeline *t);

/*
 * Returns the share of BIN in which CPU was busy, from 0 to 1. The last bin counts only up to the
 * end of the recording.
 */
double cpu_timeline_share(const struct cpu_timeline *t, size_t cpu, size_t bin);
