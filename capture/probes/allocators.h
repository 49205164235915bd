/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions of a program's files allocate memory or make threads, and at which instructions
 * probes belong to see them called: from the symbols of the ELF file and the first bytes of each
 * function. What is read is somebody else's file, so a process with rights to lose asks
 * allocators_find_sandboxed().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/record.h"

enum {
	ALLOCATOR_PROBES_MAX = 1024, /* in one file */
	ALLOCATOR_NAME_MAX = 64,     /* bytes of a symbol's name, the NUL included; cut beyond */
};

/*
 * How a probe is to be placed. A function has one of these forms:
 *
 *  - ENTRY alone: only the call is of interest (free, operator delete, operator new of libstdc++)
 *  - SESSION: call and result; an entry probe and a return probe, both at that offset
 *  - ENTRY, and one RET or more: call and result of a function that an exception, a cancelled
 *    thread or the like may leave. A return probe puts its trampoline in the place of the return
 *    address and the unwinder stops there: the program would abort. So the result is taken where
 *    the function returns: a plain entry probe on each `ret`. There the result is in the register
 *    of results and the stack pointer is what it was at the entry. A tail call may lead to the
 *    `ret` of a function that others call, too: a RET counts only if the stack pointer is that
 *    which the outermost call was entered with, and its `function` is but one of those that lead
 *    there.
 *
 * At all of these offsets, stack pointer and arguments are as at the entry (RET: the stack
 * pointer). Except on x86-64 there is no RET, and ENTRY and SESSION are the first instruction.
 */
enum allocator_probe_kind {
	ALLOCATOR_PROBE_ENTRY,
	ALLOCATOR_PROBE_SESSION,
	ALLOCATOR_PROBE_RET,
	_ALLOCATOR_PROBE_KINDS,
};

struct allocator_probe {
	uint64_t offset;               /* of the instruction, in the file */
	uint32_t function;             /* MEMORY_FN_*: the probe's cookie */
	uint32_t kind;                 /* enum allocator_probe_kind */
	char name[ALLOCATOR_NAME_MAX]; /* of the function, as in the symbol table */
};

/* What else is to be said about the file. */
#define ALLOCATORS_GO         (1U << 0) /* built by Go: its stacks move, so none of it is probed */
#define ALLOCATORS_NO_SYMBOLS (1U << 1) /* no table of symbols: what it has cannot be known */
#define ALLOCATORS_STATIC     (1U << 2) /* a program that needs no dynamic linker */
/* For another machine, as 32-bit programs: none is probed */
#define ALLOCATORS_FOREIGN (1U << 3)
#define ALLOCATORS_PARTIAL                                                                         \
	(1U << 4)                 /* where an operator new returns was not found: it is left out */
#define ALLOCATORS_FULL (1U << 5) /* more than ALLOCATOR_PROBES_MAX: the rest is left out */
#define ALLOCATORS_ALL  ((1U << 6) - 1)

struct allocator_list {
	struct allocator_probe *probes; /* owned; by offset and kind: no two are the same */
	size_t n;
	uint32_t flags; /* ALLOCATORS_* */
};

void allocator_list_deinit(struct allocator_list *l);

/*
 * False if it cannot be of a file of that size, or is no list at all: it is somebody else's word.
 */
bool allocator_list_is_valid(const struct allocator_list *l, uint64_t file_bytes);

/*
 * Finds out what the N bytes at DATA have, which are an ELF file. Most files have nothing. Returns
 * 0, -ENOEXEC (no ELF file of a program or library), -EBADMSG (damaged), or -ENOMEM; *RET is set
 * only on success and is the caller's.
 */
int allocators_find_in(const void *data, size_t n, struct allocator_list *ret);

/* The same of the file that FD refers to (borrowed), which nobody may change meanwhile. */
int allocators_find(int fd, struct allocator_list *ret);

/*
 * The same in a process of its own which has no rights, can open nothing, and is killed when it
 * takes longer than TIMEOUT_NS; what it says is checked. -EBADMSG and -ETIME say that it died or
 * was too slow.
 */
int allocators_find_sandboxed(int fd, uint64_t timeout_ns, struct allocator_list *ret);

#define ALLOCATORS_NS_MAX (UINT64_C(10) * 1000000000) /* the timeout for those who have no other */

/* One file of a process. All is borrowed and valid during the call. */
struct allocator_file {
	dev_t device; /* as stat() says */
	ino_t inode;
	int fd;           /* open for reading; -1 if that failed */
	const char *path; /* as the process sees it, for people; may end with " (deleted)" */
	const struct allocator_list *list;
	int error; /* negative: it could not be read (allocators_find()); the list is empty then */
};

/* Zero goes on, all else is returned by allocators_of_process(). */
typedef int (*allocators_file_fn)(const struct allocator_file *file, void *userdata);

struct allocator_cache;

/*
 * Calls FN for each file of which the process has executable mappings, once each; also for those
 * that have nothing. They are opened through /proc/PID, so that deleted ones, and those of another
 * mount namespace, are the right ones. CACHE may be NULL. Returns 0 or what FN returned; of a
 * process that has ended or is hidden from us there is nothing.
 */
int allocators_of_process(pid_t pid, struct allocator_cache *cache, allocators_file_fn fn,
			  void *userdata);
