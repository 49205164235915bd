/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The details of waits, from the times off CPU in an archive and their stacks.
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

enum { WHY_WAITS_MAX = 1 << 20 /* waits with details; later ones are dropped */ };

/* A wait of a thread. */
struct why_wait {
	uint32_t tid, pid;
	uint64_t from_ns, to_ns; /* it left its CPU; it ran again */
	bool open;               /* the thread still waits at to_ns, the end of the recording */
	bool earlier;            /* it waited before from_ns */
	bool estimated;          /* to_ns is an estimate */
	char letter;             /* its state */
	int32_t fd;              /* the descriptor on which the system call waits; -1 = none */
	uint64_t woken_ns;       /* blocked until then, then ready; 0 = unknown */
	uint32_t waker_tid;      /* koid; 0 = an interrupt, or unknown */
	uint32_t waker_node;     /* the stack of the waker, a node of the profile; 0 = none */
	bool throttled;          /* not a wait: the thread's cgroup had used up its CPU time */
	size_t throttled_before; /* index + 1 of the thread's previous throttled time; 0 = none */
	uint64_t quota_ns, period_ns; /* quota_ns of CPU time in each period_ns */
	const char *cgroup;           /* its path; in `texts`; NULL = unknown */
	const char *context;          /* of the wakeup: "interrupt", "softirq"; or NULL */
	bool fills;          /* woken_ns is used: the scheduling record of the wakeup is missing */
	uint64_t address;    /* the futex of the system call; 0 = none */
	uint32_t owner_tid;  /* owner of the lock when the wait began; koid; 0 = unknown */
	const char *syscall; /* the system call of the wait; in `texts`; NULL = none, or unknown */
	uint32_t node;       /* stack with which it left its CPU, a profile node; 0 = none */
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
	struct table index;     /* hash of thread and begin -> index + 1 of the wait */
	struct table throttled; /* tid -> index + 1 of its last throttled time */
	struct table wakers;    /* hash of process and stack id -> node of the stack */
	struct table pending;   /* tid -> index + 1 of the wait whose stack is the next event */
	struct table judged;    /* node and state -> struct why_stack, owned; for why-waits.c */
	struct text_set texts;
};

/* A struct with only zeroes and the borrowed pointers is empty. */
void why_waits_deinit(struct why_waits *w);

/* Adds EV, if it is a wait or a stack. The profile must have taken EV before. Returns 0 or
 * -ENOMEM. */
int why_waits_add(struct why_waits *w, const struct event *ev);

/* Forgets the waits that ended before BEFORE_NS. Returns 0 or -ENOMEM. */
int why_waits_forget(struct why_waits *w, uint64_t before_ns);

/* The details of the wait of TID that began at FROM_NS; NULL = none. */
struct why_wait *why_waits_find(const struct why_waits *w, uint32_t tid, uint64_t from_ns);

/* The throttled time of TID that overlaps longest with FROM_NS..TO_NS; NULL = none. */
const struct why_wait *why_waits_throttled(const struct why_waits *w, uint32_t tid,
					   uint64_t from_ns, uint64_t to_ns);

/*
 * Finds the cause of the wait of SEGMENT, which need not have details. Returns 0 or -ENOMEM.
 */
int why_waits_judge(struct why_waits *w, const struct thread_segment *segment,
		    bool is_kernel_thread, struct wait_verdict *ret);
