/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The records and maps of allocations and other resources of programs. bpf/record.h includes this
 * file.
 */
#pragma once

/*
 * A watched process has an instance: a new number for each program that the process runs, so that
 * two programs are not mixed up after an exec or the reuse of a pid. All tables have the instance
 * in their keys. Data of an instance that has ended stays in the tables until user space has read
 * it.
 */

/* Functions of allocators. The cookie of a probe is a function, combined with MEMORY_COOKIE_*. */
#define MEMORY_FN_MALLOC         1
#define MEMORY_FN_CALLOC         2
#define MEMORY_FN_REALLOC        3
#define MEMORY_FN_REALLOCARRAY   4
#define MEMORY_FN_FREE           5 /* free() and cfree() */
#define MEMORY_FN_POSIX_MEMALIGN 6
#define MEMORY_FN_ALIGNED_ALLOC  7 /* arguments: alignment, size */
#define MEMORY_FN_MEMALIGN       8
#define MEMORY_FN_VALLOC         9
#define MEMORY_FN_PVALLOC        10
#define MEMORY_FN_NEW            11 /* any operator new that calls malloc(); saves its caller */
/* An operator new that an allocator implements without malloc(). */
#define MEMORY_FN_NEW_DIRECT    12
#define MEMORY_FN_DELETE_DIRECT 13
#define MEMORY_FN_MALLOCX       14
#define MEMORY_FN_RALLOCX       15
#define MEMORY_FN_DALLOCX       16 /* sdallocx(), too */
/* Of mimalloc: like the functions from MEMORY_FN_CALLOC on, but the first argument is a heap */
#define MEMORY_FN_HEAP_CALLOC       17
#define MEMORY_FN_HEAP_REALLOC      18
#define MEMORY_FN_HEAP_REALLOCARRAY 19
#define MEMORY_FN_HEAP_DESTROY      20 /* frees all blocks of a heap */
#define MEMORY_FN_PTHREAD_CREATE    21
#define MEMORY_FN_PTHREAD_JOIN      22
#define MEMORY_FN_PTHREAD_DETACH    23
#define MEMORY_FN_SHM_OPEN          24
#define MEMORY_FN_SHM_UNLINK        25
#define MEMORY_FN_MAX               32

#define MEMORY_COOKIE_FN(cookie) ((cookie)&0xff)
/* The function's result is reported by probes on its `ret` instructions */
#define MEMORY_COOKIE_RET 0x100

/* Resources: `enum resource` of model/event.h. */
#define MEMORY_RESOURCE_MEMORY     0
#define MEMORY_RESOURCE_MAPPING    1
#define MEMORY_RESOURCE_FD         2
#define MEMORY_RESOURCE_SEGMENT    3
#define MEMORY_RESOURCE_ATTACHMENT 4
#define MEMORY_RESOURCE_SHM        5
#define MEMORY_RESOURCE_THREAD     6

/* A watched process, by its tgid, or by its instance after it has ended. */
struct memory_process {
	__u32 instance;
	__u32 pid;
	__u32 flags; /* MEMORY_PROCESS_* bits */
	/* Stacks that were copied because mappings changed; about MEMORY_CHANGES_MAX at most */
	__u32 copied_changes;
	__u64 since_ns; /* begin of the watch, CLOCK_BOOTTIME (like ended_ns) */
	/*
	 * 0 = the process has not ended. In the table of running processes, another value means
	 * that its last threads are exiting.
	 */
	__u64 ended_ns;
	__u64 failed;    /* number of failed allocations */
	__u64 unmatched; /* number of frees of unknown blocks */
	__u64 full;      /* number of blocks that did not fit into the table */
	/* Number of blocks without a stack: no room for the stack, or no frames found. */
	__u64 no_stack;
	/*
	 * Number of calls that the eBPF programs missed, and of records that did not fit into the
	 * ring
	 */
	__u64 lost;
};
_Static_assert(sizeof(struct memory_process) == 72, "ABI");

#define MEMORY_CHANGES_MAX 64

/*
 * Identifies a program in a process, since process ids are reused. (The instance
 * cannot identify the program: a process gets its instance when its watch begins, and another one
 * after a pause, while the program is the same.)
 */
