/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GDB trace files ("target tfile"): text lines that say what was traced, then frames with what
 * was collected at each hit of a tracepoint: registers, memory, trace state variables.
 *
 * One file is one process with one thread, as GDB sees it. Numbers in frames are in the byte order
 * of the machine that was traced. All texts here end with a NUL and have no line feed in them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why tracing stopped. The names on the wire are in tfile-wire.h. */
enum tfile_stop {
	TFILE_STOP_UNKNOWN,
	TFILE_STOP_NOT_RUN,
	TFILE_STOP_COMMAND, /* somebody stopped it; stop_text says why */
	TFILE_STOP_FULL,
	TFILE_STOP_DISCONNECTED,
	TFILE_STOP_PASSES, /* stop_tracepoint was hit often enough */
	TFILE_STOP_ERROR,  /* stop_tracepoint failed; stop_text says how */
	TFILE_STOPS,
};

/* The members of struct tfile_status that are known: bits of `has`. */
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

	unsigned has;          /* TFILE_HAS_*: the others of these are left out */
	uint64_t frames;       /* in the file. Without it GDB warns that there are none */
	uint64_t created;      /* at all; what is more than `frames` was dropped */
	uint64_t free_bytes;   /* of the trace buffer */
	uint64_t size_bytes;   /* likewise */
	uint64_t circular;     /* 1 = new frames replaced old ones */
	uint64_t disconnected; /* 1 = tracing went on without GDB */
	uint64_t start_us;     /* CLOCK_REALTIME */
	uint64_t stop_us;      /* likewise */
	/* All of a status is one line: 300 bytes of these two together always fit. */
	const char *user;        /* who traced; NULL = not known */
	const char *notes;       /* anything, such as the command line; NULL = none */
	const char *const *keys; /* "key:value" that are not known here */
	size_t n_keys;
};

/* A trace state variable. Frames name it by its number. */
struct tfile_variable {
	uint32_t number; /* below 2^31, each once */
	int64_t initial;
	bool builtin;     /* it belongs to the collector, like trace_timestamp */
	const char *name; /* without the `$`, each once, "" = has none */
};

/*
 * Names that mean something to kymo. The first is gdbserver's (number 1, builtin), in microseconds;
 * by the others kymo finds the frames of a thread and of a time.
 */
#define TFILE_VARIABLE_TIMESTAMP "trace_timestamp"
#define TFILE_VARIABLE_TIME      "ts_ns"
#define TFILE_VARIABLE_PID       "pid"
#define TFILE_VARIABLE_TID       "tid"
#define TFILE_VARIABLE_CPU       "cpu"

/* A place of a tracepoint: the same number with another address is another place of it. */
struct tfile_tracepoint {
	uint32_t number; /* 1 to TFILE_TRACEPOINT_MAX */
	uint64_t address;
	bool disabled, is_static, is_fast;
	uint32_t fast_bytes; /* of a fast one: of the instruction a jump replaces; 0 = not known */
	uint64_t steps;      /* collected by while-stepping */
	uint64_t passes;     /* tracing ends after so many hits; 0 = it does not */
	const uint8_t *condition; /* agent bytecode; NULL = none */
	size_t condition_bytes;

	/* What the agent does, as the remote protocol has it. GDB only reads `commands`. */
	const char *const *actions, *const *step_actions;
	size_t n_actions, n_step_actions;

	/*
	 * The source. `at` NULL is written as "*0xADDRESS", which GDB takes as it is; a line or a
	 * function binds to the wrong address of a program that was relocated, without a word.
	 * Commands go through GDB's parser when the file is opened, and one that it does not take
	 * makes it drop all tracepoints that follow: "collect $regs" and "collect $tid, $cpu" are
	 * safe, $sp, $pc, $fp and names of variables of the program are not.
	 */
	const char *at, *condition_text;
	const char *const *commands;
	size_t n_commands;

	bool has_counts;
	uint64_t hits, usage_bytes; /* usage_bytes: of the trace buffer */
};

/* What a frame consists of; the letters are those of the file. */
enum tfile_block_kind {
	TFILE_REGISTERS = 'R',
	TFILE_MEMORY = 'M',
	TFILE_VARIABLE = 'V',
};

struct tfile_block {
	enum tfile_block_kind kind;
	union {
		/* Exactly as many as the file's register_bytes, as the traced machine has them. */
		struct {
			const uint8_t *bytes;
			size_t n;
		} registers;
		/* In the writer of any size: it is split. In the reader up to TFILE_MEMORY_MAX. */
		struct {
			uint64_t address;
			const uint8_t *bytes;
			size_t n;
		} memory;
		/* Of several with one number GDB takes the last. */
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

/* What code was mapped where: a line in a comment of the description, which GDB passes over. */
struct tfile_map {
	uint64_t start, end;  /* addresses */
	uint64_t file_offset; /* of `start` */
	const char *build_id; /* in hexadecimal; "" = not known */
	const char *path;     /* loses its end where it is too long for a line */
};

/* All that stands before the frames. */
struct tfile_head {
	uint32_t register_bytes; /* of the registers of a frame, 1 to TFILE_REGISTERS_MAX */
	struct tfile_status status;
	const struct tfile_variable *variables;
	size_t n_variables;
	const struct tfile_tracepoint *tracepoints;
	size_t n_tracepoints;
	/*
	 * The tracepoints are written as they stand in the list: for copies. Else the highest
	 * number comes first, and GDB numbers them as the file does.
	 */
	bool keep_order;
	const char *const
		*description; /* of the target: lines of one XML document, without xi:include */
	size_t n_description;
	const struct tfile_map *maps; /* go behind the description, which there must be then */
	size_t n_maps;
	const char *const *others; /* lines that are not known here, written at the end */
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
 * How many frames a file should have: GDB looks for each from the beginning, so that going through
 * 4,000 one by one takes half a minute.
 */
#define TFILE_FRAMES_GOOD 2000
