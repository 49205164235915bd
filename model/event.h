/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An event, independent of file formats, in host byte order. Its producer has checked all counts
 * and lengths. Readers and the capture side produce events; writers and views consume them.
 *
 * Pointers in an event are borrowed: they are valid until the producer is asked for the next event.
 * Strings are valid UTF-8 (text_clean() converts those from the kernel) and, except where noted,
 * never NULL. Threads and processes are identified by koid (fxt-names.h derives koids from tids).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

enum event_kind {
	EVENT_SWITCH = 1,
	EVENT_WAKE,
	EVENT_MIGRATE,
	EVENT_TASK, /* identity of a thread; valid from its first occurrence */
	EVENT_FORK,
	EVENT_EXEC,
	EVENT_EXIT,
	EVENT_RENAME,
	EVENT_LOST,
	EVENT_MARK,
	EVENT_CLOCK,
	EVENT_START, /* start of the recording */
	EVENT_STOP,
	EVENT_STACKS,   /* how user stacks were walked in the recording */
	EVENT_DAMAGE,   /* bytes of an archive were unreadable */
	EVENT_PART,     /* the archive is a part of another archive; see part.what */
	EVENT_INTERVAL, /* an activity of a CPU or worker, from ts_ns to its end */
	EVENT_COUNTER,
	EVENT_SAMPLING,    /* the parameters of samples */
	EVENT_MAPPING,     /* a mapping of code; valid until another one covers it, or exec */
	EVENT_SAMPLE,      /* a call stack */
	EVENT_OFFCPU,      /* a thread was off CPU */
	EVENT_FRAME,       /* the name of an address in call stacks */
	EVENT_WATCH_BEGIN, /* from now on, allocations of a process are recorded */
	EVENT_WATCH_END,   /* the end of such a recording */
	EVENT_ALLOC,       /* a resource was allocated */
	EVENT_FREE,
	EVENT_USAGE,        /* sums of the allocations with one stack so far */
	EVENT_SNAPSHOT,     /* the following blocks are all live blocks of a process */
	EVENT_BLOCK,        /* a live allocation */
	EVENT_SHED,         /* recording of something stops because of its cost, or resumes */
	EVENT_TRIGGER,      /* a trigger condition was met */
	EVENT_CALL,         /* a call of a function, written at its end */
	EVENT_LEFT_OUT,     /* calls of a function that were not recorded because of its limit */
	EVENT_MOMENT_POINT, /* a point of a program, and the data that is collected there */
	EVENT_MOMENT,       /* a program has reached the point */
	EVENT_CONTEXT,      /* the begin or end of a context of allocations */
	EVENT_TRACEPOINT,   /* an event of a tracepoint of the kernel */
	EVENT_REQUEST,      /* a request of a block device, from issue to completion */
	EVENT_OTHER_FILE,   /* a process has mapped another file than the one with probes */
	EVENT_PYTHON,       /* functions of Python in the stacks of the recording */
	EVENT_KIND_MAX,
};

enum interval_kind {
	INTERVAL_IRQ,     /* a hard interrupt's handler */
	INTERVAL_SOFTIRQ, /* a softirq; tid is the track of the CPU, as for INTERVAL_IRQ */
	INTERVAL_WORK,    /* a work item; tid is the worker, or the CPU's softirqs */
	INTERVAL_IDLE,    /* an idle state */
	INTERVAL_KIND_MAX,
};

/* For a task whose user is unknown: (uid_t)-1 is not a valid user. */
#define EVENT_UID_UNKNOWN UINT32_MAX

/* The number of values of a counter at one time. */
enum { EVENT_VALUES_MAX = 15 };

struct event_value {
	const char *name;
	bool whole; /* the value is in u64, otherwise in f64 */
	union {
		uint64_t u64;
		double f64;
	};
};

/* An argument or result of a function, or a field of a tracepoint. */
enum call_value_form {
	CALL_VALUE_NONE, /* no result, or a result of unknown type */
	CALL_VALUE_INT,
	CALL_VALUE_UINT,
	CALL_VALUE_POINTER,
	CALL_VALUE_BOOL,
	/*
	 * A C identifier (a constant, an errno that stands for -1), or bytes in C notation in
	 * quotes, followed by "..." if there were more.
	 */
	CALL_VALUE_TEXT,
};

