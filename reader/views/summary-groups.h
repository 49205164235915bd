/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sums of a recording by group: by thread, process, systemd unit or container. All of a
 * process's time counts in its last unit and container. In groups by process and by thread, each
 * program of a process is a group of its own.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "reader/views/summary.h"

enum summary_by {
	SUMMARY_BY_THREAD,
	SUMMARY_BY_PROCESS,
	SUMMARY_BY_UNIT,
	SUMMARY_BY_CONTAINER,
	SUMMARY_BY_MAX,
};

extern const char *const summary_by_names[SUMMARY_BY_MAX];

struct summary_group {
	char *name;        /* name of the group, thread or process; "?" = unknown */
	uint32_t pid, tid; /* of the process or thread; 0 = a unit or container */
	uint64_t cpu_ns, runnable_ns, blocked_ns, after_wakeup_ns, until_preempted_ns;
	uint64_t switches, preempted, wakeups;
	uint64_t max_wakeup_latency_ns;
	uint64_t samples;
	uint32_t n_processes, n_threads;
};

struct summary_groups {
	/* The largest CPU time first; then the most samples; then by name. */
	struct summary_group *list;
	size_t n;
};

/* Returns 0 or -ENOMEM. */
int summary_groups_new(const struct summary *s, enum summary_by by, struct summary_groups **ret);
struct summary_groups *summary_groups_free(struct summary_groups *g);
DEFINE_CLEANUP(struct summary_groups *, summary_groups_free)
