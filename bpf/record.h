/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The interface between the eBPF programs and user space: the records in the rings, the maps that
 * user space fills, and the settings that user space makes before loading. Both sides include this
 * file. It includes neither libc nor vmlinux.h, so it can be included before or after either.
 *
 * There are two kinds of rings. Each CPU has its own rings.
 *  - CLASS_SCHED, CLASS_IRQ, CLASS_SOFTIRQ, CLASS_IDLE: `struct word_ring`, an element of a
 *    mmap-able array. The eBPF programs write finished FXT records into this ring, and user space
 *    copies the records into the archive. eBPF programs of one class never interrupt each other on
 *    the CPU that owns the ring (sched.bpf.c and cpu.bpf.c say why), so there is one producer and
 *    no lock. `head` and `tail` count bytes since the start and never wrap. A record starts at head
 *    % size and is always contiguous: a record that would cross the end of the ring extends into
 *    `slack`, and the next one starts at head % size as usual. The free room is size - (head -
 *    tail).
 *  - CLASS_LIFECYCLE, CLASS_WORKQUEUE, CLASS_FREQUENCY, CLASS_STACKS, CLASS_MEMORY, CLASS_CALLS,
 *    CLASS_TRACEPOINTS, CLASS_BLOCK: a BPF ring buffer of `struct rec_*`, each with a
 *    `struct rec_head`.
 *
 * CLASS_MAPPINGS comes through the kernel's perf rings (capture/programs/map-rings.h) without a
 * program of kymo.
 *
 * Loss: after a failed reservation, a record of the loss, called its mark, precedes the next record
 * of that class on that CPU. The mark has the number of lost records, and the times of the first
 * and the last. In a word ring, the mark looks like an FXT record of a type that the format does
 * not use, so it can be skipped like any record.
 *
 * Widths and padding are explicit; sizes are asserted; there are no enums and no pointers.
 */
#pragma once

#if !defined(__bpf__)
#include <linux/types.h>
#endif

#include "bpf/record-kinds.h"
#include "bpf/record-unwind.h"

/* ---- the word ring ---- */

#define RING_SLACK_BYTES 128 /* at least the longest record in a word ring */

struct word_ring {
	/* written by the eBPF programs, read by user space */
	__u64 head;
	__u64 lost_count; /* lost records that no mark in the ring counts yet */
	__u64 lost_first_ns;
	__u64 lost_last_ns;
	__u32 shown_tid; /* with a filter: the thread that runs, if selected; else 0 */
	/* Number of runs before the next timed one, for COST_SCHED and COST_WAKEUPS. */
	__u32 untimed[2];
	__u32 lost_tid; /* the thread that this CPU has run since the last lost record */
	/* With a filter: address of the task that runs, also if not selected; 0 = unknown. */
	__u64 running;
	__u32 pad_0[2];
	/* written by user space, read by the eBPF programs */
	__u64 tail;
	__u64 pad_1[7];
	/* ring bytes and slack follow; the value size of the map determines their size */
	__u8 bytes[];
};
_Static_assert(sizeof(struct word_ring) == 128, "ABI");

/* The type of control records in a word ring: a type that FXT does not use. Never in an archive. */
#define RING_RECORD_CONTROL 14

/* A loss in a word ring: five words. first_ns is where other records have their time. */
struct ring_lost {
	__u64 header;   /* record type RING_RECORD_CONTROL, 5 words */
	__u64 first_ns; /* time of the first lost record: before it, everything is recorded */
	__u64 last_ns;  /* time of the last lost record: after it, everything is recorded */
	__u64 count;
	__u32 tid; /* the thread that runs after last_ns; 0 = idle, or unknown */
	__s32 prio;
};
_Static_assert(sizeof(struct ring_lost) == 40, "ABI");

/*
 * A reserved bit in the header of a wakeup. The eBPF programs set this bit if the thread was on its
 * run queue, and user space clears it. Such a record is not a wakeup, unless the thread was just
 * leaving the queue, or sleeps with its dequeue delayed. The merge by time finds out which case it
 * is (capture/stages/schedule.h).
 */
#define WAKE_ON_RQ_BIT 36