struct call_value {
	const char *name; /* name of the argument; "" for the result */
	enum call_value_form form;
	union {
		int64_t i64;
		uint64_t u64; /* number or pointer */
		bool yes;
		const char *text;
	};
};

enum {
	EVENT_CALL_ARGS_MAX = 11,
	EVENT_TRACEPOINT_ARGS_MAX = 14,
	EVENT_MOMENT_VALUES_MAX = 11,
	EVENT_MOMENT_REGISTERS = 20,
	EVENT_MOMENT_BYTES_MAX = 24592, /* maximum number of bytes collected at a point */
	/* Maximum number of frames of a call's stack, including the function itself. */
	EVENT_CALL_FRAMES_MAX = 127,
	EVENT_SAMPLE_FRAMES_MAX = 127, /* maximum number of user frames of a sample's stack */
	EVENT_NAMED_FRAMES_MAX = 64,   /* maximum number of frames of an allocation's stack */
};

/* The reason why a call stack was taken. */
enum sample_kind {
	SAMPLE_ON_CPU,
	SAMPLE_OFF_CPU, /* the stack with which the thread left its CPU; EVENT_OFFCPU came before */
	SAMPLE_NAMED,   /* not a sample, but a stack to which other events refer by its id */
};

/* Resources that programs allocate and can leak. */
enum resource {
	RESOURCE_MEMORY,     /* made by an allocator; id: address; size: bytes */
	RESOURCE_MAPPING,    /* made by mmap(); id: address; size: bytes */
	RESOURCE_FD,         /* a descriptor; id: its number; size: 1 */
	RESOURCE_SEGMENT,    /* a segment of System V shared memory; id: shmid; size: bytes */
	RESOURCE_ATTACHMENT, /* an attachment of such a segment; id: address; size: bytes */
	RESOURCE_SHM,        /* a POSIX shared memory object; id: hash of its name; size: bytes */
	/* A thread that has ended and was not joined; id: pthread_t; size: bytes of its stack. */
	RESOURCE_THREAD,
	RESOURCE_MAX,
};

/* The names of resources in the archive and in reports. */
extern const char *const resource_names[RESOURCE_MAX];

/* The result of the search for references to a block. */
enum reach {
	REACH_UNKNOWN,  /* no search, or no result */
	REACH_LOST,     /* nothing points to the block */
	REACH_INDIRECT, /* only lost blocks point to its beginning or inside */
	REACH_TAGGED,   /* only pointers with a tag in their high bits exist */
	REACH_EPOLL,    /* only the kernel has its address: epoll or a timer */
	REACH_POSSIBLE, /* only pointers to its inside exist */
	REACH_REACHABLE,
	REACH_MAX,
};

extern const char *const reach_names[REACH_MAX]; /* "" for REACH_UNKNOWN */

/* Classes of records. Each class has its own rings, so no class can displace another. */
enum event_class {
	CLASS_SCHED,     /* switches, wakings, migrations */
	CLASS_LIFECYCLE, /* fork, exec, exit, rename */
	CLASS_IRQ,
	CLASS_SOFTIRQ,
	CLASS_WORKQUEUE,
	CLASS_IDLE,
	CLASS_FREQUENCY,
	CLASS_STACKS,      /* samples and times off CPU */
	CLASS_MAPPINGS,    /* mappings of code */
	CLASS_MEMORY,      /* allocations of all kinds */
	CLASS_CALLS,       /* calls of functions */
	CLASS_TRACEPOINTS, /* tracepoints of the kernel */
	CLASS_BLOCK,       /* requests of block devices */
	CLASS_COUNTERS,    /* samples of counters, which user space takes */
	CLASS_APP,         /* records of programs, in buffers that programs write */
	CLASS_MALFORMED,   /* invalid records of any class, found in a ring */
	CLASS_MAX,
};

/* The names of classes in the archive, on the bus and in reports. */
extern const char *const event_class_names[CLASS_MAX];

