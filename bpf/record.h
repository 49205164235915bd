/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The interface between the eBPF programs and user space: what lies in the rings, the maps that
 * user space fills, and the settings it makes before loading. Both sides include it; it knows
 * neither libc nor vmlinux.h, so either may come first.
 *
 * Two kinds of rings, each one per CPU:
 *
 *  - CLASS_SCHED, CLASS_IRQ, CLASS_SOFTIRQ, CLASS_IDLE: `struct word_ring`, an element of a
 *    mmap-able array. The programs write finished FXT records into it; user space copies them into
 *    the archive. Those of one class never interrupt each other on the CPU that owns the ring
 *    (sched.bpf.c and cpu.bpf.c say why), so there is one producer and no lock. `head` and `tail`
 *    count bytes since the start and never wrap. A record starts at head % size and is always
 *    contiguous: one that would run over the end runs on into `slack`, and the next one starts at
 *    head % size as ever. Free room is size - (head - tail).
 *
 *  - CLASS_LIFECYCLE, CLASS_WORKQUEUE, CLASS_FREQUENCY, CLASS_STACKS, CLASS_MEMORY, CLASS_CALLS: a
 *    BPF ring buffer holding `struct rec_*`, each with a `struct rec_head`.
 *
 * CLASS_MAPPINGS comes through the kernel's perf rings (capture/programs/map-rings.h) and has no
 * program of ours.
 *
 * Loss: after a failed reserve, the next record written on that CPU and class is a mark of it:
 * how many are missing, from when to when. In a word ring the mark looks like an FXT record of a
 * type that the format does not use, so that one walk steps over all.
 *
 * Widths are spelled out, padding too; sizes are asserted; there are no enums and no pointers.
 */
#pragma once

#if !defined(__bpf__)
#include <linux/types.h>
#endif

#include "bpf/record-kinds.h"
#include "bpf/unwind.h"

/* ---- the word ring ---- */

#define RING_SLACK_BYTES 128 /* at least the longest record in a word ring */

struct word_ring {
	/* written by the program, read by user space */
	__u64 head;
	__u64 lost_count; /* not yet marked in the ring */
	__u64 lost_first_ns;
	__u64 lost_last_ns;
	__u32 shown_tid;  /* with a filter: who the last record says runs, if selected; else 0 */
	__u32 untimed[2]; /* runs before one that is timed: of COST_SCHED and of COST_WAKEUPS */
	__u32 lost_tid;   /* what runs since the last record that was lost */
	__u32 pad_0[4];
	/* written by user space, read by the program */
	__u64 tail;
	__u64 pad_1[7];
	/* ring bytes and slack follow: the map's value size says how many */
	__u8 bytes[];
};
_Static_assert(sizeof(struct word_ring) == 128, "ABI");

/* The type of control records in a word ring: one that FXT leaves unused. Never in an archive. */
#define RING_RECORD_CONTROL 14

/* A loss, in a word ring: five words. first_ns stands where every record has its time. */
struct ring_lost {
	__u64 header;   /* record type RING_RECORD_CONTROL, 5 words */
	__u64 first_ns; /* when the first one was lost: until then all is there */
	__u64 last_ns;  /* when the last one was lost: from then on all is there */
	__u64 count;
	__u32 tid; /* what runs on the CPU since last_ns; 0 = idle, or it is not known */
	__s32 prio;
};
_Static_assert(sizeof(struct ring_lost) == 40, "ABI");

/*
 * What a program may leave in the reserved bits of a wakeup's header for user space, which clears
 * it: the thread was seen on its run queue. That is no wakeup, unless the thread left the queue
 * right then, or sleeps with its dequeue delayed; the merge by time finds out
 * (capture/stages/schedule.h).
 */
#define WAKE_ON_RQ_BIT 36

/* ---- lifecycle records ---- */

#define REC_COMM_BYTES 16 /* TASK_COMM_LEN, NUL included */
#define REC_FILE_BYTES 256
#define REC_ARGS_BYTES 512

struct rec_head {
	__u64 ts_ns; /* CLOCK_BOOTTIME */
	__u32 size;  /* of the whole record */
	__u16 kind;  /* REC_* */
	__u16 cpu;
	__u32 pid; /* tgid of the task it happened to; 2 for kernel threads */
	__u32 tid;
};
_Static_assert(sizeof(struct rec_head) == 24, "ABI");

