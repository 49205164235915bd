/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The neutral event: what happened, in host order, with its bounds proven. Readers and the capture
 * side produce it, writers and views consume it, and no format shows in it.
 *
 * Pointers in an event are borrowed: they hold until the producer is asked for the next one.
 * Strings are valid UTF-8 (text_clean() makes them so where they come from the kernel) and, unless
 * said otherwise, never NULL. Threads and processes are named by koid (fxt-names.h says how koids
 * follow from tids).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

enum event_kind {
	EVENT_SWITCH = 1,
	EVENT_WAKE,
	EVENT_MIGRATE,
	EVENT_TASK, /* who a thread is; it holds from when it is first said */
	EVENT_FORK,
	EVENT_EXEC,
	EVENT_EXIT,
	EVENT_RENAME,
	EVENT_LOST,
	EVENT_MARK,
	EVENT_CLOCK,
	EVENT_START, /* of the recording */
	EVENT_STOP,
	EVENT_STACKS,   /* of the recording: how they were walked */
	EVENT_DAMAGE,   /* bytes of an archive could not be read */
	EVENT_INTERVAL, /* something that a CPU or a worker did from ts_ns to its end */
	EVENT_COUNTER,
	EVENT_SAMPLING,    /* how samples are taken */
	EVENT_MAPPING,     /* code is mapped; holds until it is mapped over, or exec */
	EVENT_SAMPLE,      /* a call stack */
	EVENT_OFFCPU,      /* a thread was away from any CPU */
	EVENT_FRAME,       /* what an address of call stacks means */
	EVENT_WATCH_BEGIN, /* from now on what a process allocates is known */
	EVENT_WATCH_END,   /* no more */
	EVENT_ALLOC,       /* a resource was allocated */
	EVENT_FREE,
	EVENT_USAGE,    /* what was allocated with one stack, so far */
	EVENT_SNAPSHOT, /* the blocks that follow are all that live */
	EVENT_BLOCK,    /* something that was allocated and lives */
	EVENT_SHED, /* from here on less is recorded: it cost too much; or this is recorded again */
	EVENT_TRIGGER,      /* something was as bad as was asked for */
	EVENT_CALL,         /* a function was called, and left */
	EVENT_MOMENT_POINT, /* what is collected where a program comes by a point of it */
	EVENT_MOMENT,       /* it has */
	EVENT_CONTEXT,      /* what is allocated from here on, or until here, is of a context */
	EVENT_KIND_MAX,
};

enum interval_kind {
	INTERVAL_IRQ,     /* a hard interrupt's handler */
	INTERVAL_SOFTIRQ, /* tid is that of the CPU's track, here and above */
	INTERVAL_WORK,    /* a work item; tid is that of the worker, or of the CPU's softirqs */
	INTERVAL_IDLE,    /* an idle state */
	INTERVAL_KIND_MAX,
};

/* Of a task of which nobody knows whose it is: (uid_t)-1 is nobody's. */
#define EVENT_UID_UNKNOWN UINT32_MAX

/* Values that a counter can have at one time. */
enum { EVENT_VALUES_MAX = 15 };

struct event_value {
	const char *name;
	bool whole; /* u64 holds it, else f64 */
	union {
		uint64_t u64;
		double f64;
	};
};

/* What a function was given, or has returned. */
enum call_value_form {
	CALL_VALUE_NONE, /* nothing is returned, or it is not known what */
	CALL_VALUE_INT,
	CALL_VALUE_UINT,
	CALL_VALUE_POINTER,
	CALL_VALUE_BOOL,
	/*
	 * A word of C (a constant, an errno that stands for -1), or bytes as C writes them, in
	 * quotes, with "..." behind them if there were more.
	 */
	CALL_VALUE_TEXT,
};

struct call_value {
	const char *name; /* of the argument; of what is returned "" */
	enum call_value_form form;
	union {
		int64_t i64;
		uint64_t u64; /* also pointers */
		bool yes;
		const char *text;
	};
};

enum {
	EVENT_CALL_ARGS_MAX = 11,
	EVENT_MOMENT_REGISTERS = 20,
	EVENT_MOMENT_BYTES_MAX = 24592, /* of what is read at a point */
	EVENT_CALL_FRAMES_MAX = 127,    /* of a call's stack, the function itself being one */
};

