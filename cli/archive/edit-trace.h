/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the verbs share that make an archive from archives: where the result goes, and what becomes
 * of it when something fails.
 *
 * OUT's suffix says what it is packed in, if it is. An output that was not finished goes again, or
 * is empty if it was there before; one that is whole but made from a damaged archive stays, and the
 * command ends with CLI_DAMAGE.
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

/* The options that each of these verbs has, and their lines of --help. */
struct edit_trace_options {
	bool force, json;
};

#define EDIT_TRACE_ROWS(o) OPTION_FLAG("force", &(o)->force), OPTION_FLAG("json", &(o)->json)
#define EDIT_TRACE_HELP                                                                            \
	"      --force        replace an existing file\n"                                          \
	"      --json         print a report as JSON\n"                                            \
	"  -h, --help         show this\n"

/*
 * Opens PATH ("-" = standard output) as packed_output_open() does, but none of the N archives at
 * IN. Returns CLI_OK, or CLI_FAILED when it has said why.
 */
int edit_trace_open(struct edit_trace *t, const char *path, bool force, const struct open_trace *in,
		    unsigned n);

/* The same into FD (borrowed), a file without a name that is called NAME in messages. */
int edit_trace_open_fd(struct edit_trace *t, int fd, const char *name);

/* Writes what has collected, if it is much, or with ALL. Returns as above. */
int edit_trace_flush(struct edit_trace *t, bool all);

/* Says what the negative errno E of an edit_* function means. Returns CLI_FAILED. */
int edit_trace_failed(struct edit_trace *t, int e);

/* Takes each record of IN, past damage. USERDATA's answer is that of an edit_* function. */
typedef int (*edit_trace_fn)(void *userdata, const struct fxt_record *record);
int edit_trace_take_all(struct edit_trace *t, struct open_trace *in, edit_trace_fn take,
			void *userdata);

/* All was made: writes what is left. Returns as above. */
int edit_trace_finish(struct edit_trace *t);

/* Lets go, also of a file that was not finished. */
void edit_trace_close(struct edit_trace *t);

/* Says on stderr what of NAME could not be carried over, since nobody knows what it means. */
void edit_trace_say_unknown(const char *name, const struct edit_counts *counts);

/* The same as members of a report; and after how many records there are. */
#define EDIT_TRACE_UNKNOWN(counts)                                                                 \
	JSON("records_refused", (counts)->refused),                                                \
		JSON("arguments_dropped", (counts)->arguments),                                    \
		JSON("records_shortened", (counts)->longer)
#define EDIT_TRACE_COPIED(counts) JSON_OF(counts, records), EDIT_TRACE_UNKNOWN(counts)

/* With what each report begins: where it went, and how large it is. */
struct json_object *edit_trace_json(const struct edit_trace *t);