/* The identity of a task. */
struct rec_identity {
	__u64 start_ns;  /* CLOCK_BOOTTIME; tells two owners of one tid apart */
	__u64 cgroup_id; /* in the unified hierarchy */
	__u32 pid, tid;
	__u32 parent_pid; /* tgid of the real parent */
	__u32 uid;        /* effective, initial user namespace; all bits set = not known */
	__s32 prio;
	__u32 flags; /* IDENTITY_* */
	char comm[REC_COMM_BYTES];
};
_Static_assert(sizeof(struct rec_identity) == 56, "ABI");

#define IDENTITY_KTHREAD  (1u << 0)
#define IDENTITY_ON_CPU   (1u << 1) /* REC_TASK only: it is running, on head.cpu */
#define IDENTITY_SELECTED (1u << 2) /* REC_TASK only: the filter selects it */

struct rec_fork {
	struct rec_head head; /* the parent's thread */
	struct rec_identity child;
};
_Static_assert(sizeof(struct rec_fork) == 80, "ABI");

struct rec_task {
	struct rec_head head;
	struct rec_identity task;
	__u64 exec_id; /* another one after each exec */
};
_Static_assert(sizeof(struct rec_task) == 88, "ABI");

struct rec_exec {
	struct rec_head head;
	struct rec_identity task;  /* as it is after the exec */
	__u32 old_tid;             /* the tid of the thread that called exec */
	__u32 args_bytes;          /* valid bytes in args */
	char file[REC_FILE_BYTES]; /* NUL-terminated */
	char args[REC_ARGS_BYTES]; /* NUL-separated, may be cut */
};
_Static_assert(sizeof(struct rec_exec) == 856, "ABI");

struct rec_exit {
	struct rec_head head;
	struct rec_identity task; /* with its last name */
	__u32 exit_code;          /* as wait() gives it */
	__u32 process_ends;       /* 1 = the last thread of its process */
};
_Static_assert(sizeof(struct rec_exit) == 88, "ABI");

struct rec_rename {
	struct rec_head head;
	struct rec_identity task;  /* with the old name */
	char comm[REC_COMM_BYTES]; /* the new one */
};
_Static_assert(sizeof(struct rec_rename) == 96, "ABI");

/*
 * The path of a cgroup: before the first record with its id, and perhaps again. From the iterator
 * over the cgroups of all tasks, too. Only the bytes of the path are there, padded to 8.
 */
#define CGROUP_PATH_BYTES 1024
#define CGROUP_NAME_BYTES 256 /* NAME_MAX, NUL included */
#define CGROUP_LEVELS_MAX 32
struct rec_cgroup {
	struct rec_head head;
	__u64 id;
	__u32 bytes;                  /* of the path, NUL included */
	__u32 is_cut;                 /* 1 = levels are missing at its end */
	char path[CGROUP_PATH_BYTES]; /* from the root of the unified hierarchy: "/a/b"; "/" */
};
_Static_assert(sizeof(struct rec_cgroup) == 1064, "ABI");
#define REC_CGROUP_BYTES(bytes) (40 + (((bytes) + 7) & ~7u))

struct rec_lost {
	struct rec_head head; /* ts_ns = first_ns */
	__u64 count;
	__u64 first_ns, last_ns;
	__u32 ring; /* REC_RING_* */
	__u32 pad_0;
};
_Static_assert(sizeof(struct rec_lost) == 56, "ABI");

/* What each CPU keeps about each of its BPF ring buffers, in a per-CPU map. */
struct rec_state {
	__u64 bytes;
	__u64 lost_count; /* not yet marked in the ring */
	__u64 lost_first_ns;
	__u64 lost_last_ns;
};
_Static_assert(sizeof(struct rec_state) == 32, "ABI");

/* ---- work items and frequencies ---- */

#define REC_SYMBOL_BYTES 80

/* A work item has ended, at head.ts_ns; head names its worker. */
struct rec_work {
	struct rec_head head;
	__u64 begin_ns;
	__u64 function;   /* address; a struct rec_function has said its name */
	__u32 in_softirq; /* 1: it ran in a softirq, and head names the task that was interrupted */
	__u32 pad_0;
};
_Static_assert(sizeof(struct rec_work) == 48, "ABI");

