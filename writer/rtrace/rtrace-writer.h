/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes a leak report: lines (rtrace-line.h), in an order that readers support.
 *
 * The order is checked here, since readers ignore misplaced records silently. The header is first.
 * Resources precede all calls. The resource of a call is registered, and calls name it if there is
 * more than one. Arguments follow their call, frames follow the arguments, and an end follows the
 * frames (even if there are none). Calls can share a backtrace only if the header contains
 * "compress"; a summary must then precede the frames. The caller must write maps before the frames
 * in them.
 *
 * The functions only append to a buffer. They return as rtrace_line_*(), and -EINVAL for a record
 * that is out of order. A refused record leaves the buffer unchanged.
 */
#pragma once

#include "writer/rtrace/rtrace-line.h"

struct rtrace_writer_options {
	/*
	 * Write times in microseconds, as the specification requires. Other readers take these
	 * times for milliseconds.
	 */
	bool spec_time;
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
	bool grouped;    /* the header contains "compress" */
	bool has_called; /* a call was written, so no more resources can be registered */
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

/* Registers a resource, which has one bit and one type. */
int rtrace_write_resource(struct rtrace_writer *w, const struct rtrace_resource *r);

/* Returns the known resource WHICH. Its mask has the bit with the number WHICH. */
struct rtrace_resource rtrace_known_resource(enum rtrace_known_resource which);

/* Writes a call. Its type must be registered; an empty type means the only registered one. */
int rtrace_write_call(struct rtrace_writer *w, const struct rtrace_call *c);
int rtrace_write_arg(struct rtrace_writer *w, const struct rtrace_arg *a);
int rtrace_write_calls_summary(struct rtrace_writer *w, uint64_t count, uint64_t size);
int rtrace_write_frame(struct rtrace_writer *w, const struct rtrace_frame *f);
int rtrace_write_end(struct rtrace_writer *w);

int rtrace_write_leaks_summary(struct rtrace_writer *w, const struct rtrace_summary *s);

/* The size of the buffers for the texts of the functions below. */
enum { RTRACE_TIMESTAMP_MAX = 64 };

/* Formats SECONDS since 1970 like the header's timestamp, in UTC. Writes to TO and returns TO. */
char *rtrace_format_timestamp(char to[RTRACE_TIMESTAMP_MAX], int64_t seconds);
