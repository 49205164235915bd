/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes on the functions of a file: the interface to the kernel.
 *
 * There are three ways, and the kernel decides which one is used: a uprobe session, whose probe
 * handles entry and return (since 6.13); multi-uprobe links, with separate probes for entry and
 * return (since 6.6, if the kernel filters them by process); or a perf event for each probe. Probes
 * apply to all processes, or to one process: then other processes run the same file without them.
 * After exec, the probes stay on the files that the new program uses, too. A child of fork needs
 * its own probes. capture/probes/probe-attacher.h makes all of these calls.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "capture/probes/allocators.h"

enum probes_way {
	PROBES_PERF,
	PROBES_MULTI,
	PROBES_SESSION,
	/*
	 * These probes have no programs and are for one thread. The probes keep the breakpoints of
	 * other probes in the thread's process. Without them, the kernel would remove those
	 * breakpoints when the main thread has ended and any probe at the same place is removed,
	 * since it compares the memory of the main thread. The programs of the other probes still
	 * run for all threads.
	 */
	PROBES_HOLD,
};

/* The program of each kind of probe (bpf/memory.bpf.c). */
enum probes_program {
	PROBES_ENTRY,  /* at the entry of functions whose result is not needed */
	PROBES_CALL,   /* at the entry of functions whose result is needed */
	PROBES_RETURN, /* at their return, by a return probe */
	PROBES_RET,    /* at their return, at each `ret` */
	PROBES_BOTH,   /* PROBES_CALL and PROBES_RETURN in one */
	PROBES_PROGRAMS,
};

/* Returns the best way that this kernel supports. */
enum probes_way probes_way(void);

/* Returns true if WAY uses PROGRAM. */
bool probes_use(enum probes_way way, enum probes_program program);

/* Returns the attach type of PROGRAM (enum bpf_attach_type); 0 = no special type. */
int probes_attach_type(enum probes_way way, enum probes_program program);

struct probes;

/* This value instead of a pid means all processes that map the file, now or later. */
enum { PROBES_EVERY_PROCESS = 0 };

struct probes_target {
	enum probes_way way;
	int programs[PROBES_PROGRAMS]; /* descriptors; borrowed */
	/* A process or PROBES_EVERY_PROCESS; any thread with PROBES_PERF and PROBES_HOLD. */
	pid_t pid;
	int fd;                               /* the file; borrowed */
	const struct allocator_probe *probes; /* probes in the file; borrowed */
	size_t n;
};

/* The probes that the kernel has refused. */
struct probes_failed {
	size_t n;
	uint32_t functions; /* bits: their functions, if these are below 32 (MEMORY_FN_*) */
};

/*
 * Attaches the probes. Returns 0, or a negative errno if all were refused; -ESRCH if the process no
 * longer exists.
 */
int probes_new(const struct probes_target *target, struct probes **ret,
	       struct probes_failed *ret_failed);

/*
 * Returns true if P was not attached at the first attempt. In this case, the kernel can have
 * removed probes at the same places.
 */
bool probes_were_retried(const struct probes *p);

/*
 * Attaches probes to N places of the file FD (borrowed). They belong to no process and insert no
 * breakpoints. When they are removed, the kernel removes the breakpoints at these places from all
 * processes. It removes abandoned breakpoints, too, but keeps those that other probes need. OFFSETS
 * are sorted. SEMAPHORES has the semaphore of each place or 0, and can be NULL. The kernel refuses
 * a probe if another probe at the same place has a different semaphore. Returns 0 or a negative
 * errno.
 */
int probes_new_for_nobody(enum probes_way way, int fd, const uint64_t *offsets,
			  const uint64_t *semaphores, size_t n, struct probes **ret);

/*
 * The probes are removed from the process when this function returns. Their descriptors are closed
 * at the end of a child process, because a signal can interrupt any other removal
 * (docs/architecture/probes.md, "Data without an inode"). Returns NULL.
 */
struct probes *probes_free(struct probes *p);

/*
 * Frees the N elements of LIST like probes_free(), and changes their order. Each close waits in the
 * kernel, so up to 16 children close probes in parallel. The caller keeps the array.
 */
void probes_free_all(struct probes **list, size_t n);

/* Ends this process, and removes all probes that it has open. Does not return. */
void probes_end_process(void) __attribute__((noreturn));

DEFINE_CLEANUP(struct probes *, probes_free)
