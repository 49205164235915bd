/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The causes of waits, from the evidence in an archive: the kernel functions of the wait's stack,
 * the system call and its object, the state in which the thread left its CPU, and the functions of
 * its program.
 *
 * The table of functions is data: wait-functions.h has one row for each function, with its cause
 * and a rank. The row with the highest rank in the stack decides, and of equal ranks the row of the
 * innermost function. So a page fault (rank 2) that reads from a disk (rank 1) is a page fault,
 * with the disk as its second cause. Suffixes that compilers append (".isra.0", ".part.1",
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
	WAIT_PIPE,     /* data or room in a pipe or FIFO, or room in a terminal */
	WAIT_TERMINAL, /* input from a terminal */
	WAIT_LOCAL,    /* a socket on this machine: Unix, loopback */
	WAIT_REMOTE,   /* a socket to another machine */
	WAIT_SOCKET,   /* a socket whose peer is unknown */
	WAIT_POLL,     /* one of several objects: poll(), select(), epoll_wait() */
	WAIT_SERVER,   /* a program that serves a file system: FUSE */
	/* the kernel and devices */
	WAIT_DISK,        /* a block device */
	WAIT_WRITEBACK,   /* too much data waits to be written to disks, so writers must wait */
	WAIT_FILE_SYSTEM, /* the journal or a lock of a file system, or the server of NFS */
	WAIT_FAULT,       /* a page that is not in memory */
	WAIT_MEMORY,      /* reclaim, compaction, swap, the memory limit of a cgroup */
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

/* The kinds of evidence for a cause, the weakest first. */
enum wait_evidence {
	WAIT_BY_NOTHING,
	WAIT_BY_STATE,        /* the state: I and P mean no work, D means only "the kernel" */
	WAIT_BY_WAKER,        /* no code sets it: the thread or the interrupt that ended the wait */
	WAIT_BY_USER_STACK,   /* a function of the program or its libraries, such as fsync() */
	WAIT_BY_CALL,         /* no code sets it: a recorded system call around the wait */
	WAIT_BY_SYSCALL,      /* the system call and its object, in the `offcpu` record */
	WAIT_BY_KERNEL_STACK, /* a function of the kernel */
	WAIT_BY_FACT,         /* the kernel's own statement: throttled */
	WAIT_EVIDENCES,
};

enum wait_cause_flags {
	/* A wait for work. It counts as a problem only in a span, or in a thread that the user
	 * named. */
	WAIT_IS_IDLE = 1,
	/* A thread of this machine ends the wait: the critical path continues with the waker. */
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
	 * The functions of the stack with which the thread left its CPU, innermost first. A NULL in
	 * the array is a frame without a name.
	 */
	const char *const *kernel;
	size_t n_kernel;
	const char *const *user;
	size_t n_user;
	const char *syscall; /* "futex"; "" = the thread was not in a system call */
	const char *object;  /* of the call: "pipe", "tcp", "unix", "epoll", "file", ... */
	bool is_peer_here;   /* the other end of the socket is on this machine */
	bool has_owner;      /* of the futex */
};

struct wait_verdict {
	enum wait_cause cause;
	enum wait_cause second; /* the cause beneath, such as a fault's disk; or WAIT_UNKNOWN */
	enum wait_evidence evidence;
	const char *function; /* the function that decided, a text of the facts; NULL = none */
	bool estimated;       /* the end of the wait is an estimate */
};

/*
 * Finds the cause of a wait. A futex is a lock if the functions of the program say so, or if it has
 * an owner. Cannot fail: without evidence, the cause is WAIT_UNKNOWN.
 */
struct wait_verdict wait_cause_of(const struct wait_facts *facts);

/*
 * The sources of interrupts that wake threads. wait_source_of() finds them from the kernel stack of
 * the wakeup, or else from the name of the handler or softirq (INTERRUPT; NULL = unknown).
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

/* A row of the table of functions. If NAME ends with '*', it is a prefix. */
struct wait_function {
	const char *name;
	enum wait_cause cause;
	unsigned rank; /* 1 to 7 */
};

/* Finds the row for NAME, which can have a compiler's suffix; NULL = none. */
const struct wait_function *wait_function_find(const char *name);