/* The name of a function: before the first work item of it, and perhaps again. */
struct rec_function {
	struct rec_head head;
	__u64 function;
	char name[REC_SYMBOL_BYTES]; /* NUL-terminated */
};
_Static_assert(sizeof(struct rec_function) == 112, "ABI");

/* A CPU's frequency was set; head says who did, and where. */
struct rec_frequency {
	struct rec_head head;
	__u32 khz;
	__u32 cpu;
};
_Static_assert(sizeof(struct rec_frequency) == 32, "ABI");

/* ---- the profiler ---- */

#define STACK_FRAMES_MAX 127 /* of one side, kernel or user: perf_event_max_stack as it comes */

/*
 * A call stack, of one side, innermost first. It precedes, in the same ring, the first record that
 * names it, and comes again when the program has forgotten that it was sent. `head` says who had it
 * then. Only n_frames of the frames are there.
 */
struct rec_stack {
	struct rec_head head;
	__u64 id; /* a hash of the frames and the generation; never 0 */
	__u64 frames[STACK_FRAMES_MAX];
};
_Static_assert(sizeof(struct rec_stack) == 1048, "ABI");
#define REC_STACK_BYTES(n_frames) (32 + (n_frames)*8)

/*
 * A stack that a program could not walk to its end, since the unwind table of a file is still being
 * made: the frames so far, where the walk stands, what the process has mapped, and the stack from
 * there on. User space walks on (capture/unwind/unwind-resume.h). It stands where struct rec_stack
 * would; its id is of no other stack.
 */
struct rec_piece {
	struct rec_head head;
	__u64 id;
	__u64 ip, sp, bp; /* of the last frame, whose caller is looked for */
	__u64 vdso;       /* where the kernel's code is mapped; 0 = nowhere */
	__u32 exact; /* IP is where the thread was interrupted, and not where a call returns to */
	__u32 n_frames; /* at least 1 */
	__u32 n_bytes;  /* of the stack, from SP on */
	__u32 n_room;   /* there was room for so many: what follows in the record */
	/*
	 * What is called before the return address that BP leads to, and what that jumps to if it
	 * is of the linker, or 0. CALLED is 0 if no call is there, and PIECE_CALLED_BY_REGISTER if
	 * only a register says.
	 */
	__u64 called, linked;
	__u64 frames[STACK_FRAMES_MAX];
	struct unwind_process process;
};
_Static_assert(sizeof(struct rec_piece) == 5136, "ABI");

#define PIECE_CALLED_BY_REGISTER 1

/* How much of a stack is copied: user space says which, by PIECE_SIZES. */
#define PIECE_SIZES     3
#define PIECE_BYTES(i)  (4096u << 2 * (i))
#define PIECE_BYTES_MAX PIECE_BYTES(PIECE_SIZES - 1)

/* What a CPU has sent of them. */
struct piece_budget {
	__u64 second;
	__u32 n; /* in that second */
	__u32 pad_0;
	__u64 sent; /* of all time */
};
_Static_assert(sizeof(struct piece_budget) == 24, "ABI");

/* A sample: head's thread ran on head's CPU, here. Ids are those of struct rec_stack; 0 = none. */
struct rec_sample {
	struct rec_head head;
	__u64 kernel_stack, user_stack;
};
_Static_assert(sizeof(struct rec_sample) == 40, "ABI");

/* head's thread was away, until head.ts_ns; the stacks are those with which it left. */
struct rec_offcpu {
	struct rec_head head;
	__u64 begin_ns;
	__u64 kernel_stack, user_stack;
	__u32 waker_tid; /* 0 = an interrupt, or not known */
	__u16 state;     /* a letter: R S D T t P I */
	__u16 is_open;   /* 1: it is still away at head.ts_ns, when the programs have gone */
};
_Static_assert(sizeof(struct rec_offcpu) == 56, "ABI");

/* What a thread left its CPU with, until it runs again. */
struct offcpu_thread {
	__u64 begin_ns; /* 0 = it runs */
	__u32 waker_tid;
	__u32 state;
	__u32 n_user_frames;
	__u32 pad_0;
	__u64 ran_ns;          /* the kernel's sum of its CPU time */
	__u64 woken_ns;        /* 0 = not yet, as far as that was seen */
	struct rec_stack user; /* the frames; made a record when it is sent */
};
_Static_assert(sizeof(struct offcpu_thread) == 1088, "ABI");

