/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The details of waits: from the times off CPU in an archive, and their stacks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "base/text-set.h"
#include "model/event.h"
#include "reader/views/profile-names.h"
#include "reader/views/summary.h"
#include "reader/views/thread-states.h"
#include "reader/why/wait-cause.h"
#include "reader/why/why-reclaims.h"

enum { WHY_WAITS_MAX = 1 << 20 /* waits with details; of more, the later ones are dropped */ };

/* A wait of a thread. */
struct why_wait {
	uint32_t tid, pid;
	uint64_t from_ns, to_ns; /* it left its CPU; it ran again */
	bool open;               /* it still waits at the end, which is to_ns */
	bool earlier;            /* it waited before from_ns */
	bool estimated;          /* to_ns is an estimate */
	char letter;             /* its state */
	int32_t fd;              /* the descriptor of the call; -1 = none */
	uint64_t woken_ns;       /* blocked until then, then ready; 0 = not known */
	uint32_t waker_tid;      /* koid; 0 = an interrupt, or unknown */
	uint32_t waker_node;     /* of the profile: the stack of the waker; 0 = none */
	bool throttled;          /* it did not wait: its cgroup had used up its CPU time */
	size_t throttled_before; /* number + 1 of the thread's throttled time before; 0 = none */
	uint64_t quota_ns, period_ns; /* the CPU time of this cgroup in each period */
	const char *cgroup;           /* its path; in `texts`; NULL = unknown */
	const char *context;          /* "interrupt", "softirq"; NULL = a thread, or unknown */
	bool fills;          /* woken_ns is used, since the record of the wakeup is missing */
	uint64_t address;    /* the futex of the call; 0 = none */
	uint32_t owner_tid;  /* had the lock when the wait began; koid; 0 = not known */
	const char *syscall; /* in which it left its CPU; in `texts`; NULL = none, or unknown */
	uint32_t node;       /* of the profile: the stack with which it left its CPU; 0 = none */
	struct wait_verdict verdict; /* valid after why_waits_judge() */
	bool judged;
};

struct why_waits {
	struct profile *profile;             /* borrowed */
	const struct profile_names *names;   /* borrowed; can be NULL */
	const struct summary *summary;       /* borrowed: what wakers are */
	const struct why_reclaims *reclaims; /* borrowed; can be NULL */
	struct why_wait *list;               /* owned; in the order of the file */
	size_t n, room;
	uint64_t n_dropped;
	bool kernel_names;      /* a frame of the kernel has a name */
	bool kernel_frames;     /* there is a frame of the kernel */
	struct table index;     /* hash of thread and begin -> number + 1 */
	struct table throttled; /* tid -> number + 1 of its last throttled time */
	struct table wakers;    /* hash of process and id -> node of a stack that has an id */
	struct table pending;   /* tid -> number + 1 of the wait whose stack follows */
	struct table judged;    /* node and state -> struct why_stack, owned; for why-waits.c */
	struct text_set texts;
};

/* All zeroes, but with the borrowed pointers, is an empty one. */
void why_waits_deinit(struct why_waits *w);

/* Takes one event in, which the profile has taken before. Returns 0 or -ENOMEM. */
int why_waits_add(struct why_waits *w, const struct event *ev);

/* Forgets the waits that ended before BEFORE_NS. Returns 0 or -ENOMEM. */
int why_waits_forget(struct why_waits *w, uint64_t before_ns);

/* The details of the wait of TID that began at FROM_NS; NULL = none. */
struct why_wait *why_waits_find(const struct why_waits *w, uint32_t tid, uint64_t from_ns);

/* The time for which TID was throttled of which most is in FROM_NS..TO_NS; NULL = none. */
const struct why_wait *why_waits_throttled(const struct why_waits *w, uint32_t tid,
					   uint64_t from_ns, uint64_t to_ns);

/*
 * Finds the cause of the wait of SEGMENT, also one without details. IS_KERNEL_THREAD says whether
 * the thread is one of the kernel's. Returns 0 or -ENOMEM.
 */
int why_waits_judge(struct why_waits *w, const struct thread_segment *segment,
		    bool is_kernel_thread, struct wait_verdict *ret);
