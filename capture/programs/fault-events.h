/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The perf events of page faults, major and minor, on each CPU that is online, with one eBPF
 * program for both kinds. perf has no event of this kind for all CPUs.
 */
#pragma once

#include <bpf/libbpf.h>

#include <stdbool.h>

#include "base/cleanup.h"

struct fault_events;

/*
 * Attaches PROG, which counts its runs in the per-CPU map RUNS_FD. N_CPUS: number of possible CPUs.
 * Returns 0 or a negative errno.
 */
int fault_events_new(int prog_fd, int runs_fd, unsigned n_cpus, struct fault_events **ret);
struct fault_events *fault_events_free(struct fault_events *f);
DEFINE_CLEANUP(struct fault_events *, fault_events_free)

/* ONLINE[cpu]: true = the CPU is online. Events of CPUs that went offline are closed. */
void fault_events_set_online(struct fault_events *f, const bool *online);

/*
 * Stops the events. The eBPF program may still run until the caller has waited for all eBPF
 * programs.
 */
void fault_events_stop(struct fault_events *f);

/*
 * After fault_events_stop() and the wait: the minimum number of page faults for which the kernel
 * has not run the eBPF program. Whenever a CPU could get no events, or its number of events could
 * not be read, the number of missing faults is unknown, and counts as one.
 */
uint64_t fault_events_skipped(const struct fault_events *f);