/* What a call stack was taken for. */
enum sample_kind {
	SAMPLE_ON_CPU,
	SAMPLE_OFF_CPU, /* with it the thread left; EVENT_OFFCPU came before */
	SAMPLE_NAMED,   /* no sample: allocations name it by its id */
};

/* What programs allocate and can lose. */
enum resource {
	RESOURCE_MEMORY,     /* by an allocator; id: its address, size: bytes */
	RESOURCE_MAPPING,    /* by mmap(); its address, bytes */
	RESOURCE_FD,         /* a descriptor; its number, 1 */
	RESOURCE_SEGMENT,    /* of System V shared memory; its shmid, bytes */
	RESOURCE_ATTACHMENT, /* of such a segment; its address, bytes */
	RESOURCE_SHM,        /* a POSIX shared memory object; a hash of its name, bytes */
	RESOURCE_THREAD, /* that has ended and was not joined; its pthread_t, bytes of its stack */
	RESOURCE_MAX,
};

/* How a resource is called in the archive and in reports. */
extern const char *const resource_names[RESOURCE_MAX];

/* What a look at all memory of its process said of a block. */
enum reach {
	REACH_UNKNOWN,  /* nobody looked */
	REACH_LOST,     /* nothing points to it */
	REACH_INDIRECT, /* only what is lost points to it, or into it */
	REACH_POSSIBLE, /* only something that points into it */
	REACH_REACHABLE,
	REACH_MAX,
};

extern const char *const reach_names[REACH_MAX]; /* of REACH_UNKNOWN: "" */

/* Classes of records, each with its own rings: none can push out another's. */
enum event_class {
	CLASS_SCHED,     /* switches, wakings, migrations */
	CLASS_LIFECYCLE, /* fork, exec, exit, rename */
	CLASS_IRQ,
	CLASS_SOFTIRQ,
	CLASS_WORKQUEUE,
	CLASS_IDLE,
	CLASS_FREQUENCY,
	CLASS_STACKS,    /* samples and times off CPU */
	CLASS_MAPPINGS,  /* of code */
	CLASS_MEMORY,    /* allocations of all kinds */
	CLASS_CALLS,     /* of functions */
	CLASS_MALFORMED, /* of any class: what came out of a ring and made no sense */
	CLASS_MAX,
};

/* How a class is called in the archive, on the bus and in reports. */
extern const char *const event_class_names[CLASS_MAX];

/* How walks of the stacks of programs have ended. */
enum walk_end {
	WALK_WHOLE,          /* where the thread begins */
	WALK_FULL,           /* more frames than there is room for */
	WALK_FRAME_POINTERS, /* not by tables: it was not known what the process has mapped */
	WALK_NO_CODE,        /* an address that is in no code */
	WALK_NO_TABLE,       /* code without a table, and without a frame pointer */
	WALK_UNSUPPORTED,    /* code that no table can describe */
	WALK_UNREADABLE,     /* where the next frame should be is none */
	WALK_BUSY,           /* mappings were being changed, or could not be looked up */
	WALK_ENDS_MAX,
};

/* Unwind tables that a session had, a file each. */
struct stack_tables {
	uint64_t made;
	uint64_t failed;  /* files that could not be read */
	uint64_t evicted; /* tables that had to go, for want of memory */
	uint64_t bytes;   /* of kernel memory, at the end */
	uint64_t copied;  /* stacks that were copied, since a table was still being made */
};

/* How they are called: in archives, reports and on the bus. */
extern const char *const walk_end_names[WALK_ENDS_MAX];