#define OFFCPU_THREADS_MAX 65536

/* Which stacks were sent, on each CPU: sets of ids, of which the longest unused goes. */
#define STACK_SETS 1024
#define STACK_WAYS 4
struct stack_set {
	__u64 ids[STACK_WAYS];
};

/* A CPU's room to work in, one for each context that can interrupt the other. */
#define STACK_ROOM_TICK   0
#define STACK_ROOM_SWITCH 1
#define STACK_ROOMS       2

/* Places for how often each CPU has gone, a power of two; those beyond share them. */
#define CPU_DEPARTURES 1024

/* A CPU is off: nothing runs there any more. */
struct rec_cpu_gone {
	struct rec_head head; /* of the one that took it off */
	__u32 gone_cpu;
	__u32 pad_0;
};
_Static_assert(sizeof(struct rec_cpu_gone) == 32, "ABI");

/* ---- what a CPU does ---- */

#define CPU_IRQ_DEPTH_MAX  4  /* handlers that call handlers; deeper ones are not seen */
#define CPU_IRQ_NAME_BYTES 32 /* of a handler's name, NUL included */

/* The work item that a worker, or the softirq of a CPU, is in. */
struct work_state {
	__u64 begin_ns; /* 0 = in none */
	__u64 function;
};

/* What has begun on a CPU and not ended, in a per-CPU map. */
struct cpu_state {
	__u64 irq_begin_ns[CPU_IRQ_DEPTH_MAX];
	__u64 softirq_begin_ns;
	__u64 idle_begin_ns; /* 0 = not idle, or nobody saw it begin; likewise above */
	/* Of this switch, for those who look at it behind on_sched_switch; 0 = taken */
	__u64 switch_ns;
	struct work_state bh_work;
	__u32 irq_depth;
	__u32 idle_state;
	/* The task that has raised the softirqs which run next; 0 = an interrupt has */
	__u32 softirq_of;
	__u32 pad_0;
	char irq_name[CPU_IRQ_NAME_BYTES]; /* room to work in */
};
_Static_assert(sizeof(struct cpu_state) == 120, "ABI");

/* The word rings other than CLASS_SCHED's are in one map, those that are asked for. */
#define CPU_RING_IRQ     0
#define CPU_RING_SOFTIRQ 1
#define CPU_RING_IDLE    2
#define CPU_RINGS        3

/* ---- what programs cost ---- */

#define COST_SCHED     0
#define COST_WAKEUPS   1
#define COST_OFFCPU    2
#define COST_SAMPLES   3
#define COST_LIFECYCLE 4
#define COST_IRQ       5
#define COST_SOFTIRQ   6
#define COST_WORKQUEUE 7
#define COST_POWER     8
#define COST_MEMORY    9  /* probes on functions that allocate */
#define COST_CALLS     10 /* looks at system calls */
#define COST_FUNCTIONS 11 /* probes on functions whose calls are recorded */
#define COST_CLASSES   12

/*
 * Each run of these is timed: there are few, and they differ much. Of others one in 64, on average.
 */
#define COST_IS_RARE(class) ((class) == COST_SAMPLES || (class) == COST_LIFECYCLE)
#define COST_GAP_MIN        33
#define COST_GAP_SPREAD     63

#define COST_NS_MAX 100000 /* of one run */
#define COST_CLOCKS 64     /* runs in which it is learned what a look at the clock takes */

/* What the runs of a class of programs cost on a CPU. */
struct program_cost {
	__u64 runs;
	__u64 next; /* the run that is timed next */
	/* runs, and what they took: without the look at the clock, which takes clock_ns */
	__u64 n_timed;
	__u64 ns;
	__u64 clock_ns; /* 0 = not known yet */
	__u64 pad_0[3];
};
_Static_assert(sizeof(struct program_cost) == 64, "ABI");

/* (its size is a power of two, by which the kernel finds the CPU's without a multiplication) */
struct cpu_costs {
	struct program_cost classes[16];
};
_Static_assert(COST_CLASSES <= 16, "room");

/* ---- what programs allocate ---- */

/*
 * A process that is watched has an instance: a number of its own for each program that it runs, so
 * that neither exec nor a pid that is given out again can mix two of them. All tables are keyed by
 * it. Memory of an instance that has ended stays in the tables until user space has read it.
 */

