/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens an archive for a verb that reads, unpacks it if it is packed, and speaks of what goes wrong
 * with it. Bytes are counted in the archive as it is unpacked.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "reader/apitrace/apitrace-reader.h"
#include "reader/fxt/fxt-reader.h"
#include "reader/packed/packed-stream.h"
#include "reader/tfile/tfile-reader.h"
#include "reader/tracedb/tracedb-reader.h"

struct open_trace {
	const char *name; /* borrowed; for messages */
	int fd;
	struct packed_stream stream; /* what the reader reads */
	struct fxt_reader *reader;
	uint64_t n_damages;
	struct apitrace_reader *calls; /* of a call trace, which has no `reader` */
	struct tfile_reader *frames;   /* likewise, of a GDB trace file */
	struct tracedb_reader *points; /* likewise, of a trace-db file */
	bool container_damaged;        /* one of these ends where it could not be unpacked */
};

#define OPEN_TRACE_NULL                                                                            \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/*
 * Opens the archive at PATH; "-" is standard input. *T must stay where it is until it is closed.
 * Returns CLI_OK, or CLI_FAILED when it has said what is wrong.
 */
int open_trace(struct open_trace *t, const char *path);

/* What a verb takes beside archives. */
struct open_trace_kinds {
	bool calls;  /* call traces (apitrace): then t->calls is set instead of t->reader */
	bool frames; /* GDB trace files: then t->frames is */
	bool points; /* trace-db files: then t->points is */
	/* Are told what is wrong with such a file; may be NULL. */
	apitrace_finding_fn call_finding;
	tfile_finding_fn frame_finding;
	void *call_userdata, *frame_userdata;
};

/* The same for a verb that takes KINDS, too. */
int open_trace_of(struct open_trace *t, const char *path, const struct open_trace_kinds *kinds);

/* Reads on in a call trace, as apitrace_reader_next(), but damage has been described on stderr and
 * counted. Returns 1 with *RET, 0 at the end, or -1 when it has said that reading failed. */
int open_trace_next_call(struct open_trace *t, const struct apitrace_call **ret);

/* The same in a GDB trace file, and in a trace-db file. */
int open_trace_next_frame(struct open_trace *t, const struct tfile_frame **ret);
int open_trace_next_point(struct open_trace *t, const struct tracedb_point **ret);

void open_trace_close(struct open_trace *t);

/*
 * Reads on, as fxt_reader_next(); *RET_DAMAGE is set with FXT_READER_DAMAGE. What could not be
 * unpacked is damage, too, where it is missing, and is reported once.
 */
int open_trace_step(struct open_trace *t, const struct fxt_record **ret,
		    struct fxt_damage *ret_damage);

/* "zstd", "" if the archive is not packed. */
const char *open_trace_packed(const struct open_trace *t);

/*
 * Gets the next record, past damage, of which it speaks on stderr. Returns 1, 0 at the end, or -1
 * when it has said that reading failed.
 */
int open_trace_next(struct open_trace *t, const struct fxt_record **ret);

/* Speaks of damage at OFFSET that the verb itself came upon. */
void open_trace_damage(struct open_trace *t, uint64_t offset, const char *what);

/*
 * Says what is the matter with a file that is no trace: ALIEN is an enum fxt_alien, DAMAGE what
 * ended the unpacking, or NULL.
 */
void open_trace_say_alien(const char *name, const struct unpack_damage *damage, int alien);

/* Says that reading failed with the negative errno E. Returns CLI_FAILED. */
int open_trace_failed(const struct open_trace *t, int e);

/* Sums up the damage on stderr. Returns CLI_OK, or CLI_DAMAGE if there was any. */
int open_trace_finish(struct open_trace *t);