struct event {
	enum event_kind kind;
	uint64_t ts_ns; /* CLOCK_BOOTTIME */
	uint32_t pid;   /* the process and thread it happened to; koids; 0 = none or idle */
	uint32_t tid;
	uint32_t cpu;
	union {
		struct {
			uint32_t next_tid; /* tid (above) went out, this came in */
			int32_t prev_prio; /* kernel prio 0..139; INT32_MIN: that side is idle */
			int32_t next_prio;
			uint8_t out_state; /* enum fxt_thread_state: the neutral set, too */
			char state;        /* R S D T t X Z P I; 0 = not said */
			bool synthetic;    /* made to open or close a slice, no switch happened */
		} sw;
		struct {
			uint32_t waker_tid; /* or a pseudo-thread; 0 = idle, or not known */
			int32_t prio;       /* of the woken thread */
		} wake;
		struct {
			uint32_t from_cpu, to_cpu;
		} migrate;
		struct {
			const char *comm;
			const char *command_line; /* "" = not known; arguments joined by spaces */
			uint64_t start_ns;        /* CLOCK_BOOTTIME; 0 = not known */
			uint64_t cgroup_id;       /* unified hierarchy; 0 = not known */
			const char
				*cgroup_path; /* of that, from its root: "/a/b"; NULL = not known */
			uint32_t parent_pid;  /* koid of the parent process; 0 = none */
			uint32_t uid;         /* effective; EVENT_UID_UNKNOWN */
			uint32_t real_tid;    /* the kernel's tid where the koid differs; else 0 */
			bool is_process;      /* its name is the process's too */
		} task;
		struct {
			uint32_t child_pid, child_tid;
		} fork;
		struct {
			const char *file;
			const char *command_line;
			uint32_t
				/* koid the thread had before, if exec changed it; else 0 */
				old_tid;
		} exec;
		struct {
			int32_t code;      /* exit status 0..255 */
			int32_t signal;    /* that killed it; 0 = none */
			bool process_ends; /* the last thread of its process */
		} exit;
		struct {
			const char *from, *to;
		} rename;
		struct {
			const char *class_name;
			uint64_t count;
			uint64_t first_ns, last_ns; /* when the first and the last one was lost */
		} lost;
		struct {
			const char *text;
		} mark;
		struct {
			const char *what;             /* "stacks", "wakeups", "session" */
			uint64_t cost_ppm, limit_ppm; /* of one CPU */
			uint32_t n_cpus; /* the limit is a share of so many; 0 = of one */
			bool back;       /* it is recorded again */
		} shed;
		struct {
			const char *what;      /* "wakeup", "offcpu", "pressure_cpu", ... */
			uint64_t value, limit; /* ns, ppm or bytes, as `what` is */
			uint64_t count;        /* since the last one that was said, with this one */
			uint32_t thread;       /* koid: which it happened to; 0 = none */
		} trigger;
		struct clock_snapshot clock;
		struct {
			uint64_t offset, bytes; /* in the damaged archive */
			const char *what;
		} damage;
		struct {
			const char *session, *command, *options, *kernel, *machine, *host, *version;
			uint32_t n_cpus;
			uint32_t chunk; /* of a recording that is split: 1, 2, ...; else 0 */
			bool filtered;
		} start;
		struct {
			const char *reason;
			uint64_t events, bytes, lost;
			uint64_t dismissed;  /* wakeups of threads that were awake */
			uint64_t unreported; /* switches that the kernel made and did not report */
			uint64_t daemon_cpu_ns;
			uint64_t bpf_cpu_ns;    /* of the eBPF programs; 0 = not known */
			uint64_t dropped_bytes; /* that a flight recorder had no room for */
		} stop;
		struct {
			uint64_t walks[WALK_ENDS_MAX]; /* of stacks of programs */
			struct stack_tables tables;
		} stacks;
		struct {
			enum interval_kind kind;
			const char *name; /* the handler's, vector's, function's or state's */
			uint64_t end_ns;
			int32_t number; /* of the interrupt or state; else 0 */
			bool handled;   /* interrupts only */
		} interval;
		struct {
			const char *category, *name;
			uint64_t id; /* the cpu, where it is one's; else 0 */
			const struct event_value *values;
			unsigned n_values;
		} counter;
		struct {
			uint32_t frequency;    /* samples a second and CPU; 0 = none are taken */
			const char *clock;     /* what counts them: "cycles", "cpu-clock" */
			uint64_t threshold_ns; /* shortest time off CPU said; 0 = none is */
		} sampling;
		struct {
			const char *path; /* in the mount namespace of the process */
			const uint8_t *build_id;
			uint32_t build_id_size; /* 0 = not known */
			uint32_t module_id;     /* 16 bits */
			uint64_t start, size;   /* addresses */
			uint64_t file_offset;   /* of what is at start */
			uint64_t device, inode; /* major << 20 | minor; 0 = not known */
		} mapping;                      /* of the process pid; tid = pid */
		struct {
			const uint64_t *frames; /* addresses, innermost first, the kernel's first */
			unsigned n_frames;
			enum sample_kind kind;
			/* Two of one number have the same frames; 0 = not said. Of SAMPLE_NAMED its
			 * id, unique in its process from EVENT_WATCH_BEGIN on. */
			uint64_t id;
		} sample;
		struct {
			uint64_t end_ns;
			uint32_t waker_tid; /* 0 = an interrupt, or not known */
			char state;         /* as in a switch; 0 = not said */
		} offcpu;
		struct {
			uint32_t process; /* whose address it is: koid; kthreadd's: the kernel's */
			uint32_t depth;   /* 0 = the innermost inlined function at the address */
			uint64_t address;
			const char *function, *source, *module; /* "" = not known */
			uint32_t line;                          /* 0 = not known */
		} frame;
		/* Of a process (tid = pid), all but ALLOC, FREE and CONTEXT. */
		struct {
			const char *resources;  /* names with commas between them */
			const char *allocators; /* where and what, for people; "" = none */
			bool complete;          /* from the first instruction of the program on */
			uint64_t interval;  /* one allocation each so many bytes; 0 = all of them */
			uint64_t min_bytes; /* smaller ones are not known */
		} watch;
		struct {
			const char *reason; /* "stop", "exit", "exec" */
			uint64_t unmatched; /* freed, and not known: from before */
			uint64_t failed;    /* allocations that failed */
			uint64_t lost;      /* events that are missing */
			uint64_t full;      /* allocations that there was no room to remember */
			uint64_t no_stack;  /* ... whose stack there was no room for */
		} watched;
		/* ALLOC, FREE, BLOCK; also USAGE and SNAPSHOT, which are sums. */
		struct {
			enum resource resource;
			uint64_t
				/*
				 * as enum resource says; several may live only one after the
				 * other
				 */
				id;
			uint64_t size;
			uint64_t stack;    /* id of a SAMPLE_NAMED of the process; 0 = not known */
			uint64_t since_ns; /* BLOCK: when it was allocated */
			uint32_t thread;   /* BLOCK: koid of the thread that made it */
			uint32_t context;  /* bits of the contexts that it was allocated in */
			enum reach reach;  /* BLOCK */
			const char *function; /* that allocated or freed it; "" = not known */
			const char *text;     /* BLOCK: a path, or of which kind it is; "" = none */
		} block;
		struct {
			enum resource resource;
			uint64_t stack;
			uint64_t blocks, bytes;                /* that live */
			uint64_t allocations, allocated_bytes; /* so far */
		} usage;
		struct {
			uint64_t blocks;   /* that follow, at the same time */
			uint32_t sequence; /* 1, 2, ... of a process */
			bool final;        /* the watch ends with it */
		} snapshot;
		struct {
			const char *name;
			uint32_t id; /* one bit */
			bool begin;
		} context;
		struct {
			const char *function;
			uint64_t end_ns;
			const struct call_value *args;
			unsigned n_args;
			struct call_value result;
			uint64_t return_address; /* 0 = not known */
			uint64_t stack; /* id of a SAMPLE_NAMED of the process; 0 = not taken */
			/*
			 * "" = it returned; "unwound" by longjmp(), an exception, a tail call or
			 * the end of its thread; "open": the recording ended before
			 */
			const char *left_by;
		} call;
		struct {
			uint32_t number;
			const char *plan; /* base/moments/moment-plan.h */
		} moment_point;
		struct {
			const char *name; /* of the point; not of events that were read */
			uint32_t point;   /* its number */
			uint64_t hit;     /* so many came by, with this one */
			uint64_t
				/*
				 * id of a SAMPLE_NAMED of the process, from the caller on; 0 =
				 * not taken
				 */
				stack;
			/*
			 * EVENT_MOMENT_REGISTERS registers, then blocks: struct moment_block with
			 * their bytes (bpf/record-moments.h, where both are explained)
			 */
			const void *data;
			uint32_t n_bytes;
		} moment;
	};
};
