/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GDB trace files ("target tfile"): text lines that describe the trace, and then frames with the
 * data collected at each hit of a tracepoint: registers, memory, trace state variables.
 *
 * A file describes one process with one thread, as seen by GDB. Numbers in frames are in the byte
 * order of the traced machine. All texts here are NUL-terminated and contain no line feed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The reason why tracing stopped. The names on the wire are in tfile-wire.h. */
enum tfile_stop {
	TFILE_STOP_UNKNOWN,
	TFILE_STOP_NOT_RUN,
	TFILE_STOP_COMMAND, /* a user stopped it; stop_text is the reason */
	TFILE_STOP_FULL,
	TFILE_STOP_DISCONNECTED,
	TFILE_STOP_PASSES, /* stop_tracepoint was hit often enough */
	TFILE_STOP_ERROR,  /* stop_tracepoint failed; stop_text is the error */
	TFILE_STOPS,
};

/* Bits of `has`, for the members of struct tfile_status that are set. */
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
	const char *stop_text; /* text for COMMAND and ERROR; NULL = no text */

	unsigned has; /* TFILE_HAS_* bits; members without their bit are left out */
	/* Number of frames in the file; without it, GDB warns that the file has no frames. */
	uint64_t frames;
	/* Number of frames that were created; more than `frames` means that some were dropped. */
	uint64_t created;
	uint64_t free_bytes;   /* unused bytes of the trace buffer */
	uint64_t size_bytes;   /* size of the trace buffer */
	uint64_t circular;     /* 1 = new frames replaced old ones */
	uint64_t disconnected; /* 1 = tracing continued without GDB */
	uint64_t start_us;     /* begin of tracing, CLOCK_REALTIME */
	uint64_t stop_us;      /* end of tracing, CLOCK_REALTIME */
	/* A status is written as one line. 300 bytes for user and notes together always fit. */
	const char *user;        /* user who traced; NULL = unknown */
	const char *notes;       /* any text, such as the command line; NULL = no notes */
	const char *const *keys; /* "key:value" with unknown keys */
	size_t n_keys;
};

/* A trace state variable, to which frames refer by its number. */
struct tfile_variable {
	uint32_t number; /* below 2^31, unique */
	int64_t initial;
	bool builtin;     /* the variable belongs to the collector, like trace_timestamp */
	const char *name; /* unique name without the `$`; "" = no name */
};

/*
 * Names of variables with a meaning for kymo. The first one is gdbserver's (number 1, builtin), in
 * microseconds. The others have the thread and the time of a frame.
 */
#define TFILE_VARIABLE_TIMESTAMP "trace_timestamp"
#define TFILE_VARIABLE_TIME      "ts_ns"
#define TFILE_VARIABLE_PID       "pid"
#define TFILE_VARIABLE_TID       "tid"
#define TFILE_VARIABLE_CPU       "cpu"

/*
 * An address of a tracepoint. The same number can have several addresses, each in a struct of its
 * own.
 */
struct tfile_tracepoint {
	uint32_t number; /* 1 to TFILE_TRACEPOINT_MAX */
	uint64_t address;
	bool disabled, is_static, is_fast;
	/* For a fast tracepoint: size of the instruction that a jump replaces; 0 = unknown */
	uint32_t fast_bytes;
	uint64_t steps;           /* number of steps that while-stepping collects */
	uint64_t passes;          /* number of hits after which tracing ends; 0 = it does not end */
	const uint8_t *condition; /* agent bytecode; NULL = no condition */
	size_t condition_bytes;

	/* The actions of the agent, as in the remote protocol. GDB only reads `commands`. */
	const char *const *actions, *const *step_actions;
	size_t n_actions, n_step_actions;

	/*
	 * The source of the tracepoint. If `at` is NULL, "*0xADDRESS" is written. GDB uses such an
	 * address unchanged. A line or a function is silently bound to the wrong address in a
	 * relocated program. GDB parses commands when it opens the file. If a command is invalid,
	 * GDB drops all following tracepoints. "collect $regs" and "collect $tid, $cpu" are safe;
	 * $sp, $pc, $fp and variables of the program are not.
	 */
	const char *at, *condition_text;
	const char *const *commands;
	size_t n_commands;

	bool has_counts;
	uint64_t hits, usage_bytes; /* usage_bytes: used bytes of the trace buffer */
};

/* The parts of a frame. The letters are those of the file. */
enum tfile_block_kind {
	TFILE_REGISTERS = 'R',
	TFILE_MEMORY = 'M',
	TFILE_VARIABLE = 'V',
};

struct tfile_block {
	enum tfile_block_kind kind;
	union {
		/*
		 * Registers: exactly register_bytes of the file, in the layout of the traced
		 * machine.
		 */
		struct {
			const uint8_t *bytes;
			size_t n;
		} registers;
		/* Memory: in the writer, of any size, since it is split; in the reader, up to
		 * TFILE_MEMORY_MAX. */
		struct {
			uint64_t address;
			const uint8_t *bytes;
			size_t n;
		} memory;
		/* A variable. If several blocks have the same number, GDB uses the last one. */
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

/* A mapping of code. It is a line in a comment of the description; GDB ignores it. */
struct tfile_map {
	uint64_t start, end;  /* addresses */
	uint64_t file_offset; /* offset of `start` in the file */
	const char *build_id; /* in hexadecimal; "" = unknown */
	const char *path;     /* truncated if it is too long for a line */
};

/* The data before the frames. */
struct tfile_head {
	/* Number of bytes of the registers in a frame, 1 to TFILE_REGISTERS_MAX. */
	uint32_t register_bytes;
	struct tfile_status status;
	const struct tfile_variable *variables;
	size_t n_variables;
	const struct tfile_tracepoint *tracepoints;
	size_t n_tracepoints;
	/*
	 * Keeps the order of tracepoints in the list, for copies of files. Otherwise, the highest
	 * number is written first, so that GDB assigns the same numbers.
	 */
	bool keep_order;
	const char *const
		/* Description of the target: lines of an XML document, without xi:include. */
		*description;
	size_t n_description;
	/* Maps. They are written after the description, so they require a description */
	const struct tfile_map *maps;
	size_t n_maps;
	const char *const *others; /* unknown lines, which are written at the end */
	size_t n_others;
};

#define TFILE_TRACEPOINT_MAX 32767
#define TFILE_MEMORY_MAX     65535 /* maximum size of a memory block in the file */
#define TFILE_LINE_MAX       999   /* maximum size of a line, without its line feed */
#define TFILE_REGISTERS_MAX  ((uint32_t)64 << 10)
/* Maximum size of a frame here; the format allows 2 GiB. */
#define TFILE_FRAME_MAX ((uint32_t)16 << 20)
#define TFILE_HEAD_MAX  ((size_t)16 << 20) /* maximum size of all lines together */
/* Maximum number of elements of each list in the head. */
#define TFILE_LIST_MAX ((size_t)1 << 16)

/*
 * The recommended number of frames in a file: GDB searches each frame from the beginning, so
 * stepping through 4,000 frames takes half a minute.
 */
#define TFILE_FRAMES_GOOD 2000
