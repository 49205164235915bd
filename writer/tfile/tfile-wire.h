/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The words and numbers of GDB trace files:
 *
 *	file  = magic line* "\n" frame* end
 *	frame = tracepoint:i16 size:u32 block*		(size of all blocks)
 *	block = 'R' bytes | 'M' address:u64 length:u16 bytes | 'V' number:i32 value:i64
 *	end   = 0:i16, which GDB writes as four bytes
 *
 * Numbers in lines are hexadecimal, also after `R` (contrary to the manual). Numbers in frames have
 * the byte order of the traced machine. GDB puts each tracepoint that it reads before the previous
 * ones, and then numbers them. So files have the highest number first, which makes GDB assign the
 * same numbers.
 */
#pragma once

#include <string.h>

#include "writer/tfile/tfile-model.h"

#define TFILE_MAGIC "\x7fTRACE0\n"

enum {
	TFILE_MAGIC_BYTES = 8,
	TFILE_FRAME_HEAD_BYTES = 6,
	TFILE_END_BYTES = 2,          /* minimum size of the end */
	TFILE_END_BYTES_WRITTEN = 4,  /* bytes that GDB writes */
	TFILE_MEMORY_HEAD_BYTES = 11, /* with the letter, like the next constant */
	TFILE_VARIABLE_BYTES = 13,
};

/* The beginnings of lines. */
#define TFILE_LINE_REGISTERS   "R "
#define TFILE_LINE_STATUS      "status "
#define TFILE_LINE_VARIABLE    "tsv "
#define TFILE_LINE_TRACEPOINT  "tp "
#define TFILE_LINE_DESCRIPTION "tdesc "

/* The kinds of lines about a tracepoint: the letter after "tp ". */
enum tfile_tracepoint_line {
	TFILE_TP_DEFINITION = 'T',
	TFILE_TP_ACTION = 'A',
	TFILE_TP_STEP_ACTION = 'S',
	TFILE_TP_SOURCE = 'Z',
	TFILE_TP_COUNTS = 'V',
};

/* Kinds of source in a line TFILE_TP_SOURCE. */
#define TFILE_SOURCE_AT        "at"
#define TFILE_SOURCE_CONDITION "cond"
#define TFILE_SOURCE_COMMAND   "cmd"

/* The names of the reasons to stop, by enum tfile_stop. */
static const struct {
	const char *name;
	bool has_text; /* a text can follow, in hexadecimal */
} tfile_stops[TFILE_STOPS] = {
	[TFILE_STOP_UNKNOWN] = { "tunknown", false },
	[TFILE_STOP_NOT_RUN] = { "tnotrun", false },
	[TFILE_STOP_COMMAND] = { "tstop", true },
	[TFILE_STOP_FULL] = { "tfull", false },
	[TFILE_STOP_DISCONNECTED] = { "tdisconnected", false },
	[TFILE_STOP_PASSES] = { "tpasscount", false },
	[TFILE_STOP_ERROR] = { "terror", true },
};

/* The keys of a status that are numbers. */
static const struct {
	const char *name;
	unsigned has;  /* bit of the member in TFILE_HAS_* */
	size_t offset; /* offset of a uint64_t in struct tfile_status */
} tfile_status_numbers[] = {
	{ "tframes", TFILE_HAS_FRAMES, offsetof(struct tfile_status, frames) },
	{ "tcreated", TFILE_HAS_CREATED, offsetof(struct tfile_status, created) },
	{ "tfree", TFILE_HAS_FREE, offsetof(struct tfile_status, free_bytes) },
	{ "tsize", TFILE_HAS_SIZE, offsetof(struct tfile_status, size_bytes) },
	{ "circular", TFILE_HAS_CIRCULAR, offsetof(struct tfile_status, circular) },
	{ "disconn", TFILE_HAS_DISCONNECTED, offsetof(struct tfile_status, disconnected) },
	{ "starttime", TFILE_HAS_START, offsetof(struct tfile_status, start_us) },
	{ "stoptime", TFILE_HAS_STOP, offsetof(struct tfile_status, stop_us) },
};

/* The keys of a status whose values are texts, in hexadecimal. */
static const struct {
	const char *name;
	size_t offset; /* offset of a const char * in struct tfile_status */
} tfile_status_texts[] = {
	{ "username", offsetof(struct tfile_status, user) },
	{ "notes", offsetof(struct tfile_status, notes) },
};

/*
 * A line of the description for a mapping: start, end, file offset, build ID and path. `%`, `-`,
 * `<`, and bytes that are no printable characters are written like %2d.
 */
#define TFILE_MAP_BEGIN       "<!-- map "
#define TFILE_MAP_END         " -->"
#define TFILE_MAP_NO_BUILD_ID "none"

/* Returns true if a line of the description would make a reader open another file. */
static inline bool tfile_includes(const char *line)
{
	return strstr(line, "<xi:include") != NULL;
}
