/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes records as lines. Checks the limits of each field and the order of parts, but not the
 * order of lines (rtrace-writer.h). A line is appended completely or not at all.
 *
 * All functions return 0; -EINVAL for a value that the format cannot express; -EMSGSIZE for a line
 * or name that is too long for other readers; or the error of the buffer.
 *
 * In single words (paths, values), spaces, control characters and DEL are written as \ooo (octal),
 * as in /proc/PID/maps. In comments, '%' is escaped, since another reader uses comments as format
 * strings. Existing escapes are not escaped again, so that a report can be read and rewritten.
 */
#pragma once

#include "base/outbuf.h"
#include "writer/rtrace/rtrace-record.h"

/*
 * Writes the header. Characters that are not allowed in its values (',', '=' and control
 * characters) become '_', and values are truncated, since the name of a process can be any text.
 */
int rtrace_line_header(struct outbuf *out, const struct rtrace_header *h);

int rtrace_line_attachment(struct outbuf *out, const struct rtrace_attachment *a);
int rtrace_line_context(struct outbuf *out, const struct rtrace_context *c);
int rtrace_line_resource(struct outbuf *out, const struct rtrace_resource *r);
int rtrace_line_map(struct outbuf *out, const struct rtrace_map *m);

/* The representation of times in calls, and whether calls name their resource. */
struct rtrace_call_style {
	unsigned digits; /* digits of a time: RTRACE_TIME_DIGITS or RTRACE_TIME_SPEC_DIGITS */
	bool typed;
};

/*
 * Writes a call. A size that is too large is written as RTRACE_INT_MAX, with the real size in an
 * argument after the call. With RTRACE_TIME_DIGITS, a time that rounds down to 0 is left out, since
 * the reader of sp-rtrace treats calls without a time as calls at time 0.
 */
int rtrace_line_call(struct outbuf *out, const struct rtrace_call *c,
		     const struct rtrace_call_style *style);

int rtrace_line_arg(struct outbuf *out, const struct rtrace_arg *a);
int rtrace_line_frame(struct outbuf *out, const struct rtrace_frame *f);

/* Writes the empty line after a backtrace. */
int rtrace_line_end(struct outbuf *out);

/* Writes TEXT, one line. If TEXT is not a comment, "## " is inserted before it. */
int rtrace_line_note(struct outbuf *out, struct rtrace_text text);

/* Writes "# allocation summary: ..." before the backtrace that calls share. */
int rtrace_line_calls_summary(struct outbuf *out, const struct rtrace_summary *s);

/* Writes "# Resource - ..." and "# ... leaked ..." at the end of a report: two lines. */
int rtrace_line_leaks_summary(struct outbuf *out, const struct rtrace_summary *s);

/* Writes any record. Calls are written with their type. */
int rtrace_line_record(struct outbuf *out, const struct rtrace_record *r);
