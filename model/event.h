/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The neutral event, in host order and within proven bounds. Readers and the capture side produce
 * it, writers and views consume it, and it is independent of formats.
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
	EVENT_TASK, /* the identity of a thread; valid from its first occurrence */
	EVENT_FORK,
	EVENT_EXEC,
	EVENT_EXIT,
	EVENT_RENAME,
	EVENT_LOST,
	EVENT_MARK,
	EVENT_CLOCK,
	EVENT_START, /* start of the recording */
	EVENT_STOP,
	EVENT_STACKS,   /* how stacks were walked in the recording */
	EVENT_DAMAGE,   /* bytes of an archive were unreadable */
	EVENT_PART,     /* the archive is a part of another one; see part.what */
	EVENT_INTERVAL, /* an activity of a CPU or worker, from ts_ns to its end */
	EVENT_COUNTER,
	EVENT_SAMPLING,    /* the parameters of samples */
	EVENT_MAPPING,     /* code is mapped; valid until covered, or exec */
	EVENT_SAMPLE,      /* a call stack */
	EVENT_OFFCPU,      /* a thread was off CPU */
	EVENT_FRAME,       /* the name of an address in call stacks */
	EVENT_WATCH_BEGIN, /* from now on, allocations of a process are recorded */
	EVENT_WATCH_END,   /* no more */
	EVENT_ALLOC,       /* a resource was allocated */
	EVENT_FREE,
	EVENT_USAGE,        /* the allocations with one stack so far */
	EVENT_SNAPSHOT,     /* the following blocks are all live ones */
	EVENT_BLOCK,        /* a live allocation */
	EVENT_SHED,         /* less is recorded from here on, because of the cost; or again */
	EVENT_TRIGGER,      /* a trigger condition was met */
	EVENT_CALL,         /* a call of a function, with its end */
	EVENT_LEFT_OUT,     /* calls of a function that its limit has left out */
	EVENT_MOMENT_POINT, /* a point of a program, and the data that is collected there */
	EVENT_MOMENT,       /* a program has reached the point */
	EVENT_CONTEXT,      /* the begin or end of a context of allocations */
	EVENT_KIND_MAX,
};

enum interval_kind {
	INTERVAL_IRQ,     /* a hard interrupt's handler */
	INTERVAL_SOFTIRQ, /* tid is the CPU's track, here and above */
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

/* An argument or result of a function. */
enum call_value_form {
	CALL_VALUE_NONE, /* no result, or of an unknown type */
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
		uint64_t u64; /* also pointers */
		bool yes;
		const char *text;
	};
};

enum {
	EVENT_CALL_ARGS_MAX = 11,
	EVENT_MOMENT_VALUES_MAX = 11,
	EVENT_MOMENT_REGISTERS = 20,
	EVENT_MOMENT_BYTES_MAX = 24592, /* bytes collected at a point */
	EVENT_CALL_FRAMES_MAX = 127,   /* frames of a call's stack, including the function itself */
	EVENT_SAMPLE_FRAMES_MAX = 127, /* frames of a sample's stack in the program */
	EVENT_NAMED_FRAMES_MAX = 64,   /* frames of an allocation's stack */
};

/* The reason why a call stack was taken. */
enum sample_kind {
	SAMPLE_ON_CPU,
	SAMPLE_OFF_CPU, /* the stack with which the thread left its CPU; EVENT_OFFCPU came before */
	SAMPLE_NAMED,   /* not a sample: allocations refer to it by its id */
};

/* Resources that programs allocate and can leak. */
enum resource {
	RESOURCE_MEMORY,     /* by an allocator; id: its address, size: bytes */
	RESOURCE_MAPPING,    /* by mmap(); its address, bytes */
	RESOURCE_FD,         /* a descriptor; its number, 1 */
	RESOURCE_SEGMENT,    /* a segment of System V shared memory; its shmid, bytes */
	RESOURCE_ATTACHMENT, /* an attachment of such a segment; its address, bytes */
	RESOURCE_SHM,        /* a POSIX shared memory object; a hash of its name, bytes */
	RESOURCE_THREAD,     /* ended, not joined; its pthread_t, bytes of its stack */
	RESOURCE_MAX,
};