/* Functions. The cookie of a probe is its function, and a MEMORY_COOKIE_*. */
#define MEMORY_FN_MALLOC         1
#define MEMORY_FN_CALLOC         2
#define MEMORY_FN_REALLOC        3
#define MEMORY_FN_REALLOCARRAY   4
#define MEMORY_FN_FREE           5 /* cfree, too */
#define MEMORY_FN_POSIX_MEMALIGN 6
#define MEMORY_FN_ALIGNED_ALLOC  7 /* alignment, size */
#define MEMORY_FN_MEMALIGN       8
#define MEMORY_FN_VALLOC         9
#define MEMORY_FN_PVALLOC        10
#define MEMORY_FN_NEW            11 /* any operator new above a malloc(): entry; marks its caller */
#define MEMORY_FN_NEW_DIRECT     12 /* of an allocator that implements it: like malloc() */
#define MEMORY_FN_DELETE_DIRECT  13
#define MEMORY_FN_MALLOCX        14
#define MEMORY_FN_RALLOCX        15
#define MEMORY_FN_DALLOCX        16 /* sdallocx(), too */
#define MEMORY_FN_PTHREAD_CREATE 20
#define MEMORY_FN_PTHREAD_JOIN   21
#define MEMORY_FN_PTHREAD_DETACH 22
#define MEMORY_FN_SHM_OPEN       23
#define MEMORY_FN_SHM_UNLINK     24
#define MEMORY_FN_MAX            32

#define MEMORY_COOKIE_FN(cookie) ((cookie)&0xff)
/* Its result is looked at where it returns, by probes on `ret` */
#define MEMORY_COOKIE_RET 0x100

/* Resources: `enum resource` of model/event.h. */
#define MEMORY_RESOURCE_MEMORY     0
#define MEMORY_RESOURCE_MAPPING    1
#define MEMORY_RESOURCE_FD         2
#define MEMORY_RESOURCE_SEGMENT    3
#define MEMORY_RESOURCE_ATTACHMENT 4
#define MEMORY_RESOURCE_SHM        5
#define MEMORY_RESOURCE_THREAD     6

/* A process that is watched, by its tgid; by its instance once that has ended. */
struct memory_process {
	__u32 instance;
	__u32 pid;
	__u32 flags; /* MEMORY_PROCESS_* */
	__u32 pad_0;
	__u64 since_ns;  /* CLOCK_BOOTTIME, both */
	__u64 ended_ns;  /* 0 = it lives */
	__u64 failed;    /* allocations that failed */
	__u64 unmatched; /* freed, and not known */
	__u64 full;      /* not remembered: no room in the table */
	__u64 no_stack;  /* remembered without a stack: no room for that, or none to be had */
	/* Calls that could not be looked at, or records that the ring had no room for */
	__u64 lost;
};
_Static_assert(sizeof(struct memory_process) == 72, "ABI");

#define MEMORY_PROCESS_EXECED (1u << 0) /* it has ended by exec */
#define MEMORY_PROCESS_IMAGE  (1u << 1) /* it began with exec: since_ns is that of its program */
#define MEMORY_PROCESS_FORKED (1u << 2) /* it began with fork */

struct memory_key {
	__u64 id; /* an address, a descriptor, ...: as `enum resource` says */
	__u32 instance;
	__u32 resource; /* MEMORY_RESOURCE_* */
};
_Static_assert(sizeof(struct memory_key) == 16, "ABI");

/* What lives. */
struct memory_block {
	__u64 size;
	__u64 ts_ns;
	__u64 stack; /* id; 0 = not known */
	__u32 tid;
	__u32 context;
	__u32 function; /* MEMORY_FN_* */
	__u32 weight;   /* how many blocks it stands for, of those that were not taken */
};
_Static_assert(sizeof(struct memory_block) == 40, "ABI");

#define MEMORY_BLOCKS_DEFAULT 1000000
#define MEMORY_STACKS_MAX     65536
#define MEMORY_PROCESSES_MAX  4096 /* at once, and as many that have ended and not been read */

#define MEMORY_FRAMES_MAX 64
struct memory_stack_key {
	__u64 id; /* a hash of the frames; never 0 */
	__u32 instance;
	__u32 resource;
};
_Static_assert(sizeof(struct memory_stack_key) == 16, "ABI");

