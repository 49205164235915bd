/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Verdicts: one sentence that says why a thread was slow in an interval, from its split and its
 * critical path, with the thread to look at and a remedy (docs/architecture/why.md).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reader/views/summary.h"
#include "reader/why/why-faults.h"
#include "reader/why/why-path.h"
#include "reader/why/why-requests.h"
#include "reader/why/why-split.h"

/* The kinds of verdicts. Each has one sentence and one remedy (why-verdict.c). */
enum why_verdict_kind {
	WHY_NOTHING,    /* nothing dominates */
	WHY_RUNS,       /* it used its CPU */
	WHY_CPU_TAKEN,  /* others had the CPU */
	WHY_CPU_IDLE,   /* a CPU was idle meanwhile */
	WHY_INTERRUPTS, /* interrupts had the CPU */
	WHY_CPU_STOLEN, /* its CPU ran no other thread, and no interrupt is known */
	WHY_QUOTA,      /* throttled */
	WHY_LOCK_HELD,  /* the lock's owner worked */
	WHY_INVERSION,  /* the owner of the lock was ready, but a third thread had its CPU */
	WHY_LOCK_OPEN,  /* a wait for a lock that has not ended */
	WHY_DEADLOCK,   /* threads wait for each other's locks until the recording ends */
	WHY_SLOW_DISK,
	WHY_JOURNAL, /* fsync() and similar */
	WHY_FAULTS,
	WHY_MEMORY_LIMIT,
	WHY_REMOTE,  /* another machine answered late */
	WHY_PROGRAM, /* another program of this machine answered late */
	WHY_CHILD,
	WHY_SLEEP,      /* it chose to wait */
	WHY_HELD_BACK,  /* stopped, frozen, traced */
	WHY_IDLE,       /* it had no work */
	WHY_TOO_LITTLE, /* the archive has too little: the sentence says what to record */
	WHY_VERDICTS,
};

extern const char *const why_verdict_keys[WHY_VERDICTS];

enum why_certainty {
	WHY_CERTAIN,  /* facts of the kernel */
	WHY_PROBABLE, /* a part of the evidence is indirect, or 1 to 10 % of the time is unknown */
	WHY_POSSIBLE, /* more is unknown */
	WHY_CERTAINTIES,
};

extern const char *const why_certainty_keys[WHY_CERTAINTIES];

struct why_verdict {
	enum why_verdict_kind kind;
	enum why_certainty certainty;
	uint64_t ns;      /* of the instance that it explains */
	uint32_t culprit; /* the thread to look at; koid; 0 = none */
	uint32_t victim;  /* the thread that suffers: the instance's */
	char *text;       /* owned: one sentence */
	char *remedy;     /* owned: one sentence in the imperative; NULL = none */
};

void why_verdict_deinit(struct why_verdict *v);

struct why_wait;

/* An interval of a thread, with all facts for its verdict. */
struct why_case {
	uint32_t tid;
	uint64_t from_ns, to_ns;
	bool open; /* the interval lasts until the end of the recording */
	const struct why_times *times;
	const struct path *path;
	uint32_t idle_cpu;    /* the other CPU that was idle longest while the thread was ready */
	uint64_t idle_cpu_ns; /* 0 = it is not known */
	uint32_t waker;       /* of WHY_INSTANCE_WAIT: the thread that ended it; 0 = no thread */
	const struct why_wait *quota; /* a time for which the thread was throttled; NULL = none */
	const struct why_disk *disk;  /* the disk of its requests; NULL = none, or not recorded */
	const struct why_faults_sum *faults; /* major page faults; NULL = likewise */
	uint32_t faults_tid;                 /* their thread: `tid`, or one for which it waited */
	bool is_fault;                       /* its wait was in a page fault, the one in `faults` */
	uint32_t owner;                /* of the lock in its longest wait; koid; 0 = unknown */
	uint64_t lock;                 /* its address */
	uint32_t next_owner;           /* of the lock for which `owner` waits; koid; 0 = unknown */
	unsigned n_deadlocked;         /* threads in a circle of locks with it; 0 = none */
	const char *function;          /* the function in which it waited longest; NULL = unknown */
	bool has_waits;                /* the archive has details of waits */
	bool has_interrupts;           /* ... and interrupts */
	const struct summary *summary; /* for names */
};

/* Judges. Returns 0 or -ENOMEM. */
int why_verdict_make(const struct why_case *c, struct why_verdict *ret);

/* Prints the name of a thread: "redis-server (4242)". No name needs more than WHY_NAME_MAX
 * bytes. */
enum { WHY_NAME_MAX = 320 };
const char *why_thread_name(const struct summary *s, uint32_t tid, char to[static WHY_NAME_MAX]);
