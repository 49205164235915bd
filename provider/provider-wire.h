/* SPDX-License-Identifier: MIT */
/*
 * The interface between a program that uses libkymo-provider and the manager, which reads the
 * program's buffers: the layout of a buffer, and the messages. docs/architecture/providers.md
 * explains both.
 *
 * A buffer has two files. The program writes the data file, and the manager writes the control
 * file. Each of them maps both files, and the file of the other one read-only. All numbers are
 * little-endian. Offsets are fixed by version 1.
 */
#pragma once

#include <stdint.h>

#define PROVIDER_WIRE_VERSION 1

/*
 * The magic of the data file, which the program writes when it has attached: "KYMORV", 0 and the
 * version.
 */
#define PROVIDER_WIRE_MAGIC (UINT64_C(0x0056524f4d594b) | (uint64_t)PROVIDER_WIRE_VERSION << 56)

enum {
	PROVIDER_SLOTS = 64,        /* number of current blocks; a thread uses that of its CPU */
	PROVIDER_BLOCKS_MAX = 4096, /* blocks of a buffer */
	PROVIDER_BLOCK_MIN = 4096,  /* bytes; the size of a block is a power of two */
	PROVIDER_BLOCK_MAX = 64 << 10,
	PROVIDER_DURABLE_BYTES = 1 << 20,
	PROVIDER_DURABLE_OFFSET = 0x2000,
	PROVIDER_TABLE_OFFSET = PROVIDER_DURABLE_OFFSET + PROVIDER_DURABLE_BYTES,
	PROVIDER_BLOCKS_OFFSET = PROVIDER_TABLE_OFFSET + PROVIDER_BLOCKS_MAX * 16,
	PROVIDER_CATEGORIES_MAX = 1024, /* bytes of the patterns in a message */
	PROVIDER_NAME_BYTES = 64,
	PROVIDER_TEXT_MAX = 16 << 10, /* bytes of text in a message */
};

enum provider_mode {
	PROVIDER_ONESHOT = 1,   /* a block is used once */
	PROVIDER_STREAMING = 2, /* the manager gives back the blocks that it has read */
	PROVIDER_CIRCULAR = 3,  /* the oldest block is overwritten */
};

enum provider_clock {
	PROVIDER_CLOCK_BOOTTIME = 1, /* times are nanoseconds of CLOCK_BOOTTIME */
	PROVIDER_CLOCK_TSC = 2,      /* times are CPU time stamps, which the manager converts */
};

/* Counters of a slot; they only grow. */
struct provider_counters {
	uint64_t full;        /* records for which no block was free */
	uint64_t large;       /* records longer than a block, or than the format allows */
	uint64_t overwritten; /* records in blocks that were overwritten (circular) */
	uint64_t durable;     /* strings and threads for which the durable part had no room */
	uint64_t reserved[4];
};

/* A row of the table of blocks. */
struct provider_block {
	uint64_t number; /* number of blocks taken so far, with this one; 0 = never taken */
	uint64_t end;    /* 0 = in use; otherwise the number of used bytes + 1 */
};

/* The begin of the data file. Behind it are the durable part, the table of blocks, and the
 * blocks. */
struct provider_data {
	uint64_t magic;
	uint64_t durable_used; /* bytes reserved in the durable part; can exceed its size */
	uint64_t reserved[510];
	struct provider_counters counters[PROVIDER_SLOTS];
};

/*
 * The control file. `ring` has the indices of free blocks, which the program takes in this order:
 * free block number I (from 0) is at ring[I modulo the number of blocks].
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
 * exist. Its size field is already right.
 */
#define PROVIDER_BUSY_BITS UINT64_C(0xf0000)
#define PROVIDER_BUSY_MASK UINT64_C(0xffffffffffff000f)

/*
 * In a buffer, the process of a thread is 0, and the thread is its tid in the program's pid
 * namespace, or for a track (a pseudo-thread), this bit and the number of the track.
 */
#define PROVIDER_TRACK UINT64_C(0x100000000)

/* ---- messages, one per packet of the socket ---- */

enum provider_message_kind {
	PROVIDER_HELLO = 1,      /* from the program: its name */
	PROVIDER_CATEGORIES = 2, /* from the program: more names of categories, each with a NUL */
	PROVIDER_START = 3,      /* to the program, with both files (data, control) */
	PROVIDER_STOP = 4,       /* to the program */
	PROVIDER_STARTED = 5,    /* from the program: the session is on, or `error` */
	PROVIDER_STOPPED = 6,    /* from the program: no thread uses the buffer any more */
};

struct provider_message {
	uint32_t kind;
	uint32_t version;
	uint64_t session;
	uint32_t mode, clock;           /* START */
	uint32_t n_blocks, block_bytes; /* START */
	int32_t error;                  /* STARTED: a negative errno, or 0 */
	uint32_t text_bytes;
	/* START: patterns, with commas between them; HELLO: the name; CATEGORIES: the names */
	char text[PROVIDER_TEXT_MAX];
};

#define PROVIDER_MESSAGE_HEAD (sizeof(struct provider_message) - PROVIDER_TEXT_MAX)

/* Below the run directory. */
#define PROVIDER_RUN_DIR  "/run/kymo"
#define PROVIDER_SOCKET   "providers"
#define PROVIDER_DOORBELL "providers.bell"