/* The names of resources in the archive and in reports. */
extern const char *const resource_names[RESOURCE_MAX];

/* The result of the search for references to a block. */
enum reach {
	REACH_UNKNOWN,  /* not searched */
	REACH_LOST,     /* nothing points to it */
	REACH_INDIRECT, /* only lost blocks point to it, or into it */
	REACH_TAGGED,   /* only pointers with something else in their high bits exist */
	REACH_EPOLL,    /* only the kernel has its address: epoll or a timer */
	REACH_POSSIBLE, /* only pointers into it exist */
	REACH_REACHABLE,
	REACH_MAX,
};

extern const char *const reach_names[REACH_MAX]; /* "" for REACH_UNKNOWN */

/* Classes of records. Each has its own rings, so none can displace another. */
enum event_class {
	CLASS_SCHED,     /* switches, wakings, migrations */
	CLASS_LIFECYCLE, /* fork, exec, exit, rename */
	CLASS_IRQ,
	CLASS_SOFTIRQ,
	CLASS_WORKQUEUE,
	CLASS_IDLE,
	CLASS_FREQUENCY,
	CLASS_STACKS,    /* samples and times off CPU */
	CLASS_MAPPINGS,  /* mappings of code */
	CLASS_MEMORY,    /* allocations of all kinds */
	CLASS_CALLS,     /* calls of functions */
	CLASS_COUNTERS,  /* samples of counters, which user space takes */
	CLASS_MALFORMED, /* invalid records of any class, from a ring */
	CLASS_MAX,
};

/* The names of classes in the archive, on the bus and in reports. */
extern const char *const event_class_names[CLASS_MAX];

/* The causes for the end of user stack walks. */
enum walk_end {
	WALK_WHOLE,          /* the beginning of the thread */
	WALK_FULL,           /* more frames than the limit */
	WALK_FRAME_POINTERS, /* frame pointers alone: mappings were unknown, or a 32-bit program */
	WALK_NO_CODE,        /* an address that is not in code */
	WALK_NO_TABLE,       /* code without a table, and without a frame pointer */
	WALK_UNSUPPORTED,    /* the table has a rule that walks do not support */
	WALK_UNREADABLE,     /* the next frame is unreadable */
	WALK_BUSY,           /* mappings were changing, or could not be looked up */
	WALK_ENDS_MAX,
};

/* The unwind tables of a session, one per file. */
struct stack_tables {
	uint64_t made;
	uint64_t failed;  /* unreadable files */
	uint64_t evicted; /* tables removed for lack of memory */
	uint64_t bytes;   /* kernel memory at the end */
	uint64_t copied;  /* stacks that were copied because a table was still being made */
};

/* The names in archives, reports and on the bus. */
extern const char *const walk_end_names[WALK_ENDS_MAX];

/* The function of EVENT_LEFT_OUT for system calls of 32-bit programs, which are not recorded. */
#define EVENT_LEFT_OUT_32BIT "system calls of 32-bit programs"

