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

/* The members of struct tfile_status that are set: bits of `has`. */
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
	const char *stop_text; /* NULL = none; of COMMAND and ERROR only */

	unsigned has;          /* TFILE_HAS_*: other members are left out */
	uint64_t frames;       /* in the file; without it, GDB warns that there are none */
	uint64_t created;      /* in total; more than `frames` means that some were dropped */
	uint64_t free_bytes;   /* of the trace buffer */
	uint64_t size_bytes;   /* of the trace buffer */
	uint64_t circular;     /* 1 = new frames replaced old ones */
	uint64_t disconnected; /* 1 = tracing went on without GDB */
	uint64_t start_us;     /* CLOCK_REALTIME */
	uint64_t stop_us;      /* CLOCK_REALTIME */
	/* A status is written as one line: 300 bytes for these two together always fit. */
	const char *user;        /* the user who traced; NULL = unknown */
	const char *notes;       /* any text, such as the command line; NULL = none */
	const char *const *keys; /* "key:value" with unknown keys */
	size_t n_keys;
};

/* A trace state variable. Frames refer to it by its number. */
struct tfile_variable {
	uint32_t number; /* below 2^31, unique */
	int64_t initial;
	bool builtin;     /* it belongs to the collector, like trace_timestamp */
	const char *name; /* without the `$`, unique; "" = none */
};

/*
 * Names with a meaning for kymo. The first is gdbserver's (number 1, builtin), in microseconds. By
 * the others, kymo finds the frames of a thread and of a time.
 */
#define TFILE_VARIABLE_TIMESTAMP "trace_timestamp"
#define TFILE_VARIABLE_TIME      "ts_ns"
#define TFILE_VARIABLE_PID       "pid"
#define TFILE_VARIABLE_TID       "tid"
#define TFILE_VARIABLE_CPU       "cpu"

/* A place of a tracepoint. The same number with another address is another place. */
struct tfile_tracepoint {
	uint32_t number; /* 1 to TFILE_TRACEPOINT_MAX */
	uint64_t address;
	bool disabled, is_static, is_fast;
	/* of a fast one: size of the instruction that a jump replaces; 0 = unknown */
	uint32_t fast_bytes;
	uint64_t steps;           /* collected by while-stepping */
	uint64_t passes;          /* tracing ends after this many hits; 0 = never */
	const uint8_t *condition; /* agent bytecode; NULL = none */
	size_t condition_bytes;

	/* The actions of the agent, as in the remote protocol. GDB only reads `commands`. */
	const char *const *actions, *const *step_actions;
	size_t n_actions, n_step_actions;

	/*
	 * The source. If `at` is NULL, "*0xADDRESS" is written, which GDB uses unchanged. A line or
	 * a function is silently bound to the wrong address in a relocated program. GDB parses
	 * commands when it opens the file. If a command is invalid, GDB drops all following
	 * tracepoints. "collect $regs" and "collect $tid, $cpu" are safe; $sp, $pc, $fp and
	 * variables of the program are not.
	 */
	const char *at, *condition_text;
	const char *const *commands;
	size_t n_commands;

	bool has_counts;
	uint64_t hits, usage_bytes; /* usage_bytes: of the trace buffer */
};

/* The parts of a frame; the letters are those of the file. */
enum tfile_block_kind {
	TFILE_REGISTERS = 'R',
	TFILE_MEMORY = 'M',
	TFILE_VARIABLE = 'V',
};

struct tfile_block {
	enum tfile_block_kind kind;
	union {
		/* Exactly register_bytes of the file, in the layout of the traced machine. */
		struct {
			const uint8_t *bytes;
			size_t n;
		} registers;
		/* In the writer, of any size, since it is split; in the reader, up to
		 * TFILE_MEMORY_MAX. */
		struct {
			uint64_t address;
			const uint8_t *bytes;
			size_t n;
		} memory;
		/* If several have one number, GDB uses the last. */
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

/* A mapping of code: a line in a comment of the description, which GDB ignores. */
struct tfile_map {
	uint64_t start, end;  /* addresses */
	uint64_t file_offset; /* offset of `start` in the file */
	const char *build_id; /* in hexadecimal; "" = not known */
	const char *path;     /* truncated if it is too long for a line */
};

/* The data before the frames. */
struct tfile_head {
	uint32_t register_bytes; /* of the registers of a frame, 1 to TFILE_REGISTERS_MAX */
	struct tfile_status status;
	const struct tfile_variable *variables;
	size_t n_variables;
	const struct tfile_tracepoint *tracepoints;
	size_t n_tracepoints;
	/*
	 * Writes the tracepoints in the order of the list, as copies need. Otherwise, the highest
	 * number is first, so that GDB assigns the same numbers.
	 */
	bool keep_order;
	const char *const
		*description; /* of the target: lines of an XML document, without xi:include */
	size_t n_description;
	/* written after the description, which is required for maps */
	const struct tfile_map *maps;
	size_t n_maps;
	const char *const *others; /* unknown lines, which are written at the end */
	size_t n_others;
};

#define TFILE_TRACEPOINT_MAX 32767
#define TFILE_MEMORY_MAX     65535 /* bytes of a memory block on the wire */
#define TFILE_LINE_MAX       999   /* bytes of a line, without its line feed */
#define TFILE_REGISTERS_MAX  ((uint32_t)64 << 10)
#define TFILE_FRAME_MAX      ((uint32_t)16 << 20) /* bytes here; the format's are 2 GiB */
#define TFILE_HEAD_MAX       ((size_t)16 << 20)   /* bytes of all lines together */
#define TFILE_LIST_MAX       ((size_t)1 << 16)    /* elements of each list in the head */

/*
 * The recommended number of frames in a file: GDB searches each frame from the beginning, so
 * stepping through 4,000 frames takes half a minute.
 */
#define TFILE_FRAMES_GOOD 2000
