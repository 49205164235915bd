/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GDB trace files ("target tfile"): text lines that describe the trace, and then frames with the
 * data collected at each hit of a tracepoint: registers, memory, trace state variables.
 *
 * For GDB, a file describes one process with one thread. Numbers in frames are in the byte order of
 * the traced machine. All texts here end with a NUL and contain no line feed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The reasons why tracing stopped. tfile-wire.h has their names in a file. */
enum tfile_stop {
	TFILE_STOP_UNKNOWN,
	TFILE_STOP_NOT_RUN,
	TFILE_STOP_COMMAND, /* a user has stopped it; stop_text says why */
	TFILE_STOP_FULL,
	TFILE_STOP_DISCONNECTED,
	TFILE_STOP_PASSES, /* stop_tracepoint was hit often enough */
	TFILE_STOP_ERROR,  /* stop_tracepoint failed; stop_text is the error */
	TFILE_STOPS,
};

/* Bits of `has`: the members of struct tfile_status that are set. */
enum {
	TFILE_HAS_FRAMES = 1 << 0,
	TFILE_HAS_CREATED = 1 << 1,
	TFILE_HAS_FREE = 1 << 2,
	TFILE_HAS_SIZE = 1 << 3,
	TFILE_HAS_CIRCULAR = 1 << 4,
	TFILE_HAS_DISCONNECTED = 1 << 5,
	TFILE_HAS_START = 1 << 6,
	TFILE_HAS_STOP = 1 << 7,
};

struct tfile_status {
	bool running;
	enum tfile_stop stop;
	uint32_t stop_tracepoint;
	const char *stop_text; /* for COMMAND and ERROR; NULL = no text */

	unsigned has; /* TFILE_HAS_* bits; members without a bit are not written */
	/* Number of frames in the file. If it is missing, GDB warns that the file has no frames. */
	uint64_t frames;
	/* Number of frames that were created. If it is more than `frames`, frames were dropped. */
	uint64_t created;
	uint64_t free_bytes;   /* unused bytes of the trace buffer */
	uint64_t size_bytes;   /* size of the trace buffer */
	uint64_t circular;     /* 1 = new frames replaced old ones */
	uint64_t disconnected; /* 1 = tracing continued without GDB */
	uint64_t start_us;     /* begin of tracing, CLOCK_REALTIME */
	uint64_t stop_us;      /* end of tracing, CLOCK_REALTIME */
	/* The texts below share one line with the rest; up to 300 bytes of user and notes together
	 * always fit. */
	const char *user;        /* user who traced; NULL = unknown */
	const char *notes;       /* any text, such as the command line; NULL = none */
	const char *const *keys; /* "key:value" with unknown keys */
	size_t n_keys;
};

/* A trace state variable. Frames refer to it by its number. */
struct tfile_variable {
	uint32_t number; /* below 2^31, unique */
	int64_t initial;
	bool builtin;     /* it belongs to the collector, like trace_timestamp */
	const char *name; /* unique, without the `$`; "" = no name */
};

/*
 * Names of variables that mean something to kymo. The first is gdbserver's (number 1, builtin): the
 * time in microseconds. The others are the time and the thread of a frame.
 */
#define TFILE_VARIABLE_TIMESTAMP "trace_timestamp"
#define TFILE_VARIABLE_TIME      "ts_ns"
#define TFILE_VARIABLE_PID       "pid"
#define TFILE_VARIABLE_TID       "tid"
#define TFILE_VARIABLE_CPU       "cpu"

/*
 * A tracepoint at one address. If a tracepoint has several addresses, each has a struct with the
 * same number.
 */
struct tfile_tracepoint {
	uint32_t number; /* 1 to TFILE_TRACEPOINT_MAX */
	uint64_t address;
	bool disabled, is_static, is_fast;
	/* Of a fast tracepoint: size of the instruction that a jump replaces; 0 = unknown */
	uint32_t fast_bytes;
	uint64_t steps;           /* number of steps that while-stepping collects */
	uint64_t passes;          /* hits after which tracing ends; 0 = it does not end */
	const uint8_t *condition; /* agent bytecode; NULL = no condition */
	size_t condition_bytes;

