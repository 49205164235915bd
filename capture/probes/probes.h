/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes on the functions of a file, in one process: how the kernel takes them.
 *
 * Three ways, by what the kernel has: entry and return of a function in one session (since 6.13),
 * apart but many at once (since 6.6, with processes told apart), or each as a perf event. Probes
 * belong to one process: others run the same file without them; or to all. They stay over its exec,
 * on files that the new program uses, too; a child of fork needs its own. All of it is done by
 * capture/probes/probe-keeper.h.
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
};

/* Which program belongs where: bpf/memory.bpf.c. */
enum probes_program {
	PROBES_ENTRY,  /* at the entry of what only begins */
	PROBES_CALL,   /* at the entry of what returns something */
	PROBES_RETURN, /* where that returns, by a return probe */
	PROBES_RET,    /* likewise, at each `ret` */
	PROBES_BOTH,   /* CALL and RETURN in one */
	PROBES_PROGRAMS,
};

/* The best way that this kernel has. */
enum probes_way probes_way(void);

/* Whether PROGRAM is used at all. */
bool probes_use(enum probes_way way, enum probes_program program);

/* What PROGRAM is to be loaded for (enum bpf_attach_type); 0 = nothing in particular. */
int probes_attach_type(enum probes_way way, enum probes_program program);

struct probes;

/* Instead of a pid: the probes are in all processes that map the file, now or later. */
enum { PROBES_EVERY_PROCESS = 0 };

struct probes_target {
	enum probes_way way;
	int programs[PROBES_PROGRAMS];        /* descriptors; borrowed */
	pid_t pid;                            /* or PROBES_EVERY_PROCESS */
	int fd;                               /* the file; borrowed */
	const struct allocator_probe *probes; /* in it; borrowed */
	size_t n;
};

/*
 * Attaches. *RET_FAILED says how many of the probes the kernel did not take. Returns 0, or a
 * negative errno if none was taken; -ESRCH: there is no such process any more.
 */
int probes_new(const struct probes_target *target, struct probes **ret, size_t *ret_failed);

/*
 * Attaches to N places of the file FD (borrowed) for no process: no breakpoint is put anywhere.
 * When these probes go, the kernel takes its breakpoints at these places out of all processes,
 * except for those that other probes need; so also those that were left behind. OFFSETS are in
 * order. Returns 0 or a negative errno.
 */
int probes_new_for_nobody(enum probes_way way, int fd, const uint64_t *offsets, size_t n,
			  struct probes **ret);

/*
 * Lets them go at the end of a process: that of a child of its own, which nothing can interrupt
 * (capture/probes/probe-guards.h). Returns NULL.
 */
struct probes *probes_free_by_exit(struct probes *p);

/* When it returns, nothing is left of them in the process. Returns NULL. */
struct probes *probes_free(struct probes *p);

/*
 * Likewise, many: the kernel lets each wait, so it is done side by side. The array stays the
 * caller's.
 */
void probes_free_all(struct probes **list, size_t n);

DEFINE_CLEANUP(struct probes *, probes_free)
