/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes a call trace, version 6, event by event, into a buffer of the caller. The caller must
 * compress the buffer (writer/pack/): readers of such files expect Snappy chunks, and a chunk for
 * the header alone, so that a crash leaves it intact.
 *
 * 	apitrace_writer_header(w, properties, n);
 * 	no = apitrace_writer_enter(w, tid, &function);
 * 	apitrace_writer_arg(w, 0), apitrace_put_string(w, path, n);
 * 	apitrace_writer_end(w);
 * 	apitrace_writer_leave(w, no);
 * 	apitrace_writer_ret(w), apitrace_put_sint(w, -2);
 * 	r = apitrace_writer_end(w);
 *
 * If apitrace_writer_end() returns 0, the whole event is in the buffer; otherwise, nothing of the
 * event is. apitrace_writer_end() returns -EINVAL for an event that violates the format (an
 * argument that the function does not declare, too many or too few values). After a failure, all
 * later events fail, too, since the lost event may have contained a signature.
 */
#pragma once

#include "writer/apitrace/apitrace-put.h"

void apitrace_writer_init(struct apitrace_writer *w, struct outbuf *out);

/* Begins the stream. Returns 0 or a negative errno (-EINVAL: a property without a name). */
int apitrace_writer_header(struct apitrace_writer *w, const struct apitrace_property *properties,
			   size_t n);

/* Begin an event. apitrace_writer_enter() returns the number of the call. */
uint32_t apitrace_writer_enter(struct apitrace_writer *w, uint32_t thread,
			       struct apitrace_names *function);
void apitrace_writer_leave(struct apitrace_writer *w, uint32_t no);

/* Write details of an event. After an argument or a result, its value must follow. */
void apitrace_writer_arg(struct apitrace_writer *w, uint32_t number);
void apitrace_writer_ret(struct apitrace_writer *w);
void apitrace_writer_flags(struct apitrace_writer *w, uint32_t flags);
void apitrace_writer_backtrace(struct apitrace_writer *w, struct apitrace_frame *const *frames,
			       size_t n);

/* Ends the event. Returns 0 or a negative errno. */
int apitrace_writer_end(struct apitrace_writer *w);