/*
 * A reserved bit in the header of a switch. With a filter, programs set it if the thread that is
 * switched out is not the thread that the last switch on this CPU had switched in: the kernel did
 * not report a switch. User space cannot tell this from a thread that became selected while it ran.
 */
#define SWITCH_UNREPORTED_BIT 40

/* ---- lifecycle records ---- */

#define REC_COMM_BYTES 16 /* TASK_COMM_LEN, NUL included */
#define REC_FILE_BYTES 256
#define REC_ARGS_BYTES 4096 /* more is cut */
#define REC_ARGS_SHORT 512  /* room of a record whose arguments are not longer */

struct rec_head {
	__u64 ts_ns; /* CLOCK_BOOTTIME */
	__u32 size;  /* size of the whole record */
	__u16 kind;  /* REC_* */
	__u16 cpu;
	__u32 pid; /* tgid of the task that the event is about; 2 for kernel threads */
	__u32 tid;
};
_Static_assert(sizeof(struct rec_head) == 24, "ABI");

/* The identity of a task. */
struct rec_identity {
	__u64 start_ns;  /* CLOCK_BOOTTIME; distinguishes two tasks with the same tid */
	__u64 cgroup_id; /* in the unified hierarchy */
	__u32 pid, tid;
	__u32 parent_pid; /* tgid of the real parent */
	/* Effective user id in the initial user namespace; all bits set = unknown. */
	__u32 uid;
	__s32 prio;
	__u32 flags; /* IDENTITY_* */
	char comm[REC_COMM_BYTES];
};
_Static_assert(sizeof(struct rec_identity) == 56, "ABI");

#define IDENTITY_KTHREAD  (1u << 0)
#define IDENTITY_ON_CPU   (1u << 1) /* REC_TASK only: it is running, on head.cpu */
#define IDENTITY_SELECTED (1u << 2) /* REC_TASK only: the filter selects it */

struct rec_fork {
	struct rec_head head; /* head of the parent's thread */
	struct rec_identity child;
};
_Static_assert(sizeof(struct rec_fork) == 80, "ABI");

struct rec_task {
	struct rec_head head;
	struct rec_identity task;
	__u64 exec_id; /* differs after each exec */
};
_Static_assert(sizeof(struct rec_task) == 88, "ABI");

struct rec_exec {
	struct rec_head head;
	struct rec_identity task; /* the task after the exec */
	__u32 old_tid;            /* the tid of the thread that called exec */
	__u32 args_bytes;         /* number of valid bytes in args */
	__u32 args_cut;           /* 1 = the process has more bytes of arguments */
	__u32 pad_0;
	char file[REC_FILE_BYTES]; /* path of the program, NUL-terminated */
	char args[REC_ARGS_BYTES]; /* NUL-separated; short records have only the first bytes */
};
_Static_assert(sizeof(struct rec_exec) == 4448, "ABI");
#define REC_EXEC_BYTES(room) (352 + (room))
_Static_assert(REC_EXEC_BYTES(REC_ARGS_BYTES) == sizeof(struct rec_exec), "ABI");

struct rec_exit {
	struct rec_head head;
	struct rec_identity task; /* the task with its last name */
	__u32 exit_code;          /* exit code as returned by wait() */
	__u32 process_ends;       /* 1 = it was the last thread of its process */
};
_Static_assert(sizeof(struct rec_exit) == 88, "ABI");

struct rec_rename {
	struct rec_head head;
	struct rec_identity task;  /* the task with its old name */
	char comm[REC_COMM_BYTES]; /* the new name */
};
_Static_assert(sizeof(struct rec_rename) == 96, "ABI");

/*
 * The path of a cgroup. The path is sent before the first record with its id, and can be sent
 * again. The iterator over the cgroups of all tasks sends paths, too. The record contains only the
 * bytes of the path, padded to 8.
 */
