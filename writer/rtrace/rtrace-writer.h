/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes a leak report: lines (rtrace-line.h), in an order that readers can follow.
 *
 * What must come in which order is checked here, since readers do not say what they pass over: the
 * header first; resources before all calls; what a call is of is registered, and is named by calls
 * if there is more than one; arguments follow their call, frames the arguments, and an end the
 * frames (also where there are none). Only a report whose header says "compress" has calls that
 * share a backtrace, with a summary before it. Maps precede the frames that lie in them: the
 * caller's duty.
 *
 * It appends to a buffer and does nothing else. Functions return what rtrace_line_*() do; -EINVAL
 * for what comes out of order, too. What is refused leaves no trace.
 */
#pragma once

#include "writer/rtrace/rtrace-line.h"

struct rtrace_writer_options {
	bool spec_time; /* microseconds, as the specification has them: others take them for ms */
};

struct rtrace_writer {
	struct outbuf *out; /* borrowed */
	struct rtrace_writer_options options;
	enum {
		RTRACE_AT_START,
		RTRACE_AT_REST,
		RTRACE_AT_CALL,
		RTRACE_AT_SUMMARY,
		RTRACE_AT_FRAME
	} at;
	bool grouped;    /* the header says so */
	bool has_called; /* no resource can be registered any more */
	unsigned n_types;
	struct rtrace_writer_type {
		uint32_t mask;
		unsigned n;
		char text[RTRACE_TYPE_MAX];
	} types[RTRACE_RESOURCE_MAX];
};

void rtrace_writer_init(struct rtrace_writer *w, struct outbuf *out,
			const struct rtrace_writer_options *options);

int rtrace_write_header(struct rtrace_writer *w, const struct rtrace_header *h);
int rtrace_write_attachment(struct rtrace_writer *w, const struct rtrace_attachment *a);
int rtrace_write_context(struct rtrace_writer *w, const struct rtrace_context *c);
int rtrace_write_map(struct rtrace_writer *w, const struct rtrace_map *m);
int rtrace_write_note(struct rtrace_writer *w, struct rtrace_text text);

/* A resource: one bit and one type each. */
int rtrace_write_resource(struct rtrace_writer *w, const struct rtrace_resource *r);

/* The same for one that tools know. Its bit is that of its place in the table, below. */
int rtrace_write_known_resource(struct rtrace_writer *w, enum rtrace_known_resource which);
struct rtrace_resource rtrace_known_resource(enum rtrace_known_resource which);

/* A call; its type is one that was registered, or without bytes the only one. */
int rtrace_write_call(struct rtrace_writer *w, const struct rtrace_call *c);
int rtrace_write_arg(struct rtrace_writer *w, const struct rtrace_arg *a);
int rtrace_write_calls_summary(struct rtrace_writer *w, uint64_t count, uint64_t size);
int rtrace_write_frame(struct rtrace_writer *w, const struct rtrace_frame *f);
int rtrace_write_end(struct rtrace_writer *w);

int rtrace_write_leaks_summary(struct rtrace_writer *w, const struct rtrace_summary *s);

/* Room enough for what follows. */
enum { RTRACE_TIMESTAMP_MAX = 64 };

/* SECONDS since 1970 as the header's timestamp, in UTC. Writes to TO and returns TO. */
char *rtrace_format_timestamp(char to[RTRACE_TIMESTAMP_MAX], int64_t seconds);
