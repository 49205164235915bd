/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The split of the time of a thread: by state, by the cause of its waits, and by the threads that
 * had its CPU.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reader/why/cpu-use.h"
#include "reader/why/history.h"
#include "reader/why/wait-cause.h"
#include "reader/why/why-waits.h"

enum { WHY_HOLDERS = 8 /* of a thread; the others are one sum */ };

/*
 * The split of an interval of one thread: running + runnable + blocked + unknown + absent is
 * exactly the interval. The causes of blocked_ns are disjoint.
 */
struct why_times {
	uint64_t total_ns;
	uint64_t running_ns;
	uint64_t interrupted_ns; /* of running_ns: time of interrupts; 0 if not recorded */
	uint64_t reclaim_ns;     /* of running_ns: reclaim, compaction; 0 if not recorded */
	uint64_t runnable_ns;
	uint64_t woken_ns;     /* of runnable_ns: ready after a wakeup, not after a preemption */
	uint64_t throttled_ns; /* of runnable_ns: its cgroup had used up its CPU time */
	uint64_t idle_ns;      /* of runnable_ns: another CPU was idle */
	uint64_t stolen_ns;    /* of runnable_ns: interrupts on its CPU */
	uint32_t cpu;          /* the CPU of the longest segment in which it was ready */
	bool many_cpus;        /* there were parts on other CPUs */
	uint64_t blocked_ns[WAIT_CAUSES];
	/*
	 * Of blocked_ns: waits whose cause is found only by functions of the program or weaker
	 * evidence, or whose end is an estimate.
	 */
	uint64_t weak_ns;
	uint64_t unknown_ns;                   /* losses, pauses, before its first event */
	uint64_t paused_ns;                    /* of unknown_ns: the recording had paused */
	uint64_t absent_ns;                    /* it did not exist */
	struct cpu_share holders[WHY_HOLDERS]; /* while it was runnable; the longest first */
	size_t n_holders;
	uint64_t other_holders_ns;
};

struct why_split {
	const struct history *history; /* borrowed */
	struct why_waits *waits;       /* borrowed */
	bool is_kernel_thread;
	struct cpu_use *use; /* borrowed: room for the computation */
};

/* Adds the time of TID in [FROM_NS, TO_NS) to RET, which is empty. Returns 0 or -ENOMEM. */
int why_split(const struct why_split *s, uint32_t tid, uint64_t from_ns, uint64_t to_ns,
	      struct why_times *ret);

/*
 * Finds the CPU that was idle longest while TID was ready on another CPU, in [FROM_NS, TO_NS).
 * *RET_NS is the time; 0 = no CPU was idle, or the budget of the CPU use is used up. Returns 0 or
 * -ENOMEM.
 */
int why_split_idle_cpu(const struct why_split *s, uint32_t tid, uint64_t from_ns, uint64_t to_ns,
		       uint32_t *ret_cpu, uint64_t *ret_ns);

/*
 * Sets the holders of T from SHARES (koid + 1 -> struct cpu_share): the longest ones, and the sum
 * of the rest. Returns 0 or -ENOMEM.
 */
int why_split_set_holders(struct why_times *t, const struct table *shares);

/* Adds FROM to TO, without the holders. */
void why_split_add(struct why_times *to, const struct why_times *from);

/* The sum of blocked_ns. */
uint64_t why_split_blocked(const struct why_times *t);

/* The cause with the longest time; WAIT_UNKNOWN if the thread was never blocked. */
enum wait_cause why_split_main_cause(const struct why_times *t);
