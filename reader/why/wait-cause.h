/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The causes of waits, from the evidence in an archive: the functions of its kernel stack, the
 * system call and its object, the state at its departure, and the functions of its program.
 *
 * The table of functions is data: wait-functions.h has one row for each function, with its cause
 * and a rank. From the innermost frame outwards, the row with the highest rank decides, and of
 * equal ranks the innermost one. So a page fault (rank 2) that reads from a disk (rank 1) is a page
 * fault, with the disk as its second cause. Suffixes that compilers append (".isra.0", ".part.1",
 * ".constprop.0", ".cold") do not count.
 *
 * Weaker evidence never overrides stronger evidence: see enum wait_evidence.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wait_cause {
	WAIT_UNKNOWN,
	/* of the program's own making */
	WAIT_LOCK,      /* a lock of the program: a futex that has an owner */
	WAIT_CONDITION, /* a condition variable, a semaphore, a barrier: a futex without an owner */
	WAIT_JOIN,      /* the end of a thread */
	WAIT_CHILD,     /* the end of a child, or its exec after vfork() */
	WAIT_TIMER,     /* a time that the thread has chosen: sleep() */
	WAIT_SIGNAL,    /* a signal: pause(), sigwait() */
	WAIT_FILE_LOCK, /* flock(), fcntl() */
	/* other programs and machines */
	WAIT_PIPE,     /* data or room in a pipe or FIFO, room in a terminal */
	WAIT_TERMINAL, /* input from a terminal */
	WAIT_LOCAL,    /* a socket on this machine: Unix, loopback */
	WAIT_REMOTE,   /* a socket to another machine */
	WAIT_SOCKET,   /* a socket whose peer is unknown */
	WAIT_POLL,     /* one of several objects: poll(), select(), epoll_wait() */
	WAIT_SERVER,   /* a program that serves a file system: FUSE */
	/* the kernel and devices */
	WAIT_DISK,        /* a block device */
	WAIT_WRITEBACK,   /* too much data is to be written to disks */
	WAIT_FILE_SYSTEM, /* the journal or a lock of a file system, the server of NFS */
	WAIT_FAULT,       /* a page that is not in memory */
	WAIT_MEMORY,      /* reclaim, compaction, the memory limit of its cgroup, swap */
	WAIT_KERNEL_LOCK, /* a mutex or semaphore of the kernel, such as mmap_lock */
	WAIT_KERNEL,      /* another part of the kernel: RCU, stop_machine, a work item */
	WAIT_DEVICE,      /* another device */
	/* control of the thread */
	WAIT_THROTTLED, /* its cgroup has used up its quota of CPU time */
	WAIT_FROZEN,    /* the freezer of its cgroup, or suspend */
	WAIT_STOPPED,   /* SIGSTOP */
	WAIT_TRACED,    /* a debugger */
	WAIT_SECCOMP,   /* the supervisor of its system calls */
	/* nothing to do */
	WAIT_WORK, /* a kernel thread without work */
	WAIT_CAUSES,
};

/* The reason why a cause is believed, the weakest first. */
enum wait_evidence {
	WAIT_BY_NOTHING,
	WAIT_BY_STATE,        /* the letter: T, t, I; D is only "the kernel" */
	WAIT_BY_WAKER,        /* what has ended it: the waker, or the interrupt's name */
	WAIT_BY_USER_STACK,   /* a function of the program or its libraries, such as fsync() */
	WAIT_BY_CALL,         /* an event `calls` of a system call around it */
	WAIT_BY_SYSCALL,      /* the system call and object that `offcpu` has */
	WAIT_BY_KERNEL_STACK, /* a function of the kernel */
	WAIT_BY_FACT,         /* the kernel's own statement: throttled */
	WAIT_EVIDENCES,
};

enum wait_cause_flags {
	/* A wait for work: it counts as a problem only in a span, or in a thread, that was asked
	 * for by name. */
	WAIT_IS_IDLE = 1,
	/* Its end depends on a thread of this machine: the waker continues the critical path. */
	WAIT_HAS_WAKER = 2,
};

struct wait_cause_row {
	const char *key;   /* in JSON: "lock" */
	const char *title; /* in text: "a lock of the program" */
	unsigned flags;    /* enum wait_cause_flags */
};

extern const struct wait_cause_row wait_cause_rows[WAIT_CAUSES];

/* The keys of enum wait_evidence in JSON. */
extern const char *const wait_evidence_keys[WAIT_EVIDENCES];

/* The known facts of one wait. All texts are borrowed; NULL = unknown. */
struct wait_facts {
	char letter; /* as sw.state; 0 = unknown */
	bool throttled;
	bool is_kernel_thread;
	/*
	 * The functions of the stack with which it left its CPU, innermost first. NULL in the array
	 * = a frame without a name.
	 */
	const char *const *kernel;
	size_t n_kernel;
	const char *const *user;
	size_t n_user;
	const char *syscall; /* "futex"; "" = it was not in a system call */
	const char *object;  /* the kind of its file: "pipe", "tcp", "unix", "epoll", "file", ... */
	bool is_peer_here;   /* the other end of the socket is on this machine */
	bool has_owner;      /* of the futex */
};

struct wait_verdict {
	enum wait_cause cause;
	enum wait_cause second; /* beneath it: the disk of a page fault; WAIT_UNKNOWN = none */
	enum wait_evidence evidence;
	const char *function; /* the one that has decided; of the facts; NULL = none */
	bool estimated;       /* the end of the wait is an estimate */
};

/*
 * Classifies. A futex is a lock if the functions of the program say so, or if it has an owner.
 * Cannot fail: without evidence, the cause is WAIT_UNKNOWN.
 */
struct wait_verdict wait_cause_of(const struct wait_facts *facts);

/*
 * The sources of interrupts that wake threads, from the kernel stack, or from the name of the
 * handler or softirq (INTERRUPT NULL = unknown).
 */
enum wait_source {
	WAIT_SOURCE_UNKNOWN,
	WAIT_SOURCE_TIMER,
	WAIT_SOURCE_DISK,
	WAIT_SOURCE_NETWORK,
	WAIT_SOURCE_DEVICE,
	WAIT_SOURCE_MEMORY, /* a disk, for memory that is short */
	WAIT_SOURCES,
};

extern const char *const wait_source_keys[WAIT_SOURCES];

enum wait_source wait_source_of(const char *const *kernel, size_t n_kernel, const char *interrupt);

/* A row of the table of functions. A NAME that ends with '*' is a prefix. */
struct wait_function {
	const char *name;
	enum wait_cause cause;
	unsigned rank; /* 1 to 7 */
};

/* The row for NAME, with or without a compiler's suffix; NULL = none. */
const struct wait_function *wait_function_find(const char *name);