/* Sums only grow; what lives is the difference. With sampling they are estimates. */
struct memory_stack {
	__u64 allocations, allocated_bytes;
	__u64 frees, freed_bytes;
	__u32 n_frames;
	__u32 pad_0;
	__u64 frames[MEMORY_FRAMES_MAX]; /* innermost first: the address behind the call */
};
_Static_assert(sizeof(struct memory_stack) == 552, "ABI");

/* The call that a thread is in the middle of. */
struct memory_call {
	__u64 sp; /* at the entry of the outermost function */
	__u64 args[3];
	__u64 caller;   /* where that returns to; MEMORY_COOKIE_RET only */
	__u32 function; /* 0 = in none */
	__u32 instance;
	__u32 weight;  /* of what comes of it; 0 = it is passed over */
	__u32 strange; /* another one began at the same place: this one may never return */
	__u64 new_sp;  /* at the entry of operator new; 0 = in none */
	__u64 new_caller;
	__u64 freed;             /* what it freed last, if nothing has been allocated since */
	struct memory_block old; /* what realloc() was given: taken out of the table meanwhile */
	__u32 has_old;
	__u32 pad_0;
};
_Static_assert(sizeof(struct memory_call) == 128, "ABI");

/* Of each thread that has called one; with its room to work in, since programs can be preempted. */
struct memory_thread {
	struct memory_call call;
	struct memory_stack stack;
};
_Static_assert(sizeof(struct memory_thread) == 680, "ABI");

/* To user space's worker, at once: a process that is watched, and its filter selects, did this. */
#define MEMORY_HAPPENED_FORK 1 /* pid is the child */
#define MEMORY_HAPPENED_EXEC 2
#define MEMORY_HAPPENED_EXIT 3
/*
 * An exec by another thread than the first one. Probes of a process belong to its first thread's
 * task for the kernel, which is another one now: none of them is hit any more.
 */
#define MEMORY_HAPPENED_THREAD_EXEC 4
/* The task that the probes of the process belong to has ended, and other threads continue. */
#define MEMORY_HAPPENED_OWNER_EXIT 5
struct memory_happened {
	__u64 ts_ns;
	__u64 start_ns; /* CLOCK_BOOTTIME, of the process: tells two owners of one pid apart */
	__u32 what;     /* MEMORY_HAPPENED_* */
	__u32 pid;
};
_Static_assert(sizeof(struct memory_happened) == 24, "ABI");

/* ---- what programs allocate: in log mode ---- */

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

/* A stack. It precedes, in time, the first record that names it. */
struct rec_named {
	struct rec_head head;
	__u64 id;
	__u32 instance, n_frames;
	__u64 frames[MEMORY_FRAMES_MAX];
};
_Static_assert(sizeof(struct rec_named) == 552, "ABI");

/*
 * What RESOURCE_OP_* a rec_resource is of. args are the call's, result what it returned, unless it
 * is said here. Up to RESOURCE_OP_FD_LAST, what is returned is a descriptor that is new.
 */
/* text: the path, as far as there is room, here and below */
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
#define RESOURCE_OP_MEMFD_CREATE      18 /* text: its name */
#define RESOURCE_OP_USERFAULTFD       19
#define RESOURCE_OP_PERF_EVENT_OPEN   20
#define RESOURCE_OP_BPF               21 /* of commands that return a descriptor */
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
/* args[0]: a descriptor; args[1]: 1 = it is closed by exec */
#define RESOURCE_OP_SETFD      38
#define RESOURCE_OP_PIPE       40 /* args[0], args[1]: both; args[2]: flags */
#define RESOURCE_OP_PIPE2      41
#define RESOURCE_OP_SOCKETPAIR 42 /* args[2]: the type */
/* args[0]: how many; args[1]: 1 = closed by exec; text: __s32[] */
#define RESOURCE_OP_RECVMSG     43
#define RESOURCE_OP_RECVMMSG    44 /* likewise */
#define RESOURCE_OP_CLOSE       45 /* before it, here and below */
#define RESOURCE_OP_CLOSE_RANGE 46
/* args: length, flags, descriptor, 1 = not the program's own */
#define RESOURCE_OP_MMAP         50
#define RESOURCE_OP_MUNMAP       51 /* before it */
#define RESOURCE_OP_MREMAP       52
#define RESOURCE_OP_MREMAP_BEGIN 53 /* before it */
#define RESOURCE_OP_SHMGET       54
#define RESOURCE_OP_SHMAT        55
#define RESOURCE_OP_SHMDT        56 /* before it */
#define RESOURCE_OP_SHMCTL       57 /* IPC_RMID */
#define RESOURCE_OP_UNLINK       58 /* below RESOURCE_SHM_DIRECTORY */
#define RESOURCE_OP_UNLINKAT     59
#define RESOURCE_OP_FTRUNCATE    60
#define RESOURCE_OP_THREAD_FORK  61 /* args[0]: the tid that pthread_create() makes */
#define RESOURCE_OP_THREAD_CREATE                                                                  \
	62 /* args: pthread_t, the first, second and fourth word of the attr; 0 */