struct event {
	enum event_kind kind;
	uint64_t ts_ns; /* CLOCK_BOOTTIME */
	uint32_t pid;   /* the process and thread of the event; koids; 0 = none or idle */
	uint32_t tid;
	uint32_t cpu;
	union {
		struct {
			uint32_t next_tid; /* tid (above) was switched out, this one in */
			int32_t prev_prio; /* kernel prio 0..139; INT32_MIN: that side is idle */
			int32_t next_prio;
			uint8_t out_state; /* enum fxt_thread_state: the neutral set, too */
			char state;        /* R S D T t X Z P I; 0 = unknown */
			bool synthetic;    /* opens or closes a slice; not a real switch */
		} sw;
		struct {
			uint32_t waker_tid; /* or a pseudo-thread; 0 = idle, or unknown */
			int32_t prio;       /* priority of the woken thread */
		} wake;
		struct {
			uint32_t from_cpu, to_cpu;
		} migrate;
		struct {
			const char *comm;
			const char *command_line; /* "" = unknown; arguments joined by spaces */
			uint64_t start_ns;        /* CLOCK_BOOTTIME; 0 = unknown */
			uint64_t cgroup_id;       /* unified hierarchy; 0 = unknown */
			/* path of that cgroup, from the root: "/a/b"; NULL = unknown */
			const char *cgroup_path;
			uint32_t parent_pid; /* koid of the parent process; 0 = none */
			uint32_t uid;        /* effective; EVENT_UID_UNKNOWN */
			/* the kernel's tid if it differs from the koid; otherwise 0 */
			uint32_t real_tid;
			bool is_process; /* its name is also the process's name */
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
			bool process_ends; /* it was the last thread of its process */
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
			const char *what;             /* "stacks", "wakeups", "session" */
			const char *session;          /* its name; NULL = unknown */
			uint64_t cost_ppm, limit_ppm; /* ppm of one CPU */
			uint32_t n_cpus; /* the limit is a share of these CPUs; 0 = of one */
			bool back;       /* it is recorded again */
		} shed;
		struct {
			const char *what;      /* "wakeup", "offcpu", "pressure_cpu", ... */
			uint64_t value, limit; /* ns, ppm or bytes, depending on `what` */
			uint64_t count;        /* number since the last event, including this one */
			uint32_t thread;       /* koid of the affected thread; 0 = none */
		} trigger;
		struct clock_snapshot clock;
		struct {
			uint64_t offset, bytes; /* in the damaged archive */
			const char *what;
		} damage;
		struct {
			const char *what;   /* what follows: "state", "records" or "end" */
			uint64_t id;        /* id of the archive that it is a part of */
			uint64_t first_ns;  /* the begin of the part */
			uint64_t behind_ns; /* its end, exclusive; 0 = that of the archive */
		} part;
		struct {
			const char *session, *command, *options, *kernel, *machine, *host, *version;
			uint32_t n_cpus;
			uint32_t chunk;    /* in a split recording: 1, 2, ...; otherwise 0 */
			uint64_t first_ns; /* for a chunk: when chunk 1 began; otherwise 0 */
			bool filtered;
		} start;
		struct {
			const char *reason;
			const char *session; /* its name; NULL = unknown */
			uint64_t events, bytes, lost;
			uint64_t dismissed;  /* wakeups of threads that were awake */
			uint64_t unreported; /* switches that the kernel did not report */
			uint64_t daemon_cpu_ns;
			uint64_t bpf_cpu_ns;    /* CPU time of the eBPF programs; 0 = unknown */
			uint64_t dropped_bytes; /* bytes for which a flight recorder had no room */
		} stop;
		struct {
			uint64_t walks[WALK_ENDS_MAX]; /* walks of user stacks */
			struct stack_tables tables;
		} stacks;
		struct {
			enum interval_kind kind;
			const char *name; /* name of the handler, vector, function or state */
			uint64_t end_ns;
			int32_t number; /* number of the interrupt or state; otherwise 0 */
			bool handled;   /* interrupts only */
		} interval;
		struct {
			const char *category, *name;
			uint64_t id; /* the cpu, for counters of a CPU; otherwise 0 */
			const struct event_value *values;
			unsigned n_values;
		} counter;
		struct {
			uint32_t frequency;    /* samples per second and CPU; 0 = none */
			const char *clock;     /* the counted event: "cycles", "cpu-clock" */
			uint64_t threshold_ns; /* minimum time off CPU; 0 = not recorded */
		} sampling;
		struct {
			const char *path; /* in the mount namespace of the process */
			const uint8_t *build_id;
			uint32_t build_id_size; /* 0 = unknown */
			uint32_t module_id;     /* 16 bits */
			uint64_t start, size;   /* addresses */
			uint64_t file_offset;   /* offset of the start address in the file */
			uint64_t device, inode; /* major << 20 | minor; 0 = unknown */
		} mapping;                      /* of the process pid; tid = pid */
		struct {
			const uint64_t *frames; /* addresses, innermost first, the kernel's first */
			unsigned n_frames;
			enum sample_kind kind;
			/*
			 * Equal numbers mean equal frames; 0 = unset. For SAMPLE_NAMED its id,
			 * unique in its process from EVENT_WATCH_BEGIN on.
			 */
			uint64_t id;
		} sample;
		struct {
			uint64_t end_ns;
			uint32_t waker_tid; /* 0 = an interrupt, or unknown */
			char state;         /* as in a switch; 0 = unknown */
			/*
			 * "open": it has not ended when the recording has; "unknown": it has ended,
			 * and `end_ns` is an estimate; NULL = it has ended then
			 */
			const char *left_by;
			/* "earlier": it began before the recording; NULL = it began in it */
			const char *begun;
		} offcpu;
		struct {
			uint32_t process; /* koid of its process; for the kernel kthreadd's */
			uint32_t depth;   /* 0 = the innermost inlined function at the address */
			uint64_t address;
			const char *function, *source, *module; /* "" = unknown */
			uint32_t line;                          /* 0 = unknown */
		} frame;
		/* Of a process (tid = pid), except ALLOC, FREE and CONTEXT. */
		struct {
			const char *resources;  /* names separated by commas */
			const char *allocators; /* files and functions, for people; "" = none */
			bool complete;          /* from the first instruction of the program on */
			uint64_t interval; /* one allocation per this many bytes; 0 = all of them */
			uint64_t min_bytes; /* smaller ones are not recorded */
			/* Why no allocator of the program has probes; "" = some have */
			const char *unwatched;
		} watch;
		struct {
			const char *reason; /* "stop", "exit", "exec" */
			uint64_t unmatched; /* frees of unknown (earlier) allocations */
			uint64_t failed;    /* allocations that failed */
			uint64_t lost;      /* missing events */
			uint64_t full;      /* allocations without room */
			uint64_t no_stack;  /* ... without room for their stack */
			/* Why probes were perhaps not in place all the time; "" = they were */
			const char *gap;
			/*
			 * Why blocks, or blocks without a reference, have no result of the search;
			 * "" = they have one, or there was no search
			 */
			const char *unsearched;
		} watched;
		/* ALLOC, FREE, BLOCK; also USAGE and SNAPSHOT, which are sums. */
		struct {
			enum resource resource;
			/* as in enum resource; can be reused after a free */
			uint64_t id;
			uint64_t size;
			uint64_t stack;       /* id of a SAMPLE_NAMED of the process; 0 = unknown */
			uint64_t since_ns;    /* BLOCK: the time of the allocation */
			uint32_t thread;      /* BLOCK: koid of the allocating thread */
			uint32_t context;     /* bits of the open contexts */
			enum reach reach;     /* BLOCK */
			const char *function; /* the allocating or freeing function; "" = unknown */
			const char *text;     /* BLOCK: a path, or its kind; "" = none */
		} block;
		struct {
			enum resource resource;
			uint64_t stack;
			uint64_t blocks, bytes;                /* that live */
			uint64_t allocations, allocated_bytes; /* so far */
		} usage;
		struct {
			uint64_t blocks;   /* number of the following ones, at the same time */
			uint32_t sequence; /* 1, 2, ... of a process */
			bool final;        /* the watch ends after it */
			uint64_t lost; /* in a repaired archive: further ones, which were lost */
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
			uint64_t return_address; /* 0 = unknown */
			uint64_t stack; /* id of a SAMPLE_NAMED of the process; 0 = not taken */
			/*
			 * "" = it returned; "unwound": left by longjmp(), an exception, a tail call
			 * or the end of its thread; "open": the recording, or the part of it that
			 * was cut out, ended before; "cut": it returned, but began before the part
			 */
			const char *left_by;
		} call;
		struct {
			const char *function; /* or EVENT_LEFT_OUT_32BIT */
			uint64_t count;       /* since the one before */
		} left_out;
		struct {
			uint32_t number;
			const char *plan; /* model/moments/moment-plan.h */
		} moment_point;
		struct {
			const char *name; /* name of the point; not set in events that were read */
			uint32_t point;   /* its number */
			uint64_t hit;     /* number of hits, including this one */
			/* Id of a SAMPLE_NAMED of the process, from the caller on; 0 = not taken */
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