#define CGROUP_PATH_BYTES 1024
#define CGROUP_NAME_BYTES 256 /* NAME_MAX, NUL included */
#define CGROUP_LEVELS_MAX 32
struct rec_cgroup {
	struct rec_head head;
	__u64 id;
	__u32 bytes;  /* number of bytes of the path, NUL included */
	__u32 is_cut; /* 1 = the last levels are missing */
	/* Path from the root of the unified hierarchy: "/a/b"; the root is "/". */
	char path[CGROUP_PATH_BYTES];
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

/* The state of each of a CPU's BPF ring buffers, in a per-CPU map. */
struct rec_state {
	__u64 bytes;
	__u64 lost_count; /* lost records that no mark in the ring counts yet */
	__u64 lost_first_ns;
	__u64 lost_last_ns;
};
_Static_assert(sizeof(struct rec_state) == 32, "ABI");

/* ---- work items and frequencies ---- */

#define REC_SYMBOL_BYTES 80

/* The end of a work item, at head.ts_ns. head is the worker of the item. */
struct rec_work {
	struct rec_head head;
	__u64 begin_ns;
	/* Address of the function. An earlier struct rec_function has the name of the function. */
	__u64 function;
	__u32 in_softirq; /* 1: it ran in a softirq, and head is the interrupted task */
	__u32 pad_0;
};
_Static_assert(sizeof(struct rec_work) == 48, "ABI");

/*
 * The name of a function. The name is sent before the first work item of the function, and can be
 * sent again.
 */
struct rec_function {
	struct rec_head head;
	__u64 function;
	char name[REC_SYMBOL_BYTES]; /* NUL-terminated */
};
_Static_assert(sizeof(struct rec_function) == 112, "ABI");

/* A CPU's frequency was set. head is the task that set it, and the CPU on which it ran. */
struct rec_frequency {
	struct rec_head head;
	__u32 khz;
	__u32 cpu;
};
_Static_assert(sizeof(struct rec_frequency) == 32, "ABI");

/* ---- the profiler ---- */

/* Maximum number of kernel or of user frames: the default of perf_event_max_stack. */
#define STACK_FRAMES_MAX 127

/*
 * A call stack of the kernel or of user space, innermost frame first. The stack precedes the first
 * record with its id, in the same ring. The stack is sent again if the eBPF program no longer knows
 * that it was sent. `head` is the thread with this stack. The record contains only n_frames of the
 * frames.
 */
struct rec_stack {
	struct rec_head head;
	__u64 id; /* a hash of the frames and the generation; never 0 */
	__u64 frames[STACK_FRAMES_MAX];
};
_Static_assert(sizeof(struct rec_stack) == 1048, "ABI");
#define REC_STACK_BYTES(n_frames) (32 + (n_frames)*8)

#define PIECE_CALLS_MAX 16 /* maximum number of calls in a struct rec_piece */

/*
 * A stack that an eBPF program could not walk to its end, since the unwind table of a file is still
 * being made, or the mappings are being changed: the frames so far, the registers at which the walk
 * stopped, the mappings of the process, and a copy of the stack from there on. User space continues
 * the walk (capture/unwind/unwind-resume.h). The record replaces a struct rec_stack; its id is
 * unique. If IP is not the last frame, IP is the caller of the last frame, and the mapping of IP
 * could not be looked up.
 *
 * As REC_HEAP_PIECE, the record is the stack of an allocation, and replaces a struct rec_named. The
 * stack with this id in memory_stacks only has the frames so far.
 */
struct rec_piece {
	struct rec_head head;
	__u64 id;
	__u64 ip, sp, bp; /* registers of the last frame, whose caller is searched */
	__u64 vdso;       /* address of the vdso; 0 = not mapped */
	__u32 exact;      /* 1: the thread was interrupted at IP; 0: IP is a return address */
	__u32 n_frames;   /* at least 1 */
	__u32 n_bytes;    /* number of copied bytes of the stack, from SP on */
	__u32 n_room;     /* bytes that follow in the record, of which n_bytes are used */
	__u32 n_calls;
	__u32 is_wait;  /* 1: the thread leaves its CPU; a record of its time off CPU can follow */
	__u32 instance; /* instance of the process; only in REC_HEAP_PIECE, like is_skipped */
	__u32 is_skipped; /* 1: if the first frame has a caller, the first frame is left out */
	/*
	 * A frame in the chain that begins at BP, and the function that is called before its return
	 * address.
	 */
	struct rec_piece_call {
		__u64 bp;     /* value of BP for the frame */
		__u64 called; /* 0 = no call; or PIECE_CALLED_BY_REGISTER */
		__u64 linked; /* if CALLED is a jump of the linker: its target; otherwise 0 */
	} calls[PIECE_CALLS_MAX];
	__u64 frames[STACK_FRAMES_MAX];
	struct unwind_process process;
};
_Static_assert(sizeof(struct rec_piece) == 5520, "ABI");

#define PIECE_CALLED_BY_REGISTER 1

/* The size of the copy of a stack, selected by user space as one of PIECE_SIZES. */
#define PIECE_SIZES     3
#define PIECE_BYTES(i)  (4096u << 2 * (i))
#define PIECE_BYTES_MAX PIECE_BYTES(PIECE_SIZES - 1)

/* The number of pieces that a CPU has sent. */
struct piece_budget {
	__u64 second;
	__u32 n; /* number of pieces in that second, for samples, calls and moments */
	__u32 n_waits;
	__u32 n_allocations;
	__u32 pad_0;
	__u64 sent; /* number of all pieces */
};
_Static_assert(sizeof(struct piece_budget) == 32, "ABI");

/*
 * A sample: head's thread ran on head's CPU, with these stacks. Ids are those of struct rec_stack;
 * 0 = none.
 */
struct rec_sample {
	struct rec_head head;
	__u64 kernel_stack, user_stack;
};
_Static_assert(sizeof(struct rec_sample) == 40, "ABI");

/* How a time off CPU has ended. */
#define REC_OFFCPU_RETURNS 0
/* The thread runs, but the kernel has not reported its return, so the end is an estimate. */
#define REC_OFFCPU_RUNS 1
#define REC_OFFCPU_OPEN 2 /* the thread is still off its CPU at the end of the recording */
#define REC_OFFCPU_MAX  3

/* The table to which the number of a system call belongs. */
#define OFFCPU_CALL_NONE 0 /* the thread was in no system call, or it is not known */
#define OFFCPU_CALL_OWN  1 /* the system calls of this machine */
#define OFFCPU_CALL_32   2 /* those of the 32-bit ABI */
#define OFFCPU_CALL_X32  3 /* system calls of x32, without the bit that marks these numbers */
#define OFFCPU_CALL_MAX  4

/* The system call in which a thread has left its CPU. */
struct offcpu_call {
	__u64 argument; /* its first argument */
	__u32 number;
	__u32 owner_tid; /* owner of the awaited lock, by the lock's memory; 0 = none, unknown */
	__u8 table;      /* OFFCPU_CALL_* */
	__u8 is_shared;  /* 1: the owner can be a thread of another process */
	__u8 pad[6];
};

/* The context of a wakeup. */
#define OFFCPU_WOKEN_BY_THREAD    0 /* or it is not known */
#define OFFCPU_WOKEN_BY_SOFTIRQ   1 /* a softirq that an interrupt has raised */
#define OFFCPU_WOKEN_BY_INTERRUPT 2
#define OFFCPU_WOKEN_MAX          3

/*
 * The waker of a thread. The stacks are those at the wakeup; 0 = none. In an interrupt, there is
 * only the part of the kernel stack that belongs to the interrupt.
 */
struct offcpu_waker {
	__u64 kernel_stack, user_stack;
	__u32 pid;    /* process of the thread; 0 = an interrupt, or unknown */
	__u16 cpu;    /* on which it ran */
	__u8 context; /* OFFCPU_WOKEN_* */
	__u8 pad;
};

/*
 * The kernel's functions that bound the stack of a waker. The innermost frames, up to the function
 * that wakes, belong to kymo's eBPF programs. The frames of an interrupt end with its entry; the
 * frames beyond this entry belong to the interrupted code. 0 = unknown.
 */
struct offcpu_text {
	__u64 wakes;                  /* begin of try_to_wake_up() */
	__u64 irq_start, irq_end;     /* entries of interrupts */
	__u64 entry_start, entry_end; /* all entries into the kernel */
};

/* The largest size of the function that wakes, try_to_wake_up(). */
#define OFFCPU_WAKES_BYTES 4096

/*
 * A thread that could continue, but whose cgroup has used up its quota of CPU time: the quota in
 * each period, and the id of this cgroup, which is the thread's cgroup or a cgroup above it. 0 =
 * the thread was not throttled.
 */
struct offcpu_quota {
	__u64 quota_ns, period_ns, cgroup_id;
};

/* Set in the id of a cgroup of version 1, which has its own hierarchy. */
#define OFFCPU_CGROUP_V1 (1ull << 63)

/* head's thread was off its CPU until head.ts_ns. The stacks are those at its departure. */
struct rec_offcpu {
	struct rec_head head;
	__u64 begin_ns;
	__u64 kernel_stack, user_stack;
	__u32 waker_tid; /* 0 = an interrupt, or unknown */
	__u8 state;      /* state of the thread: a letter of R S D T t P I */
	__u8 in_iowait;  /* 1: it waits for I/O, in the kernel's accounting */
	__u8 end;        /* REC_OFFCPU_* */
	/*
	 * 1: the thread left its CPU before begin_ns; the user stack is a struct rec_piece of
	 * on_iter_waiting.
	 */
	__u8 is_earlier;
	__u64 woken_ns; /* time of the wakeup that ended the wait; 0 = preempted, or not known */
	struct offcpu_call call;
	struct offcpu_waker waker;
	struct offcpu_quota quota;
};
_Static_assert(sizeof(struct rec_offcpu) == 136, "ABI");

/* The state of a thread from its departure from a CPU until it runs again. */
struct offcpu_thread {
	__u64 begin_ns; /* 0 = the thread runs */
	__u32 waker_tid;
	__u32 state;
	__u32 n_user_frames;
	__u8 is_earlier; /* as in struct rec_offcpu; user.id is then the id of the piece */
	__u8 in_iowait;  /* as in struct rec_offcpu */
	__u16 is_copied; /* user.id is the id of a piece, which was sent */
	__u64 ran_ns;    /* the kernel's sum of its CPU time */
	__u64 woken_ns;  /* time of the wakeup; 0 = not woken yet, or the wakeup was missed */
	struct offcpu_call call;
	struct offcpu_waker waker;
	struct offcpu_quota quota;
	struct rec_stack user; /* the user stack, which becomes a record when it is sent */
};
_Static_assert(sizeof(struct offcpu_thread) == 1160, "ABI");

#define OFFCPU_THREADS_MAX 65536

/*
 * For threads that waited before the recording: the maximum number of copied stacks, and the
 * maximum size of a copy. A record of this size fits into the kernel's buffer for iterators.
 */
#define WAITING_COPIES_MAX  1024
#define WAITING_STACK_BYTES 16384

/* The work area of the iterator that copies the stacks of waiting threads. */
struct waiting_room {
	struct offcpu_thread thread;
	struct rec_piece piece;
	__u8 stack[WAITING_STACK_BYTES + 4096]; /* the last page can begin before the limit and end
						 * behind it */
};
_Static_assert(sizeof(struct waiting_room) == 1160 + 5520 + WAITING_STACK_BYTES + 4096, "ABI");

/*
 * The ids of the stacks that each CPU has sent. The ids are in sets; in a full set, a new id
 * replaces the least recently used one.
 */
#define STACK_SETS 1024
#define STACK_WAYS 4
struct stack_set {
	__u64 ids[STACK_WAYS];
};

/* Work areas of a CPU, one for each of the contexts that can interrupt each other. */
#define STACK_ROOM_TICK   0
#define STACK_ROOM_SWITCH 1
#define STACK_ROOMS       2

/* Counters of departures of CPUs, a power of two. CPUs beyond this number share them. */
#define CPU_DEPARTURES 1024

/* A CPU is offline: nothing runs on it any more. */
struct rec_cpu_gone {
	struct rec_head head; /* the task that took it offline */
	__u32 gone_cpu;
	__u32 pad_0;
};
_Static_assert(sizeof(struct rec_cpu_gone) == 32, "ABI");

/* ---- activities of a CPU ---- */

/* Maximum depth of nested handlers; deeper handlers are not recorded. */
#define CPU_IRQ_DEPTH_MAX  4
#define CPU_IRQ_NAME_BYTES 32 /* of a handler's name, NUL included */

/* The current work item of a worker, or of a CPU's softirq. */
struct work_state {
	__u64 begin_ns; /* begin of the work item; 0 = no work item */
	__u64 function;
};

/* Activities that have begun on a CPU and not ended, in a per-CPU map. */
struct cpu_state {
	__u64 irq_begin_ns[CPU_IRQ_DEPTH_MAX];
	__u64 softirq_begin_ns;
	/*
	 * Begin of the idle state; 0 = not idle, or the begin was missed. (0 means the same in the
	 * members above.)
	 */
	__u64 idle_begin_ns;
	/* The time of this switch, for programs that run after on_sched_switch; 0 = none */
	__u64 switch_ns;
	struct work_state bh_work;
	__u32 irq_depth;
	__u32 idle_state;
	/* The task that has raised the next softirqs; 0 = an interrupt has raised them */
	__u32 softirq_of;
	__u32 pad_0;
	char irq_name[CPU_IRQ_NAME_BYTES]; /* work area for a handler's name */
};
_Static_assert(sizeof(struct cpu_state) == 120, "ABI");

/*
 * Word rings other than those of CLASS_SCHED are in one map. The map contains only the rings of
 * selected classes.
 */
#define CPU_RING_IRQ     0
#define CPU_RING_SOFTIRQ 1
#define CPU_RING_IDLE    2
#define CPU_RINGS        3

/* ---- costs of programs ---- */

#define COST_SCHED       0
#define COST_WAKEUPS     1
#define COST_OFFCPU      2
#define COST_SAMPLES     3
#define COST_LIFECYCLE   4
#define COST_IRQ         5
#define COST_SOFTIRQ     6
#define COST_WORKQUEUE   7
#define COST_POWER       8
#define COST_MEMORY      9  /* probes on functions that allocate */
#define COST_CALLS       10 /* programs at system calls */
#define COST_FUNCTIONS   11 /* probes on functions whose calls are recorded */
#define COST_TRACEPOINTS 12
#define COST_BLOCK       13
#define COST_CLASSES     14

/*
 * Classes in which each run is timed: their runs are rare, and the costs of the runs differ much.
 * In other classes, one run in 64 is timed, on average.
 */
#define COST_IS_RARE(class) ((class) == COST_SAMPLES || (class) == COST_LIFECYCLE)
#define COST_GAP_MIN        33
#define COST_GAP_SPREAD     63

#define COST_NS_MAX 100000 /* maximum time of one run that is counted */
#define COST_CLOCKS 64     /* number of runs that measure the cost of reading the clock */

/* The cost of the runs of a class of programs on a CPU. */
struct program_cost {
	__u64 runs;
	__u64 next; /* number of the run that is timed next */
	/* number and time of the timed runs; the time excludes one read of the clock (clock_ns) */
	__u64 n_timed;
	__u64 ns;
	__u64 clock_ns; /* time of one read of the clock; 0 = not known yet */
	__u64 pad_0[3];
};
_Static_assert(sizeof(struct program_cost) == 64, "ABI");

/* The size is a power of two, so the kernel finds the element of a CPU without a multiplication. */
struct cpu_costs {
	struct program_cost classes[16];
};
_Static_assert(COST_CLASSES <= 16, "room");

/* ---- code of Python ---- */

/* The texts of a code object. Their bytes are as in the interpreter: 1, 2 or 4 for a character. */
#define PYTHON_NAME_BYTES 256
#define PYTHON_FILE_BYTES 512
/* The possible sizes of the room for the table of lines. */
#define PYTHON_LINES_SIZES    3
#define PYTHON_LINES_BYTES(i) ((i) == 0 ? 512 : (i) == 1 ? 4096 : 32768) /* longer tables are cut */
#define PYTHON_LINES_MAX      PYTHON_LINES_BYTES(PYTHON_LINES_SIZES - 1)

struct rec_python_code {
	struct rec_head head;
	__u64 id; /* a hash; never 0 */
	__u32 first_line;
	__u32 n_lines;                /* bytes of the table of lines, which follow */
	__u16 n_name, n_file;         /* bytes of the texts */
	__u8 name_kind, file_kind;    /* bytes of a character */
	__u8 name_is_cut;             /* 1: only the beginning of the name is there */
	__u8 file_is_cut;             /* 1: only the end of the path is there */
	__u8 name[PYTHON_NAME_BYTES]; /* the qualified name */
	__u8 file[PYTHON_FILE_BYTES];
	__u8 lines[];
};
_Static_assert(sizeof(struct rec_python_code) == 816, "ABI");

/*
 * Allocations and other resources, calls, moments, tracepoints and requests have their own files.
 */
#include "bpf/record-memory.h"
#include "bpf/record-calls.h"
#include "bpf/record-moments.h"
#include "bpf/record-tracepoints.h"
#include "bpf/record-block.h"

/* ---- registers of threads ---- */

/*
 * The registers of a thread, as far as they are known. If the thread is running, the registers are
 * those of its last entry into the kernel.
 */
#define REC_REGISTERS_MAX 40
struct rec_registers {
	struct rec_head head;
	__u64 sp, tls;  /* stack pointer, and thread pointer; 0 = unknown */
	__u64 altstack; /* alternate signal stack of the thread (sigaltstack); 0 = none */
	__u32 running;  /* 1: the registers can be out of date */
	__u32 n;
	__u64 registers[REC_REGISTERS_MAX]; /* in any order */
};
_Static_assert(sizeof(struct rec_registers) == 376, "ABI");

/* The addresses of the kernel's own code; 0 = hidden. */
struct kernel_text {
	__u64 start, end;
};

/* Bytes of user space that can be found in the physical memory. */
#define PRESENT_KNOWN_BYTES 32
#define PRESENT_TRIES_MAX   65536 /* gigabytes */

struct present_known {
	__u64 address;    /* in user space: of PRESENT_KNOWN_BYTES random bytes in one page */
	__u64 memory_end; /* no physical memory is at this address, or beyond it */
	__u64 can_search; /* 1 = all memory can be read */
};

/*
 * The number of the helper in a call that user space replaces by a call of bpf_rdonly_cast()
 * (capture/programs/program-loader.h). The kernel has no such helper.
 */
#define CAST_CALL 0x6b636173

/* ---- filters ---- */

#define FILTER_PID    (1u << 0)
#define FILTER_COMM   (1u << 1)
#define FILTER_UID    (1u << 2)
#define FILTER_CGROUP (1u << 3)
#define FILTER_OWN    (1u << 4) /* one user's own processes only (bpf/own.bpf.h) */

#define FILTER_CGROUPS_MAX  8
#define FILTER_CGROUP_BYTES 128 /* maximum size of a cgroup's own name, NUL included */
#define FILTER_VALUES_MAX   64  /* maximum number of comms or uids in a filter */
#define FILTER_PIDS_MAX     65536
/* Generations of ancestors that one round checks; the next round continues with older ones. */
#define FILTER_ANCESTORS_MAX 32
#define OWN_GIDS_MAX         32

/*
 * A value in the map of selected processes is the start time of the process (CLOCK_BOOTTIME, ns),
 * with these bits in place of the lowest ones. The value is 0 if the process was requested and has
 * not been found yet. If the start time of the process with this id differs, it is a new process,
 * and the entry belongs to an ended one.
 */
#define FILTER_PID_ENDED   1ULL /* no thread is left, or the last one exits */
#define FILTER_PID_COUNTED 2ULL /* it is part of the number of living processes */
#define FILTER_PID_BITS    3ULL

/*
 * A cgroup to follow. A restart gives a cgroup a new id, so it is identified by its name below a
 * parent that remains. level is its depth: 1 for a child of the root.
 */
struct filter_cgroup {
	__u64 parent_id;
	__u32 level;
	__u32 pad_0;
	char name[FILTER_CGROUP_BYTES];
};
_Static_assert(sizeof(struct filter_cgroup) == 144, "ABI");