#define RESOURCE_OP_THREAD_JOIN   63 /* args[0]: pthread_t */
#define RESOURCE_OP_THREAD_DETACH 64
#define RESOURCE_OP_THREAD_END    65 /* head's, by itself; args[0]: 1 = the process has exited */
#define RESOURCE_OP_MAX           96

/* struct memory_block's function, of what comes of a rec_resource. */
#define MEMORY_FN_RESOURCE(op) (MEMORY_FN_MAX + (op))

/* resource_calls[]: what a system call of that number is. */
#define RESOURCE_CALLS_MAX 512

#define RESOURCE_SHM_DIRECTORY "/dev/shm/"
#define RESOURCE_FDS_MAX       15 /* in one record's text */

/* One system call or library call about a resource that user space keeps the books of. */
#define REC_RESOURCE_TEXT_BYTES 64
struct rec_resource {
	struct rec_head head;
	__u64 args[4];
	__s64 result;
	__u64 stack;
	__u32 operation; /* RESOURCE_OP_* */
	__u32 instance;
	__u32 context; /* bits of those that are open */
	__u32 pad_0;
	char text[REC_RESOURCE_TEXT_BYTES]; /* ends with NUL */
};
_Static_assert(sizeof(struct rec_resource) == 152, "ABI");

/* Calls of functions have their own file. */
#include "bpf/record-calls.h"
#include "bpf/record-moments.h"

/* ---- what points to it ---- */

/*
 * What a thread has in its registers, as far as it is known: of one that runs, when it last entered
 * the kernel.
 */
#define REC_REGISTERS_MAX 40
struct rec_registers {
	struct rec_head head;
	__u64 sp, tls; /* stack pointer, and thread pointer; 0 = not known */
	__u32 running; /* 1: all of this may be out of date */
	__u32 n;
	__u64 registers[REC_REGISTERS_MAX]; /* in no order that matters */
};
_Static_assert(sizeof(struct rec_registers) == 368, "ABI");

/* Where the kernel's own code is; 0 = hidden. */
struct kernel_text {
	__u64 start, end;
};

/* ---- filters ---- */

#define FILTER_PID    (1u << 0)
#define FILTER_COMM   (1u << 1)
#define FILTER_UID    (1u << 2)
#define FILTER_CGROUP (1u << 3)
#define FILTER_OWN    (1u << 4) /* one user's own processes only (bpf/own.bpf.h) */

#define FILTER_CGROUPS_MAX   8
#define FILTER_CGROUP_BYTES  128 /* of a cgroup's own name, NUL included */
#define FILTER_VALUES_MAX    64  /* comms or uids */
#define FILTER_PIDS_MAX      65536
#define FILTER_ANCESTORS_MAX 32 /* generations that one round looks back; then another one does */
#define OWN_GIDS_MAX         32

/* What a selected process's entry says. */
#define FILTER_PID_LIVES 1
#define FILTER_PID_ENDED 2 /* its last thread is going; it is taken out when nothing is left */

/*
 * A cgroup to follow, over restarts too, which give it a new id: by its name below a parent that
 * stays. level is its depth: 1 for a child of the root.
 */
struct filter_cgroup {
	__u64 parent_id;
	__u32 level;
	__u32 pad_0;
	char name[FILTER_CGROUP_BYTES];
};
_Static_assert(sizeof(struct filter_cgroup) == 144, "ABI");