struct memory_program {
	__u64 start_ns; /* start time of the process, as in struct rec_identity */
	__u64 exec_id;  /* exec_id of the program, as in struct rec_task */
};
_Static_assert(sizeof(struct memory_program) == 16, "ABI");

/* A thread that has ended, and whose stack no other thread has got since. */
#define MEMORY_ENDED_THREADS_MAX 16384
struct memory_ended_thread {
	__u32 pid; /* the process of the thread */
	__u32 pad_0;
	__u64 tls; /* its thread pointer */
};
_Static_assert(sizeof(struct memory_ended_thread) == 16, "ABI");

/*
 * The program of the thread, since process ids and thread pointers are reused. (The instance of the
 * process cannot be used, since it changes at a pause.)
 */
struct memory_thread_end {
	__u64 altstack; /* alternate signal stack of the thread; 0 = none */
	__u64 start_ns; /* start time of the process, as in struct rec_identity */
	__u64 exec_id;  /* exec_id of the program, as in struct rec_task */
};
_Static_assert(sizeof(struct memory_thread_end) == 24, "ABI");

#define MEMORY_PROCESS_EXECED (1u << 0) /* the program has ended by exec */
#define MEMORY_PROCESS_IMAGE  (1u << 1) /* the program began with exec, at since_ns */
#define MEMORY_PROCESS_FORKED (1u << 2) /* the program began with fork */
#define MEMORY_PROCESS_SHARED (1u << 3) /* another process that is not watched uses its memory */
#define MEMORY_PROCESS_VFORKED                                                                     \
	(1u << 4) /* like SHARED, but by vfork(): only until exec, while the process waits */
#define MEMORY_PROCESS_HEAP_DESTROYED (1u << 5) /* blocks were freed that are not known */

struct memory_key {
	__u64 id; /* address, descriptor or other id of the resource (see `enum resource`) */
	__u32 instance;
	__u32 resource; /* MEMORY_RESOURCE_* */
};
_Static_assert(sizeof(struct memory_key) == 16, "ABI");

/* An allocated block. */
struct memory_block {
	__u64 size;
	__u64 ts_ns;
	__u64 stack; /* id of the allocation's stack; 0 = unknown */
	__u32 tid;
	__u32 context;
	__u32 function; /* MEMORY_FN_* */
	__u32 weight;   /* with sampling: number of blocks that this block stands for */
};
_Static_assert(sizeof(struct memory_block) == 40, "ABI");

#define MEMORY_BLOCKS_DEFAULT 1000000
#define MEMORY_STACKS_MAX     65536
#define MEMORY_PROCESSES_MAX                                                                       \
	4096 /* the maximum of live processes, and of ended ones that are not read yet */

#define MEMORY_FRAMES_MAX 64
struct memory_stack_key {
	__u64 id; /* a hash of the frames and their files; never 0 */
	__u32 instance;
	__u32 resource;
};
_Static_assert(sizeof(struct memory_stack_key) == 16, "ABI");

/*
 * The sums only grow. The difference between allocations and frees is the memory that is still
 * allocated. With sampling, all sums are estimates.
 */
struct memory_stack {
	__u64 allocations, allocated_bytes;
	__u64 frees, freed_bytes;
	__u64 since_ns; /* a time, not after the first allocation, at which the frames were valid */
	__u32 n_frames;
	/* 1: the stack lacks frames, and a REC_HEAP_PIECE with its id was sent earlier. */
	__u32 is_copied;
	__u64 frames[MEMORY_FRAMES_MAX]; /* return addresses, innermost first */
};
_Static_assert(sizeof(struct memory_stack) == 560, "ABI");

/* The current call of a thread to an allocator's function. */
struct memory_call {
	__u64 sp; /* stack pointer at the entry of the outermost function */
	__u64 args[3];
	__u64 caller;   /* return address of that function; set with MEMORY_COOKIE_RET only */
	__u32 function; /* 0 = no call */
	__u32 instance;
	__u32 weight;  /* weight of the call's blocks; 0 = they are skipped */
	__u32 strange; /* 1 = another call began at the same place, so this call may never return */
	__u64 new_sp;  /* stack pointer at the entry of operator new; 0 = not called */
	__u64 new_caller;
	__u64 freed; /* last freed block, if nothing was allocated since then */
	/* The old block of realloc(), which is out of the table during the call. */
	struct memory_block old;
	__u32 has_old;
	__u32 pad_0;
};
_Static_assert(sizeof(struct memory_call) == 128, "ABI");

