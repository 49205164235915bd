/* SPDX-License-Identifier: MIT */
/*
 * The interface between a program that uses libkymo-provider and the manager, which reads its
 * buffers: the layout of a buffer, and the messages. docs/architecture/providers.md explains it.
 *
 * A buffer has two files. The program writes the data file, and the manager writes the control
 * file. Both map both files; the control file is read-only in the program, and the data file in the
 * manager. All numbers are little-endian. Offsets are fixed by version 1.
 */
#pragma once

#include <stdint.h>

#define PROVIDER_WIRE_VERSION 1

/*
 * Written to the begin of the data file when the program has attached: "KYMORV", 0 and the version.
 */
#define PROVIDER_WIRE_MAGIC (UINT64_C(0x0056524f4d594b) | (uint64_t)PROVIDER_WIRE_VERSION << 56)

enum {
	PROVIDER_SLOTS = 64,        /* current blocks; a thread uses the one of its CPU */
	PROVIDER_BLOCKS_MAX = 4096, /* blocks of a buffer */
	PROVIDER_BLOCK_MIN = 4096,  /* bytes of a block, a power of two */
	PROVIDER_BLOCK_MAX = 64 << 10,
	PROVIDER_DURABLE_BYTES = 1 << 20,
	PROVIDER_DURABLE_OFFSET = 0x2000,
	PROVIDER_TABLE_OFFSET = PROVIDER_DURABLE_OFFSET + PROVIDER_DURABLE_BYTES,
	PROVIDER_BLOCKS_OFFSET = PROVIDER_TABLE_OFFSET + PROVIDER_BLOCKS_MAX * 16,
	PROVIDER_CATEGORIES_MAX = 1024, /* bytes of the patterns in a message */
	PROVIDER_NAME_BYTES = 64,
	PROVIDER_TEXT_MAX = 16 << 10, /* bytes of a list of categories in a message */
};

enum provider_mode {
	PROVIDER_ONESHOT = 1,   /* a block is used once */
	PROVIDER_STREAMING = 2, /* the manager returns blocks that it has read */
	PROVIDER_CIRCULAR = 3,  /* the oldest block is overwritten */
};

enum provider_clock {
	PROVIDER_CLOCK_BOOTTIME = 1, /* times are nanoseconds of CLOCK_BOOTTIME */
	PROVIDER_CLOCK_TSC = 2,      /* times are stamps of the CPU, which the manager translates */
};

/* Counters of a slot; they only grow. */
struct provider_counters {
	uint64_t full;        /* records for which no block was free */
	uint64_t large;       /* records that are longer than a block, or than the format allows */
	uint64_t overwritten; /* records in blocks that were overwritten (circular) */
	uint64_t durable;     /* strings and threads that the durable part could not hold */
	uint64_t reserved[4];
};

/* A row of the table of blocks. */
struct provider_block {
	uint64_t number; /* how many blocks had been taken, with this one; 0 = never taken */
	uint64_t end;    /* 0 while the block is in use; then the bytes used, + 1 */
};

/* The begin of the data file. The durable part, the table of blocks, and the blocks follow. */
struct provider_data {
	uint64_t magic;
	uint64_t durable_used; /* bytes of the durable part that were reserved; can exceed it */
	uint64_t reserved[510];
	struct provider_counters counters[PROVIDER_SLOTS];
};

/*
 * The control file. `ring` has the numbers of free blocks: the element number I (counted from 0) is
 * at I modulo the number of blocks. The program takes them in this order.
 */
struct provider_control {
	uint64_t magic;
	uint64_t released; /* elements that were put into the ring */
	uint64_t reserved[6];
	uint32_t ring[PROVIDER_BLOCKS_MAX];
};

_Static_assert(sizeof(struct provider_data) == PROVIDER_DURABLE_OFFSET, "layout of version 1");
_Static_assert(sizeof(struct provider_block) == 16, "layout of version 1");
_Static_assert(sizeof(struct provider_counters) == 64, "layout of version 1");

/*
 * The header of a record that is reserved, but not finished: metadata of type 15, which does not
 * exist. The size is right.
 */
#define PROVIDER_BUSY_BITS UINT64_C(0xf0000)
#define PROVIDER_BUSY_MASK UINT64_C(0xffffffffffff000f)

/*
 * Threads in the buffer: the process is 0, and the thread is a tid as the program sees it, or a
 * track (pseudo-thread): this bit and a number.
 */
#define PROVIDER_TRACK UINT64_C(0x100000000)

/* ---- messages, one per packet of the socket ---- */

enum provider_message_kind {
	PROVIDER_HELLO = 1, /* from the program: its name */
	PROVIDER_CATEGORIES =
		2,            /* from the program: names, each with a NUL; adds to earlier ones */
	PROVIDER_START = 3,   /* to the program, with the data and the control file */
	PROVIDER_STOP = 4,    /* to the program */
	PROVIDER_STARTED = 5, /* from the program: the session is on, or `error` */
	PROVIDER_STOPPED = 6, /* from the program: no thread writes to the buffer any more */
};

struct provider_message {
	uint32_t kind;
	uint32_t version;
	uint64_t session;
	uint32_t mode, clock;           /* START */
	uint32_t n_blocks, block_bytes; /* START */
	int32_t error;                  /* STARTED: a negative errno, or 0 */
	uint32_t text_bytes;
	/* START: patterns, separated by commas; HELLO: the name; CATEGORIES: the names */
	char text[PROVIDER_TEXT_MAX];
};

#define PROVIDER_MESSAGE_HEAD (sizeof(struct provider_message) - PROVIDER_TEXT_MAX)

/* Below the run directory. */
#define PROVIDER_RUN_DIR  "/run/kymo"
#define PROVIDER_SOCKET   "providers"
#define PROVIDER_DOORBELL "providers.bell"
