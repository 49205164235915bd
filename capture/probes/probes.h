/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes on the functions of a file: the interface to the kernel.
 *
 * There are three ways, depending on the kernel: entry and return of a function in one session
 * (since 6.13), separately but many at once (since 6.6, limited to processes), or each as a perf
 * event. Probes belong to one process, and other processes run the same file without them; or they
 * belong to all processes. They persist across exec, on files that the new program uses, too. A
 * child of fork needs its own probes. capture/probes/probe-attacher.h makes all of these calls.
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
	 * Without programs, for one thread. They keep the breakpoints of links in the thread's
	 * process. Otherwise, the kernel removes these when the main thread has ended and any probe
	 * at the same place is removed, since it compares the memory of the main thread. The
	 * programs still run for all threads.
	 */
	PROBES_HOLD,
};

/* The program for each kind: bpf/memory.bpf.c. */
enum probes_program {
	PROBES_ENTRY,  /* at the entry of functions whose result is not needed */
	PROBES_CALL,   /* at the entry of functions whose result is needed */
	PROBES_RETURN, /* at their return, by a return probe */
	PROBES_RET,    /* at their return, at each `ret` */
	PROBES_BOTH,   /* CALL and RETURN in one */
	PROBES_PROGRAMS,
};

/* The best way that this kernel supports. */
enum probes_way probes_way(void);

/* Whether WAY uses PROGRAM. */
bool probes_use(enum probes_way way, enum probes_program program);

/* The attach type of PROGRAM (enum bpf_attach_type); 0 = none. */
int probes_attach_type(enum probes_way way, enum probes_program program);

struct probes;

/* Instead of a pid: all processes that map the file, now or later. */
enum { PROBES_EVERY_PROCESS = 0 };

struct probes_target {
	enum probes_way way;
	int programs[PROBES_PROGRAMS]; /* descriptors; borrowed */
	pid_t pid; /* or PROBES_EVERY_PROCESS; PROBES_PERF and PROBES_HOLD: any thread */
	int fd;    /* the file; borrowed */
	const struct allocator_probe *probes; /* probes in the file; borrowed */
	size_t n;
};

/*
 * Attaches the probes. *RET_FAILED is the number of probes that the kernel refused. Returns 0, or a
 * negative errno if all were refused; -ESRCH if the process no longer exists.
 */
int probes_new(const struct probes_target *target, struct probes **ret, size_t *ret_failed);

/*
 * Attaches to N places of the file FD (borrowed) for no process, without inserting breakpoints.
 * When these probes are removed, the kernel removes the breakpoints at these places from all
 * processes, including abandoned ones, except for those that other probes need. OFFSETS are sorted.
 * SEMAPHORES has the semaphore of each place or 0, and can be NULL. The kernel refuses a semaphore
 * that differs from that of another probe at the same place. Returns 0 or a negative errno.
 */
int probes_new_for_nobody(enum probes_way way, int fd, const uint64_t *offsets,
			  const uint64_t *semaphores, size_t n, struct probes **ret);

/*
 * Closes the probes at the end of a separate child process, which cannot be interrupted
 * (capture/probes/probe-guards.h). Returns NULL.
 */
struct probes *probes_free_by_exit(struct probes *p);

/* The probes are removed from the process when it returns. Returns NULL. */
struct probes *probes_free(struct probes *p);

/*
 * The same for many probes. Each close waits in the kernel, so they are closed in parallel. The
 * caller keeps the array.
 */
void probes_free_all(struct probes **list, size_t n);

DEFINE_CLEANUP(struct probes *, probes_free)
