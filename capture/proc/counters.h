/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of the whole machine, from the kernel's files: memory, load, pressure, and the
 * frequencies of CPUs. The files are opened once and read at each sample; missing files are left
 * out. docs/FXT-MAPPING.md lists the counters.
 */
#pragma once

#include <stdint.h>

#include "base/cleanup.h"
#include "bpf/record.h"
#include "capture/proc/proc-records.h"

struct counters;

/*
 * Receives each group of sampled values. Returns 0, or a negative errno, after which no more groups
 * follow.
 */
typedef int (*counters_fn)(const struct rec_counters *rec, void *userdata);

/*
 * Opens the existing files below ROOT ("" for this machine) for N_CPUS CPUs. Returns 0 or -ENOMEM.
 */
int counters_new(const char *root, unsigned n_cpus, struct counters **ret);
struct counters *counters_free(struct counters *c);
DEFINE_CLEANUP(struct counters *, counters_free)

/* Reads all counters at NOW_NS. Returns 0 or the result of FN that ended the sample. */
int counters_sample(struct counters *c, uint64_t now_ns, counters_fn fn, void *userdata);
