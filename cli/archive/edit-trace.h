/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shared part of verbs that make archives from archives: the output, and what remains of it
 * after an error.
 *
 * The suffix of OUT selects the compression. An unfinished output is removed, or truncated to 0
 * bytes if it existed before. An output that is complete, but made from a damaged archive, is kept,
 * and the command exits with CLI_DAMAGE.
 */
#pragma once

#include "base/cleanup.h"
#include "cli/common/json.h"
#include "cli/common/open-trace.h"
#include "cli/common/packed-output.h"
#include "cli/common/verb-options.h"
#include "edit/edit-copy.h"

struct edit_trace {
	struct packed_output to;
	struct edit_output output;
};

#define EDIT_TRACE_NULL                                                                            \
	{                                                                                          \
		.to = {.file = { .fd = -1 } }                                                      \
	}

/* The options of all these verbs, and their lines of --help. */
struct edit_trace_options {
	bool force, json;
};

#define EDIT_TRACE_ROWS(o) OPTION_FLAG("force", &(o)->force), OPTION_FLAG("json", &(o)->json)
#define EDIT_TRACE_HELP                                                                            \
	"      --force        replace an existing file\n"                                          \
	"      --json         print a report as JSON\n"                                            \
	"  -h, --help         show this\n"

/* Opens PATH ("-" = standard output) as packed_output_open() does, but refuses a file that is one
 * of the N archives at IN. Returns CLI_OK, or CLI_FAILED after an error message. */
int edit_trace_open(struct edit_trace *t, const char *path, bool force, const struct open_trace *in,
		    unsigned n);

/*
 * Opens FD (borrowed), a file without a name, like edit_trace_open(). Messages call the file NAME.
 */
int edit_trace_open_fd(struct edit_trace *t, int fd, const char *name);

/*
 * Writes the collected data, if it is large or ALL is true. Returns CLI_OK, or CLI_FAILED after an
 * error message.
 */
int edit_trace_flush(struct edit_trace *t, bool all);

/* Prints an error message for the negative errno E of an edit_* function. Returns CLI_FAILED. */
int edit_trace_failed(struct edit_trace *t, int e);

/* Processes one record; damage is skipped. Returns the result of an edit_* function. */
typedef int (*edit_trace_fn)(void *userdata, const struct fxt_record *record);
int edit_trace_process_all(struct edit_trace *t, struct open_trace *in, edit_trace_fn fn,
			   void *userdata);

/*
 * Writes the remaining data of a complete output. Returns CLI_OK, or CLI_FAILED after an error
 * message.
 */
int edit_trace_finish(struct edit_trace *t);

/* Releases the resources, and removes an unfinished file. */
void edit_trace_close(struct edit_trace *t);

/* Prints on stderr which data of NAME was not copied because its meaning is unknown. */
void edit_trace_report_unknown(const char *name, const struct edit_counts *counts);

/*
 * Members of a report: how much data was not copied because its meaning is unknown.
 * EDIT_TRACE_COPIED also has the number of copied records.
 */
#define EDIT_TRACE_UNKNOWN(counts)                                                                 \
	JSON("records_refused", (counts)->refused),                                                \
		JSON("arguments_dropped", (counts)->arguments),                                    \
		JSON("records_shortened", (counts)->longer)
#define EDIT_TRACE_COPIED(counts) JSON_OF(counts, records), EDIT_TRACE_UNKNOWN(counts)

/* Returns the first members of each report: the output and its size. */
struct json_object *edit_trace_json(const struct edit_trace *t);
