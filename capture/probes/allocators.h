/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of a program's files that allocate memory or make threads, and the instructions for
 * their probes. The functions are found by the symbols of the ELF file, and the instructions in the
 * code of each function. The file can belong to another user, so a privileged process calls
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
	ALLOCATOR_NAME_MAX =
		64, /* bytes of a symbol's name with the NUL; longer names are truncated */
};

/*
 * The placement of a probe. A function has one of these sets of probes:
 *
 * - ENTRY alone: only the call is needed (free, operator delete, operator new of libstdc++).
 * - SESSION: call and result; an entry probe and a return probe, both at that offset.
 * - ENTRY, and one RET or more: call and result of a function that an exception or a cancelled
 *   thread can leave. A return probe replaces the return address by its trampoline, at which the
 *   unwinder stops, so the program would abort. So a plain probe on each `ret` records the result,
 *   which is in its register there; the stack pointer has its value of the entry. A tail call can
 *   lead to the `ret` of a function that has other callers. So a RET counts only if the stack
 *   pointer is that of the outermost call's entry, and its `function` is only one of those that
 *   lead there.
 *
 * At all of these offsets, stack pointer and arguments are as at the entry (RET: only the stack
 * pointer). On other machines than x86-64, there is no RET, and ENTRY and SESSION are at the first
 * instruction.
 */
enum allocator_probe_kind {
	ALLOCATOR_PROBE_ENTRY,
	ALLOCATOR_PROBE_SESSION,
	ALLOCATOR_PROBE_RET,
	_ALLOCATOR_PROBE_KINDS,
};

struct allocator_probe {
	uint64_t offset; /* the instruction, as an offset in the file */
	/*
	 * The semaphore of the probe, which the kernel raises, as an offset in the file; 0 = no
	 * semaphore.
	 */
	uint64_t semaphore;
	uint32_t function;             /* MEMORY_FN_*: the probe's cookie */
	uint32_t kind;                 /* enum allocator_probe_kind */
	char name[ALLOCATOR_NAME_MAX]; /* name of the function in the symbol table */
};

/* Other facts about the file. */
#define ALLOCATORS_GO (1U << 0) /* built by Go: its stacks move, so it has no probes */
/* The file has no symbol table, so its functions are unknown. */
#define ALLOCATORS_NO_SYMBOLS (1U << 1)
#define ALLOCATORS_STATIC     (1U << 2) /* a program that needs no dynamic linker */
/* The file is for another machine, or 32-bit, so it has no probes. */
#define ALLOCATORS_FOREIGN (1U << 3)
/* The returns of a function that can throw were not found: its results are not recorded. */
#define ALLOCATORS_PARTIAL (1U << 4)
#define ALLOCATORS_FULL    (1U << 5) /* more than ALLOCATOR_PROBES_MAX: the rest is left out */
/* The functions of the file get all their blocks from allocating functions of another file. */
#define ALLOCATORS_CALLS_OTHER (1U << 6)
#define ALLOCATORS_ALL         ((1U << 7) - 1)

struct allocator_list {
	struct allocator_probe *probes; /* owned; sorted by offset and kind, without duplicates */
	size_t n;
	uint32_t flags; /* ALLOCATORS_* */
};

void allocator_list_deinit(struct allocator_list *l);

/*
 * Returns true if the list is valid for a file of FILE_BYTES. The list comes from an untrusted
 * process.
 */
bool allocator_list_is_valid(const struct allocator_list *l, uint64_t file_bytes);

/*
 * Searches the N bytes at DATA, an ELF file. In most files, no probe is needed. Returns 0, -ENOEXEC
 * (not an ELF program or library), -EBADMSG (damaged), or -ENOMEM; *RET is set only on success, and
 * the caller owns it.
 */
int allocators_find_in(const void *data, size_t n, struct allocator_list *ret);

/* Like allocators_find_in(), for the file FD (borrowed), which must not change during the call. */
int allocators_find(int fd, struct allocator_list *ret);

/*
 * Like allocators_find(), but in a separate process without privileges, which can open no files and
 * is killed after TIMEOUT_NS. The answer of this process is checked. -EBADMSG and -ETIME mean that
 * the process crashed or was too slow. -EBUSY means that another such process hangs at the same
 * file system.
 */
int allocators_find_sandboxed(int fd, uint64_t timeout_ns, struct allocator_list *ret);

#define ALLOCATORS_NS_MAX (UINT64_C(10) * 1000000000) /* the default timeout */

/* One file of a process. All members are borrowed and valid during the call. */
struct allocator_file {
	dev_t device; /* from stat() */
	ino_t inode;
	/*
	 * Device and inode in the list of mappings, as in struct rec_mapping. On btrfs and
	 * overlayfs, they differ from the result of stat(). 0 = the file was not found in a
	 * process.
	 */
	uint64_t mapped_device, mapped_inode;
	int fd;           /* open for reading; -1 after an error */
	const char *path; /* as the process sees it, for people; can end with " (deleted)" */
	const struct allocator_list *list;
	int error; /* negative: the file is unreadable (allocators_find()), and the list is empty */
};

/*
 * If it returns 0, the next file follows; allocators_of_process() ends and returns any other value.
 */
typedef int (*allocators_file_fn)(const struct allocator_file *file, void *userdata);

struct allocator_cache;

/*
 * Calls FN once for each file with executable mappings in the process, also for those without
 * probes. Files are opened through /proc/PID, so that they are correct if they are deleted or in
 * another mount namespace. CACHE can be NULL. Returns 0 or the result of FN. If the process has
 * ended or is hidden, no file is found. Returns -ETIME, -EBUSY, -EUSERS or -EMSGSIZE if not all
 * mappings could be listed (mappings_of_process_bounded()).
 */
int allocators_of_process(pid_t pid, struct allocator_cache *cache, allocators_file_fn fn,
			  void *userdata);