/* The causes for the end of user stack walks. */
enum walk_end {
	WALK_WHOLE, /* the walk reached the beginning of the thread */
	WALK_FULL,  /* the stack has more frames than the limit */
	/* Walked by frame pointers alone, since mappings were unknown, or for a 32-bit program. */
	WALK_FRAME_POINTERS,
	WALK_NO_CODE,     /* an address is not in code */
	WALK_NO_TABLE,    /* an address is in code without a table and without a frame pointer */
	WALK_UNSUPPORTED, /* the table has a rule that walks do not support */
	WALK_UNREADABLE,  /* the next frame is unreadable */
	WALK_BUSY,        /* the mappings were changing, or could not be looked up */
	WALK_ENDS_MAX,
};

/* The unwind tables of a session, one per file. */
struct stack_tables {
	uint64_t made;
	uint64_t failed;  /* number of unreadable files */
	uint64_t evicted; /* number of tables that were removed for lack of memory */
	uint64_t bytes;   /* size of the tables in kernel memory at the end */
	/* Number of stacks that were copied because a table was still being made. */
	uint64_t copied;
};

/* Stacks with functions of Python. */
enum python_stacks {
	PYTHON_STACKS_ALL,        /* number of stacks, including those below */
	PYTHON_STACKS_NO_THREAD,  /* the interpreter's state of the thread was not found */
	PYTHON_STACKS_UNREADABLE, /* a function is unreadable, so its callers are missing */
	PYTHON_STACKS_FULL,       /* functions are missing, because of the limit of frames */
	PYTHON_STACKS_UNNAMED,    /* number of functions without a name, in all stacks */
	PYTHON_STACKS_MAX,
};

/* The names of walk ends in archives, in reports and on the bus. */
extern const char *const walk_end_names[WALK_ENDS_MAX];

/*
 * The function of EVENT_LEFT_OUT that stands for the system calls of 32-bit programs. These calls
 * are not recorded.
 */
#define EVENT_LEFT_OUT_32BIT "system calls of 32-bit programs"

/*
 * The last argument of a system call that waits for descriptors: the descriptors that are ready,
 * as a text. It is a part of the result.
 */
#define EVENT_CALL_READY "ready"

