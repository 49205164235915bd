/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records as lines: the limits of each field and the order of the parts, and nothing of the order
 * of the lines (rtrace-writer.h). A line is appended whole or not at all.
 *
 * All return 0; -EINVAL for a value that the format has no form for; -EMSGSIZE for a line or name
 * that other readers have no room for; or what the buffer says.
 *
 * In what has to be one word (paths, values) spaces, control characters and DEL are written as \ooo
 * (octal), as in /proc/PID/maps; in comments '%' is, since a reader takes them for formats. What is
 * written so already stays as it is, so that what was read can be written again.
 */
#pragma once

#include "base/outbuf.h"
#include "writer/rtrace/rtrace-record.h"

/*
 * What header values cannot hold (',', '=' and control characters) becomes '_', and their ends are
 * cut: a process may call itself anything.
 */
int rtrace_line_header(struct outbuf *out, const struct rtrace_header *h);

int rtrace_line_attachment(struct outbuf *out, const struct rtrace_attachment *a);
int rtrace_line_context(struct outbuf *out, const struct rtrace_context *c);
int rtrace_line_resource(struct outbuf *out, const struct rtrace_resource *r);
int rtrace_line_map(struct outbuf *out, const struct rtrace_map *m);

/* How times are written, and whether the resource of a call is named. */
struct rtrace_call_style {
	unsigned digits; /* RTRACE_TIME_DIGITS or RTRACE_TIME_SPEC_DIGITS */
	bool typed;
};

/*
 * A size that does not fit becomes RTRACE_INT_MAX, and the right one an argument behind it. A time
 * that is shorter than its digits say is left out, as it is by the reader whose form this is: calls
 * without a time are those of time 0 (not with the digits of the specification).
 */
int rtrace_line_call(struct outbuf *out, const struct rtrace_call *c,
		     const struct rtrace_call_style *style);

int rtrace_line_arg(struct outbuf *out, const struct rtrace_arg *a);
int rtrace_line_frame(struct outbuf *out, const struct rtrace_frame *f);

/* The empty line behind a backtrace. */
int rtrace_line_end(struct outbuf *out);

/* TEXT is one line; "## " is put before one that is no comment. */
int rtrace_line_note(struct outbuf *out, struct rtrace_text text);

/* "# allocation summary: ..." before the backtrace that calls share. */
int rtrace_line_calls_summary(struct outbuf *out, const struct rtrace_summary *s);

/* "# Resource - ..." and "# ... leaked ..." at the end of a report: two lines. */
int rtrace_line_leaks_summary(struct outbuf *out, const struct rtrace_summary *s);

/* Any of them; calls are written with the type that they have. */
int rtrace_line_record(struct outbuf *out, const struct rtrace_record *r);