	/* The actions of the agent, as in the remote protocol. GDB does not use them, but reads
	 * `commands`. */
	const char *const *actions, *const *step_actions;
	size_t n_actions, n_step_actions;

	/*
	 * The source of the tracepoint. If `at` is NULL, "*0xADDRESS" is written, which GDB uses
	 * unchanged. (If the program was relocated, GDB silently binds a line or a function to a
	 * wrong address.) GDB parses the commands when it opens the file. If one is invalid, GDB
	 * drops all following tracepoints. "collect $regs" and "collect $tid, $cpu" are safe; $sp,
	 * $pc, $fp and variables of the program are not.
	 */
	const char *at, *condition_text;
	const char *const *commands;
	size_t n_commands;

	bool has_counts;
	uint64_t hits, usage_bytes; /* usage_bytes: used bytes of the trace buffer */
};

/* The parts of a frame; the letters are those in the file. */
enum tfile_block_kind {
	TFILE_REGISTERS = 'R',
	TFILE_MEMORY = 'M',
	TFILE_VARIABLE = 'V',
};

struct tfile_block {
	enum tfile_block_kind kind;
	union {
		/*
		 * Registers: exactly register_bytes of the head, in the layout of the traced
		 * machine.
		 */
		struct {
			const uint8_t *bytes;
			size_t n;
		} registers;
		/* Memory. The writer splits it, so it can have any size; from the reader, it has at
		 * most TFILE_MEMORY_MAX bytes. */
		struct {
			uint64_t address;
			const uint8_t *bytes;
			size_t n;
		} memory;
		/* A variable. Of several blocks with the same number, GDB uses the last one. */
		struct {
			uint32_t number;
			int64_t value;
		} variable;
	};
};

/* A hit of a tracepoint. */
struct tfile_frame {
	uint32_t tracepoint; /* 1 to TFILE_TRACEPOINT_MAX */
	const struct tfile_block *blocks;
	size_t n_blocks;
};

/* A mapping of code. In the file, it is a comment in the description, which GDB ignores. */
struct tfile_map {
	uint64_t start, end;  /* addresses */
	uint64_t file_offset; /* offset of `start` in the file */
	const char *build_id; /* in hexadecimal; "" = unknown */
	const char *path;     /* truncated if it does not fit into a line */
};

/* The data before the frames. */
struct tfile_head {
	/* Bytes of the registers in a frame, 1 to TFILE_REGISTERS_MAX. */
	uint32_t register_bytes;
	struct tfile_status status;
	const struct tfile_variable *variables;
	size_t n_variables;
	const struct tfile_tracepoint *tracepoints;
	size_t n_tracepoints;
	/*
	 * true: write the tracepoints in the order of the list, for copies of files. false: the
	 * highest number first, so that GDB assigns the same numbers.
	 */
	bool keep_order;
	const char *const
		/* The description of the target: lines of an XML document without xi:include. */
		*description;
	size_t n_description;
	/* Mappings. They are comments in the description, so there must be one */
	const struct tfile_map *maps;
	size_t n_maps;
	const char *const *others; /* unknown lines, to be written at the end of the head */
	size_t n_others;
};

#define TFILE_TRACEPOINT_MAX 32767
#define TFILE_MEMORY_MAX     65535 /* bytes of a memory block in the file */
#define TFILE_LINE_MAX       999   /* bytes of a line, without its line feed */
#define TFILE_REGISTERS_MAX  ((uint32_t)64 << 10)
/* Maximum size of a frame for kymo; the format allows 2 GiB. */
#define TFILE_FRAME_MAX ((uint32_t)16 << 20)
#define TFILE_HEAD_MAX  ((size_t)16 << 20) /* maximum size of all lines together */
/* Maximum number of elements in each list of the head. */
#define TFILE_LIST_MAX ((size_t)1 << 16)

/*
 * The recommended number of frames in a file: GDB searches for a frame from the begin of the file,
 * so stepping through 4,000 frames takes half a minute.
 */
#define TFILE_FRAMES_GOOD 2000