/* An event of a watched process that the filter selects, sent to user space's worker at once. */
#define MEMORY_HAPPENED_FORK 1 /* pid is the child */
#define MEMORY_HAPPENED_EXEC 2
#define MEMORY_HAPPENED_EXIT 3
/*
 * An exec by a non-main thread. For the kernel, the probes of a process belong to the task of its
 * main thread. The exec has replaced this task, so the probes are not hit any more.
 */
#define MEMORY_HAPPENED_THREAD_EXEC 4
/* The task that owns the probes of the process has ended, and other threads continue. */
#define MEMORY_HAPPENED_OWNER_EXIT 5
struct memory_happened {
	__u64 ts_ns;
	/* Start time of the process, CLOCK_BOOTTIME; distinguishes processes with one pid. */
	__u64 start_ns;
	__u32 what; /* MEMORY_HAPPENED_* */
	__u32 pid;
};
_Static_assert(sizeof(struct memory_happened) == 24, "ABI");

/* ---- log mode ---- */

struct rec_alloc {
	struct rec_head head;
	__u64 id, size;
	__u64 stack;
	__u32 resource, function, context, instance;
};
_Static_assert(sizeof(struct rec_alloc) == 64, "ABI");

struct rec_free {
	struct rec_head head;
	__u64 id;
	__u32 resource, function, instance, pad_0;
};
_Static_assert(sizeof(struct rec_free) == 48, "ABI");

/*
 * A stack that later records refer to by its id. This record has an earlier time than the first
 * record that refers to the stack.
 */
struct rec_named {
	struct rec_head head;
	__u64 id;
	__u32 instance;
	__u16 n_frames, is_copied; /* as in struct memory_stack */
	__u64 frames[MEMORY_FRAMES_MAX];
};
_Static_assert(sizeof(struct rec_named) == 552, "ABI");

/*
 * The RESOURCE_OP_* of a rec_resource. args are the arguments of the call, and result is its
 * result, unless stated otherwise. Up to RESOURCE_OP_FD_LAST, the result is a new descriptor.
 */
