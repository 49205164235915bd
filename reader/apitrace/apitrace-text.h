/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Prints calls byte for byte like the format's own tool (`apitrace dump`), whose output other
 * programs parse. The output never controls a terminal: names with control characters are cleaned
 * (text_clean()).
 *
 * Two flaws of that tool are kept: strings end at their first NUL, and carriage returns are left
 * out; and the escapes of characters other than ASCII have wrong digits (\777 for 0xff).
 */
#pragma once

#include "base/outbuf.h"
#include "writer/apitrace/apitrace-model.h"

/* Appends the representation of a blob to TO. */
typedef void (*apitrace_text_blob_fn)(void *userdata, struct outbuf *to,
				      const struct apitrace_text *blob);

struct apitrace_text_options {
	bool thread_ids; /* print ids of threads, in hexadecimal */
	bool no_numbers; /* do not print numbers of calls */
	bool no_arg_names;
	/* Print a call in one line: line feeds in strings are escaped, backtraces left out. */
	bool one_line;
	apitrace_text_blob_fn blob; /* prints blobs; NULL = print their size */
	void *userdata;             /* passed to `blob` */
};

/* Append a call or a property, with its line feed. Return 0 or a negative errno. */
int apitrace_text_call(struct outbuf *to, const struct apitrace_call *call,
		       const struct apitrace_text_options *options);
int apitrace_text_property(struct outbuf *to, const struct apitrace_property *property,
			   const struct apitrace_text_options *options);

/* Appends a stack frame, without a line feed. */
int apitrace_text_frame(struct outbuf *to, const struct apitrace_frame *frame);

/* Appends a name, cleaned. */
int apitrace_text_name(struct outbuf *to, const struct apitrace_text *name);

/* ---- the meaning of names for the format's tools ---- */

/* Returns true if a call of FUNCTION ends a frame (a picture) of a graphics program. */
bool apitrace_ends_frame(const struct apitrace_text *function);

/* Returns true if CALL changes nothing, and is shown only on request. */
bool apitrace_is_query(const struct apitrace_call *call);