struct event {
	enum event_kind kind;
	uint64_t ts_ns; /* CLOCK_BOOTTIME */
	uint32_t pid;   /* koids of the event's process and thread; 0 = none or idle */
	uint32_t tid;
	uint32_t cpu;
	union {
		struct {
			/* The thread that was switched in; tid (above) was switched out. */
			uint32_t next_tid;
			/* Kernel priority 0..139; INT32_MIN = that thread is the idle thread. */
			int32_t prev_prio;
			int32_t next_prio;
			/* An enum fxt_thread_state, also in events of other formats. */
			uint8_t out_state;
			char state;     /* a letter: R S D T t X Z P I; 0 = unknown */
			bool synthetic; /* opens or closes a slice, and is no real switch */
			/*
			 * The thread was preempted in the kernel. Also false if this is unknown, or
			 * if the thread was on its way to user mode.
			 */
			bool preempted;
		} sw;
		struct {
			/* The waker, or a pseudo-thread; 0 = idle, or unknown. */
			uint32_t waker_tid;
			int32_t prio; /* priority of the woken thread */
		} wake;
		struct {
			uint32_t from_cpu, to_cpu;
		} migrate;
		struct {
			const char *comm;
			const char *command_line; /* arguments joined by spaces; "" = unknown */
			uint64_t start_ns;        /* start time, CLOCK_BOOTTIME; 0 = unknown */
			/* Id of the cgroup in the unified hierarchy; 0 = unknown. */
			uint64_t cgroup_id;
			/* path of that cgroup, from the root: "/a/b"; NULL = unknown */
			const char *cgroup_path;
			uint32_t parent_pid; /* koid of the parent process; 0 = none */
			uint32_t uid;        /* effective user id, or EVENT_UID_UNKNOWN */
			/* the kernel's tid if it differs from the koid; otherwise 0 */
			uint32_t real_tid;
			/* The name of the thread is also the name of its process. */
			bool is_process;
			/* the name that the program has given the thread; NULL = none */
			const char *given_name;
		} task;
		struct {
			uint32_t child_pid, child_tid;
		} fork;
		struct {
			const char *file;
			const char *command_line;
			/* Previous koid of the thread, if exec changed it; otherwise 0 */
			uint32_t old_tid;
		} exec;
		struct {
			int32_t code;      /* exit status 0..255 */
			int32_t signal;    /* the fatal signal; 0 = none */
			bool process_ends; /* the thread was the last one of its process */
		} exit;
		struct {
			const char *from, *to;
		} rename;
		struct {
			const char *class_name;
			uint64_t count;
			uint64_t first_ns,
				last_ns; /* times of the first and the last lost record */
		} lost;
		struct {
			const char *text;
		} mark;
		struct {
			/* The part that is no longer recorded: "stacks", "wakeups" or "session". */
			const char *what;
			const char *session;          /* name of the session; NULL = unknown */
			uint64_t cost_ppm, limit_ppm; /* cost and limit, in ppm of one CPU */
			/* The limit is a share of this number of CPUs; 0 = of one CPU. */
			uint32_t n_cpus;
			bool back; /* `what` is recorded again */
		} shed;
		struct {
			/* The condition: "wakeup", "offcpu", "pressure_cpu", ... */
			const char *what;
			uint64_t value, limit; /* ns, ppm or bytes, depending on `what` */
			/*
			 * How often the condition was met since the last event, including this
			 * time.
			 */
			uint64_t count;
			uint32_t thread; /* koid of the affected thread; 0 = none */
		} trigger;
		struct clock_snapshot clock;
		struct {
			/* Position and number of the unreadable bytes in the archive. */
			uint64_t offset, bytes;
			const char *what;
		} damage;
		struct {
			const char *what;  /* what follows: "state", "records" or "end" */
			uint64_t id;       /* id of the whole archive */
			uint64_t first_ns; /* begin of the part */
			/* End of the part, exclusive; 0 = end of the whole archive. */
			uint64_t behind_ns;
		} part;
		struct {
			const char *session, *command, *options, *kernel, *machine, *host, *version;
			uint32_t n_cpus;
			/* Number of the chunk in a split recording, from 1 on; otherwise 0. */
			uint32_t chunk;
			uint64_t first_ns; /* for a chunk: begin of chunk 1; otherwise 0 */
			bool filtered;
		} start;
		struct {
			const char *reason;
			const char *session; /* name of the session; NULL = unknown */
			uint64_t events, bytes, lost;
			uint64_t dismissed;  /* number of wakeups of threads that were awake */
			uint64_t unreported; /* number of switches that the kernel did not report */
			uint64_t daemon_cpu_ns;
			uint64_t bpf_cpu_ns; /* CPU time of the eBPF programs; 0 = unknown */
			/* Number of bytes for which a flight recorder had no room. */
			uint64_t dropped_bytes;
		} stop;
		struct {
			/* Number of walks of user stacks, by their end. */
			uint64_t walks[WALK_ENDS_MAX];
			struct stack_tables tables;
		} stacks;
		struct {
			uint64_t stacks[PYTHON_STACKS_MAX];
			/* a version whose functions are unknown; NULL = none */
			const char *version;
		} python;
		struct {
			enum interval_kind kind;
			/* Name of the interrupt handler, softirq vector, function or state. */
			const char *name;
			uint64_t end_ns;
			int32_t number; /* number of the interrupt or state; otherwise 0 */
			bool handled;   /* for interrupts: the handler has handled the interrupt */
		} interval;
		struct {
			const char *category, *name;
			uint64_t id; /* CPU of the counter, for counters of a CPU; otherwise 0 */
			const struct event_value *values;
			unsigned n_values;
		} counter;
		struct {
			uint32_t frequency;    /* samples per second and CPU; 0 = no samples */
			const char *clock;     /* the counted event: "cycles", "cpu-clock" */
			uint64_t threshold_ns; /* minimum time off CPU; 0 = not recorded */
		} sampling;
		struct {
			const char *path; /* path in the mount namespace of the process */
			const uint8_t *build_id;
			uint32_t build_id_size; /* size of the build id; 0 = unknown */
			uint32_t module_id;     /* id of the module in the archive, 16 bits */
			uint64_t start, size;   /* first address and size in memory */
			uint64_t file_offset;   /* offset of the start address in the file */
			uint64_t device, inode; /* major << 20 | minor; 0 = unknown */
		} mapping;                      /* mapping of process pid; tid = pid */
		struct {
			/*
			 * Addresses: first the kernel's, then the program's, both innermost first.
			 */
			const uint64_t *frames;
			unsigned n_frames;
			enum sample_kind kind;
			/*
			 * Equal numbers mean equal frames; 0 = unset. For SAMPLE_NAMED, it is the
			 * id of the stack, unique in its process from EVENT_WATCH_BEGIN on.
			 */
			uint64_t id;
		} sample;
		struct {
			uint64_t end_ns;
			uint32_t waker_tid; /* the waker; 0 = an interrupt, or unknown */
			char state;         /* state as a letter, as in a switch; 0 = unknown */
			/*
			 * "open": the time off CPU had not ended at the end of the recording;
			 * "unknown": it has ended, and `end_ns` is an estimate; NULL = it has ended
			 * at `end_ns`
			 */
			const char *left_by;
			/*
			 * "earlier": the time off CPU began before the recording; NULL = it began
			 * in the recording
			 */
			const char *begun;
			/*
			 * "io": the kernel counts it as a wait for I/O; "throttled": the thread did
			 * not wait, but its cgroup has used up its CPU time; NULL = neither, or it
			 * is unknown (archives of earlier versions)
			 */
			const char *reason;
			/*
			 * Time of the wakeup that ended the wait: until then, the thread was
			 * blocked, and from then on ready. 0 = it was not woken, or the wakeup is
			 * not known. In a part that was cut out, this time can be after end_ns.
			 */
			uint64_t woken_ns;
			/*
			 * The system call in which the thread left its CPU; NULL = none, or unknown
			 */
			const char *syscall;
			int32_t fd;       /* the descriptor of that call; -1 = none */
			uint64_t address; /* the futex of that call; 0 = none */
			/* The thread that had the lock that this thread waited for; 0 = unknown */
			uint32_t owner_tid;
			/*
			 * The thread was woken by "interrupt", or by "softirq" that an interrupt
			 * has raised; NULL = by a thread, or unknown
			 */
			const char *context;
			/*
			 * Id of the waker's stack: a SAMPLE_NAMED of the waker's process (if
			 * `context` is set: of kthreadd); 0 = not taken
			 */
			uint64_t waker_stack;
			/*
			 * If the thread was throttled: the CPU time that the cgroup has in each
			 * period, and this cgroup; 0, NULL = unknown
			 */
			uint64_t quota_ns, period_ns;
			const char *cgroup_path;
		} offcpu;
		struct {
			/* Koid of the process with this address; kthreadd's for the kernel. */
			uint32_t process;
			/* Depth of inlining; 0 = the innermost inlined function at the address. */
			uint32_t depth;
			uint64_t address;
			const char *function, *source, *module; /* "" = unknown */
			/* Line in the source; 0 = unknown. */
			uint32_t line;
		} frame;
		/*
		 * In the events from here to CONTEXT, pid and tid are the process, except in ALLOC,
		 * FREE and CONTEXT.
		 */
		struct {
			/* Names of the recorded resources, separated by commas. */
			const char *resources;
			/* Allocators with probes: files and functions, for display; "" = none. */
			const char *allocators;
			/* The watch begins with the first instruction of the program. */
			bool complete;
			/*
			 * On average, one allocation per this number of bytes is recorded; 0 = all.
			 */
			uint64_t interval;
			uint64_t min_bytes; /* smaller allocations are not recorded */
			/*
			 * The reason why no allocator of the program has probes; "" = some
			 * allocators have probes
			 */
			const char *unwatched;
		} watch;
		struct {
			const char *reason; /* reason for the end: "stop", "exit" or "exec" */
			uint64_t unmatched; /* number of frees of unknown (earlier) allocations */
			uint64_t failed;    /* number of failed allocations */
			uint64_t lost;      /* number of missing events */
			/* Number of allocations that did not fit into the table. */
			uint64_t full;
			uint64_t no_stack; /* number of allocations whose stack did not fit */
			/*
			 * The reason why probes were perhaps not in place all the time; "" = all
			 * probes were in place
			 */
			const char *gap;
			/*
			 * The reason why the search has no result for blocks, or for blocks without
			 * a reference; "" = it has a result for all blocks, or there was no search
			 */
			const char *unsearched;
			bool vforked; /* a child of vfork() used its memory until its exec */
			/*
			 * A search has examined the memory of the process at the end of the watch.
			 */
			bool searched;
		} watched;
		/* Data of ALLOC, FREE and BLOCK. */
		struct {
			enum resource resource;
			/* id of the resource (enum resource); can be reused after a free */
			uint64_t id;
			uint64_t size;
			uint64_t stack;       /* id of a SAMPLE_NAMED of the process; 0 = unknown */
			uint64_t since_ns;    /* BLOCK: time of the allocation */
			uint32_t thread;      /* BLOCK: koid of the allocating thread */
			uint32_t context;     /* bits of the open contexts */
			enum reach reach;     /* BLOCK: result of the search */
			const char *function; /* the allocating or freeing function; "" = unknown */
			const char *text;     /* BLOCK: path, or kind of the resource; "" = none */
		} block;
		struct {
			enum resource resource;
			uint64_t stack;
			/* Number and size of the live blocks. */
			uint64_t blocks, bytes;
			/* Number and size of all allocations so far. */
			uint64_t allocations, allocated_bytes;
		} usage;
		struct {
			/* Number of EVENT_BLOCK that follow, with the same time. */
			uint64_t blocks;
			uint32_t sequence; /* number of the snapshot of its process, from 1 on */
			bool final;        /* the watch ends after the snapshot */
			/*
			 * In a repaired archive: number of blocks of this snapshot that were lost.
			 */
			uint64_t lost;
		} snapshot;
		struct {
			const char *name;
			uint32_t id; /* bit of the context */
			bool begin;
		} context;
		struct {
			const char *function;
			uint64_t end_ns;
			const struct call_value *args;
			unsigned n_args;
			struct call_value result;
			uint64_t return_address; /* return address of the call; 0 = unknown */
			uint64_t stack; /* id of a SAMPLE_NAMED of the process; 0 = not taken */
			/*
			 * "" = the call returned; "unwound": left by longjmp(), an exception, a
			 * tail call or the end of its thread; "open": the recording, or the part
			 * that was cut out, ended before the call; "cut": the call returned, but
			 * began before the part
			 */
			const char *left_by;
		} call;
		struct {
			const char *name;              /* SYSTEM:NAME */
			const struct call_value *args; /* fields of the event */
			unsigned n_args;
		} tracepoint;
		/*
		 * The request is on a lane, from ts_ns (its issue) to end_ns (its completion). If
		 * no lane was free, ts_ns is the completion, and issued_ns is set.
		 */
		struct {
			const char *op;   /* "read", "write", "flush", "discard", ... */
			const char *disk; /* the name of the device, or "" */
			uint64_t device, sector, bytes;
			uint64_t queued_ns; /* time of its insertion in a queue; 0 = none */
			uint64_t issued_ns, end_ns;
			/* Koid of the thread that issued the request; 0 = unknown. */
			uint32_t thread;
			int32_t error; /* an errno; 0 = none */
			/*
			 * A cut has moved the start or the end of the event; set only in events
			 * that were read.
			 */
			bool clipped;
		} request;
		struct {
			const char *function; /* the function, or EVENT_LEFT_OUT_32BIT */
			uint64_t count;       /* number of calls since the previous event */
		} left_out;
		struct {
			const char *file; /* name of the file with probes, without its directory */
			const char *path; /* the file that the process has mapped instead */
		} other_file;
		struct {
			uint32_t number;
			const char *plan; /* the point's plan (model/moments/moment-plan.h) */
		} moment_point;
		struct {
			const char *name; /* name of the point; not set in events that were read */
			uint32_t point;   /* number of the point */
			uint64_t hit;     /* number of hits, including this one */
			/*
			 * Id of a SAMPLE_NAMED of the process: a stack that begins with the caller;
			 * 0 = not taken
			 */
			uint64_t stack;
			/*
			 * EVENT_MOMENT_REGISTERS registers, then blocks: struct moment_block with
			 * their bytes (bpf/record-moments.h, where both are explained)
			 */
			const void *data;
			uint32_t n_bytes;
			/* values of the data, for Perfetto; not set in events that were read */
			unsigned n_values; /* at most EVENT_MOMENT_VALUES_MAX */
			const struct call_value *values;
		} moment;
	};
};
