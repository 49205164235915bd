/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/apitrace/apitrace-writer.h"

#include <errno.h>

#include "writer/apitrace/apitrace-put.h"

void apitrace_writer_init(struct apitrace_writer *w, struct outbuf *out)
{
	*w = (struct apitrace_writer){ .out = out };
}

int apitrace_writer_header(struct apitrace_writer *w, const struct apitrace_property *properties,
			   size_t n)
{
	w->begin = w->out->size;
	apitrace_put_number(w, APITRACE_VERSION_MAX);
	/* The version of the calls' semantics. Readers abort if this version is larger than that of
	 * the format. */
	apitrace_put_number(w, APITRACE_VERSION_MAX);
	for (size_t i = 0; i < n; i++) {
		/* An empty name ends the properties. */
		if (properties[i].name.n == 0)
			apitrace_put_failed(w, -EINVAL);
		apitrace_put_text(w, &properties[i].name);
		apitrace_put_text(w, &properties[i].value);
	}
	apitrace_put_number(w, 0);
	w->open = true;
	return apitrace_writer_end(w);
}

static void apitrace_writer_begin(struct apitrace_writer *w, enum apitrace_event event)
{
	if (w->open)
		apitrace_put_failed(w, -EINVAL);
	w->begin = w->out->size;
	w->open = true;
	w->missing = 0;
	apitrace_put_byte(w, (uint8_t)event);
}

uint32_t apitrace_writer_enter(struct apitrace_writer *w, uint32_t thread,
			       struct apitrace_names *function)
{
	apitrace_writer_begin(w, APITRACE_EVENT_ENTER);
	w->function = function;
	/* Readers count calls in 32 bits. */
	if (w->calls > UINT32_MAX)
		apitrace_put_failed(w, -EOVERFLOW);
	apitrace_put_number(w, thread);
	apitrace_put_names(w, function, &w->functions);
	return (uint32_t)w->calls++;
}

void apitrace_writer_leave(struct apitrace_writer *w, uint32_t no)
{
	apitrace_writer_begin(w, APITRACE_EVENT_LEAVE);
	w->function = NULL;
	if (no >= w->calls)
		apitrace_put_failed(w, -EINVAL);
	apitrace_put_number(w, no);
}

/* Begins a detail. Fails if values of the previous detail are missing. */
static void apitrace_writer_detail(struct apitrace_writer *w, enum apitrace_detail detail,
				   unsigned n_values)
{
	if (!w->open || w->missing > 0)
		apitrace_put_failed(w, -EINVAL);
	w->missing = n_values;
	apitrace_put_byte(w, (uint8_t)detail);
}

void apitrace_writer_arg(struct apitrace_writer *w, uint32_t number)
{
	/* For a leave event, the function is unknown here, and the caller checks the number. */
	if (w->function && number >= w->function->n)
		apitrace_put_failed(w, -EINVAL);
	apitrace_writer_detail(w, APITRACE_DETAIL_ARG, 1);
	apitrace_put_number(w, number);
}

void apitrace_writer_ret(struct apitrace_writer *w)
{
	apitrace_writer_detail(w, APITRACE_DETAIL_RET, 1);
}

void apitrace_writer_flags(struct apitrace_writer *w, uint32_t flags)
{
	apitrace_writer_detail(w, APITRACE_DETAIL_FLAGS, 0);
	apitrace_put_number(w, flags);
}

static void apitrace_writer_put_frame_text(struct apitrace_writer *w,
					   enum apitrace_frame_detail detail,
					   const struct apitrace_text *text)
{
	if (!text->bytes)
		return;
	apitrace_put_byte(w, (uint8_t)detail);
	apitrace_put_text(w, text);
}

static void apitrace_writer_put_frame(struct apitrace_writer *w, struct apitrace_frame *frame)
{
	if (!apitrace_put_id(w, &frame->number, &w->frames))
		return;
	apitrace_writer_put_frame_text(w, APITRACE_FRAME_MODULE, &frame->module);
	apitrace_writer_put_frame_text(w, APITRACE_FRAME_FUNCTION, &frame->function);
	apitrace_writer_put_frame_text(w, APITRACE_FRAME_FILE, &frame->file);
	if (frame->has_line) {
		apitrace_put_byte(w, APITRACE_FRAME_LINE);
		apitrace_put_number(w, frame->line);
	}
	if (frame->has_offset) {
		apitrace_put_byte(w, APITRACE_FRAME_OFFSET);
		apitrace_put_number(w, frame->offset);
	}
	apitrace_put_byte(w, APITRACE_FRAME_END);
}

void apitrace_writer_backtrace(struct apitrace_writer *w, struct apitrace_frame *const *frames,
			       size_t n)
{
	apitrace_writer_detail(w, APITRACE_DETAIL_BACKTRACE, 0);
	apitrace_put_number(w, n);
	for (size_t i = 0; i < n; i++)
		apitrace_writer_put_frame(w, frames[i]);
}

int apitrace_writer_end(struct apitrace_writer *w)
{
	/* The header precedes all calls. Leave events follow enter events, which are counted when
	 * they begin. */
	bool header = w->calls == 0;

	if (!w->open || w->missing > 0)
		apitrace_put_failed(w, -EINVAL);
	if (!header)
		apitrace_put_byte(w, APITRACE_DETAIL_END);
	w->open = false;
	if (w->error == 0)
		w->error = w->out->error;
	if (w->error < 0)
		w->out->size = w->begin;
	return w->error;
}