/* For this and the operations below, text is the path, as far as it fits. */
#define RESOURCE_OP_OPEN              1
#define RESOURCE_OP_OPENAT            2
#define RESOURCE_OP_OPENAT2           3 /* args[2]: the flags */
#define RESOURCE_OP_CREAT             4
#define RESOURCE_OP_SOCKET            5
#define RESOURCE_OP_ACCEPT            6
#define RESOURCE_OP_ACCEPT4           7
#define RESOURCE_OP_DUP               8
#define RESOURCE_OP_EPOLL_CREATE      9
#define RESOURCE_OP_EPOLL_CREATE1     10
#define RESOURCE_OP_EVENTFD           11
#define RESOURCE_OP_EVENTFD2          12
#define RESOURCE_OP_SIGNALFD          13
#define RESOURCE_OP_SIGNALFD4         14
#define RESOURCE_OP_TIMERFD_CREATE    15
#define RESOURCE_OP_INOTIFY_INIT      16
#define RESOURCE_OP_INOTIFY_INIT1     17
#define RESOURCE_OP_MEMFD_CREATE      18 /* text: the name of the memfd */
#define RESOURCE_OP_USERFAULTFD       19
#define RESOURCE_OP_PERF_EVENT_OPEN   20
#define RESOURCE_OP_BPF               21 /* bpf() commands that return a descriptor */
#define RESOURCE_OP_IO_URING_SETUP    22
#define RESOURCE_OP_PIDFD_OPEN        23
#define RESOURCE_OP_PIDFD_GETFD       24
#define RESOURCE_OP_MEMFD_SECRET      25
#define RESOURCE_OP_FANOTIFY_INIT     26
#define RESOURCE_OP_MQ_OPEN           27
#define RESOURCE_OP_LANDLOCK          28 /* landlock_create_ruleset, without flags */
#define RESOURCE_OP_OPEN_BY_HANDLE_AT 29
#define RESOURCE_OP_FSOPEN            30
#define RESOURCE_OP_FSPICK            31
#define RESOURCE_OP_FSMOUNT           32
#define RESOURCE_OP_OPEN_TREE         33
#define RESOURCE_OP_SECCOMP           34 /* with SECCOMP_FILTER_FLAG_NEW_LISTENER */
#define RESOURCE_OP_DUP2              35
#define RESOURCE_OP_DUP3              36
#define RESOURCE_OP_FCNTL             37 /* F_DUPFD, F_DUPFD_CLOEXEC */
#define RESOURCE_OP_FD_LAST           37
/* args[0]: a descriptor; args[1]: 1 = exec closes it */
#define RESOURCE_OP_SETFD      38
#define RESOURCE_OP_IOCTL      39 /* commands that return a descriptor; args[2]: its flags */
#define RESOURCE_OP_PIPE       40 /* args[0], args[1]: the two descriptors; args[2]: flags */
#define RESOURCE_OP_PIPE2      41
#define RESOURCE_OP_SOCKETPAIR 42 /* args[2]: the type */
/* args[0]: number of descriptors; args[1]: 1 = exec closes them; text: __s32[] */
#define RESOURCE_OP_RECVMSG     43
#define RESOURCE_OP_RECVMMSG    44 /* args and text as for RESOURCE_OP_RECVMSG */
#define RESOURCE_OP_CLOSE       45 /* sent before the call, like the operations below */
#define RESOURCE_OP_CLOSE_RANGE 46
/* args: length, flags, descriptor, and 1 if an allocator or a library has made the mapping */
#define RESOURCE_OP_MMAP          50
#define RESOURCE_OP_MUNMAP        51 /* sent before the call */
#define RESOURCE_OP_MREMAP        52
#define RESOURCE_OP_MREMAP_BEGIN  53 /* sent before the call */
#define RESOURCE_OP_SHMGET        54
#define RESOURCE_OP_SHMAT         55
#define RESOURCE_OP_SHMDT         56 /* sent before the call */
#define RESOURCE_OP_SHMCTL        57 /* only the command IPC_RMID */
#define RESOURCE_OP_UNLINK        58 /* only files below RESOURCE_SHM_DIRECTORY */
#define RESOURCE_OP_UNLINKAT      59
#define RESOURCE_OP_FTRUNCATE     60
#define RESOURCE_OP_THREAD_FORK   61 /* args[0]: tid of the thread that pthread_create() makes */
#define RESOURCE_OP_THREAD_CREATE 62 /* args: pthread_t; words 0, 1 and 3 of the attributes; 0 */
#define RESOURCE_OP_THREAD_JOIN   63 /* args[0]: pthread_t */
#define RESOURCE_OP_THREAD_DETACH 64
/* head's thread has ended; args[0]: 1 = by the exit of its process. */
#define RESOURCE_OP_THREAD_END 65
#define RESOURCE_OP_MAX        96

/* struct memory_block's function, for blocks that come from a rec_resource. */
#define MEMORY_FN_RESOURCE(op) (MEMORY_FN_MAX + (op))

/* resource_calls[]: the operation of each system call, by its number. */
#define RESOURCE_CALLS_MAX 512

#define RESOURCE_SHM_DIRECTORY "/dev/shm/"
#define RESOURCE_FDS_MAX       15 /* maximum number of descriptors in the text of a record */

/* A system call or library call about a resource that user space tracks. */
#define REC_RESOURCE_TEXT_BYTES 64
struct rec_resource {
	struct rec_head head;
	__u64 args[4];
	__s64 result;
	__u64 stack;
	__u32 operation; /* RESOURCE_OP_* */
	__u32 instance;
	__u32 context; /* bits of the open contexts */
	__u32 pad_0;
	char text[REC_RESOURCE_TEXT_BYTES]; /* ends with NUL */
};
_Static_assert(sizeof(struct rec_resource) == 152, "ABI");
