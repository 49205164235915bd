/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens an archive for a verb, unpacks it if it is compressed, and reports errors and damage.
 * Offsets are in the uncompressed archive.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/common/nothing-there.h"
#include "cli/common/progress.h"
#include "reader/apitrace/apitrace-reader.h"
#include "reader/fxt/fxt-reader.h"
#include "reader/packed/packed-stream.h"
#include "reader/tfile/tfile-reader.h"
#include "reader/tracedb/tracedb-reader.h"

struct open_trace {
	const char *name; /* name for messages; borrowed */
	int fd;
	struct packed_stream stream; /* the input of the reader */
	struct fxt_reader *reader;
	uint64_t n_damages;
	struct nothing_there parts;    /* parts of the events that read_events() has read */
	struct apitrace_reader *calls; /* reader of a call trace, instead of `reader` */
	struct tfile_reader *frames;   /* reader of a GDB trace file, instead of `reader` */
	struct tracedb_reader *points; /* reader of a trace-db file, instead of `reader` */
	/*
	 * The verb prints while it reads: no progress is shown if standard output is a terminal.
	 * The verb sets this member after it has opened the trace.
	 */
	bool prints;
	bool shared; /* the verb itself shows the progress, for several traces */
	struct progress progress;
	uint64_t n_steps;       /* number of records, calls, frames or points that were requested */
	bool container_damaged; /* the decompression of a trace other than an archive failed */
};

#define OPEN_TRACE_NULL                                                                            \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/* Opens the archive at PATH; "-" is standard input. *T must not be moved until it is closed.
 * Returns CLI_OK, or CLI_FAILED after an error message. */
int open_trace(struct open_trace *t, const char *path);

/* The formats that a verb accepts besides archives. */
struct open_trace_kinds {
	bool calls;  /* call traces (apitrace), which are read by t->calls */
	bool frames; /* GDB trace files, which are read by t->frames */
	bool points; /* trace-db files, which are read by t->points */
	/* Receives findings in a call trace; can be NULL. */
	apitrace_finding_fn call_finding;
	tfile_finding_fn frame_finding;
	void *call_userdata, *frame_userdata;
};

/* Opens a trace like open_trace(), for a verb that also accepts KINDS. */
int open_trace_of(struct open_trace *t, const char *path, const struct open_trace_kinds *kinds);

/* Reads the next call of a call trace, like apitrace_reader_next(), but describes damage on stderr
 * and counts it. Returns 1 with *RET, 0 at the end, or -1 after an error message. */
int open_trace_next_call(struct open_trace *t, const struct apitrace_call **ret);

/*
 * Read the next frame of a GDB trace file, and the next point of a trace-db file, like
 * open_trace_next_call().
 */
int open_trace_next_frame(struct open_trace *t, const struct tfile_frame **ret);
int open_trace_next_point(struct open_trace *t, const struct tracedb_point **ret);

void open_trace_close(struct open_trace *t);

/* Opens T again, to read it from its beginning. T is a regular file that was opened as PATH.
 * Returns CLI_OK, or CLI_FAILED after an error message. */
int open_trace_again(struct open_trace *t, const char *path);

/* Reads the next record, like fxt_reader_next(); *RET_DAMAGE is set with FXT_READER_DAMAGE. Data
 * that could not be unpacked is damage, too, and is reported once. */
int open_trace_step(struct open_trace *t, const struct fxt_record **ret,
		    struct fxt_damage *ret_damage);

/* Returns the compression, such as "zstd"; "" if the archive is not compressed. */
const char *open_trace_packed(const struct open_trace *t);

/* Reads the next record. Skips damage, and describes it on stderr. Returns 1, 0 at the end, or -1
 * after an error message. */
int open_trace_next(struct open_trace *t, const struct fxt_record **ret);

/* Reports damage at OFFSET that the verb itself has detected. */
void open_trace_damage(struct open_trace *t, uint64_t offset, const char *what);

/* Explains why a file is not a trace: ALIEN is an enum fxt_alien, DAMAGE the damage at which the
 * decompression ended, or NULL. */
void open_trace_complain_alien(const char *name, const struct unpack_damage *damage, int alien);

/* Prints that reading failed with the negative errno E. Returns CLI_FAILED. */
int open_trace_failed(const struct open_trace *t, int e);

/* Prints the total damage on stderr. Returns CLI_OK, or CLI_DAMAGE if the trace was damaged. */
int open_trace_finish(struct open_trace *t);
