/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/rtrace/rtrace-writer.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

void rtrace_writer_init(struct rtrace_writer *w, struct outbuf *out,
			const struct rtrace_writer_options *options)
{
	*w = (struct rtrace_writer){ .out = out };
	if (options)
		w->options = *options;
}

char *rtrace_format_timestamp(char to[RTRACE_TIMESTAMP_MAX], int64_t seconds)
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (!gmtime_r(&t, &tm))
		memset(&tm, 0, sizeof(tm));
	snprintf(to, RTRACE_TIMESTAMP_MAX, "%d.%d.%d %02d:%02d:%02d", tm.tm_year + 1900,
		 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
	return to;
}

/* ---- order ---- */

static bool rtrace_in_call(const struct rtrace_writer *w)
{
	return w->at != RTRACE_AT_START && w->at != RTRACE_AT_REST;
}

/*
 * Checks that a record that belongs to no call is allowed. Within a call, such a record would end
 * the call's backtrace too early.
 */
static int rtrace_check_at_rest(const struct rtrace_writer *w)
{
	return w->at == RTRACE_AT_REST ? 0 : -EINVAL;
}

/* Checks that an argument is allowed: it must follow a call. */
static int rtrace_check_at_arg(const struct rtrace_writer *w)
{
	return w->at == RTRACE_AT_CALL ? 0 : -EINVAL;
}

static int rtrace_check_at_call(const struct rtrace_writer *w)
{
	if (w->at == RTRACE_AT_CALL)
		return w->grouped ? 0 : -EINVAL;
	return rtrace_check_at_rest(w);
}

/*
 * Checks that a frame is allowed. If calls share a backtrace, their summary must precede the
 * frames.
 */
static int rtrace_check_at_frame(const struct rtrace_writer *w)
{
	return !rtrace_in_call(w) || (w->grouped && w->at == RTRACE_AT_CALL) ? -EINVAL : 0;
}

/* ---- records ---- */

int rtrace_write_header(struct rtrace_writer *w, const struct rtrace_header *h)
{
	int r = w->at == RTRACE_AT_START ? rtrace_line_header(w->out, h) : -EINVAL;

	if (r == 0) {
		w->at = RTRACE_AT_REST;
		w->grouped = h->filters & RTRACE_FILTER_COMPRESS;
	}
	return r;
}

int rtrace_write_attachment(struct rtrace_writer *w, const struct rtrace_attachment *a)
{
	return rtrace_check_at_rest(w) ?: rtrace_line_attachment(w->out, a);
}

int rtrace_write_context(struct rtrace_writer *w, const struct rtrace_context *c)
{
	return rtrace_check_at_rest(w) ?: rtrace_line_context(w->out, c);
}

int rtrace_write_map(struct rtrace_writer *w, const struct rtrace_map *m)
{
	return rtrace_check_at_rest(w) ?: rtrace_line_map(w->out, m);
}

int rtrace_write_note(struct rtrace_writer *w, struct rtrace_text text)
{
	return rtrace_check_at_rest(w) ?: rtrace_line_note(w->out, text);
}

static bool rtrace_has_type(const struct rtrace_writer_type *t, struct rtrace_text type)
{
	return t->n == type.n && memcmp(t->text, type.bytes, type.n) == 0;
}

int rtrace_write_resource(struct rtrace_writer *w, const struct rtrace_resource *r)
{
	struct rtrace_writer_type *t = &w->types[w->n_types];
	int e = rtrace_check_at_rest(w);

	if (e < 0 || w->has_called || w->n_types == RTRACE_RESOURCE_MAX)
		return -EINVAL;
	for (unsigned i = 0; i < w->n_types; i++)
		if (w->types[i].mask == r->mask || rtrace_has_type(&w->types[i], r->type))
			return -EINVAL;
	e = rtrace_line_resource(w->out, r);
	if (e < 0)
		return e;
	t->mask = r->mask;
	t->n = (unsigned)r->type.n;
	memcpy(t->text, r->type.bytes, r->type.n);
	w->n_types++;
	return 0;
}

struct rtrace_resource rtrace_known_resource(enum rtrace_known_resource which)
{
	static const struct rtrace_resource table[] = {
#define RTRACE_RESOURCE(name, text, what, counted)                                                 \
	[RTRACE_KNOWN_##name] = {                                                                  \
		.mask = UINT32_C(1) << RTRACE_KNOWN_##name,                                        \
		.refcount = counted,                                                               \
		.type = { text, sizeof(text) - 1 },                                                \
		.description = { what, sizeof(what) - 1 },                                         \
	},
		RTRACE_RESOURCES(RTRACE_RESOURCE)
#undef RTRACE_RESOURCE
	};

	return table[which];
}

/* Returns the registered type of a call; NULL if its type is not registered. */
static const struct rtrace_writer_type *rtrace_writer_find_type(const struct rtrace_writer *w,
								struct rtrace_text type)
{
	if (type.n == 0)
		return w->n_types == 1 ? &w->types[0] : NULL;
	for (unsigned i = 0; i < w->n_types; i++)
		if (rtrace_has_type(&w->types[i], type))
			return &w->types[i];
	return NULL;
}

int rtrace_write_call(struct rtrace_writer *w, const struct rtrace_call *c)
{
	const struct rtrace_call_style style = {
		.digits = w->options.spec_time ? RTRACE_TIME_SPEC_DIGITS : RTRACE_TIME_DIGITS,
		.typed = w->n_types > 1,
	};
	const struct rtrace_writer_type *type = rtrace_writer_find_type(w, c->type);
	struct rtrace_call typed = *c;
	int r = rtrace_check_at_call(w);

	if (r < 0 || !type)
		return -EINVAL;
	typed.type = (struct rtrace_text){ type->text, type->n };
	r = rtrace_line_call(w->out, &typed, &style);
	if (r == 0) {
		w->at = RTRACE_AT_CALL;
		w->has_called = true;
	}
	return r;
}

int rtrace_write_arg(struct rtrace_writer *w, const struct rtrace_arg *a)
{
	return rtrace_check_at_arg(w) ?: rtrace_line_arg(w->out, a);
}

int rtrace_write_calls_summary(struct rtrace_writer *w, uint64_t count, uint64_t size)
{
	const struct rtrace_summary s = { .count = count, .size = size };
	int r = w->grouped ? rtrace_check_at_arg(w) : -EINVAL;

	r = r ?: rtrace_line_calls_summary(w->out, &s);
	if (r == 0)
		w->at = RTRACE_AT_SUMMARY;
	return r;
}

int rtrace_write_frame(struct rtrace_writer *w, const struct rtrace_frame *f)
{
	int r = rtrace_check_at_frame(w) ?: rtrace_line_frame(w->out, f);

	if (r == 0)
		w->at = RTRACE_AT_FRAME;
	return r;
}

int rtrace_write_end(struct rtrace_writer *w)
{
	int r = rtrace_check_at_frame(w) ?: rtrace_line_end(w->out);

	if (r == 0)
		w->at = RTRACE_AT_REST;
	return r;
}

int rtrace_write_leaks_summary(struct rtrace_writer *w, const struct rtrace_summary *s)
{
	return rtrace_check_at_rest(w) ?: rtrace_line_leaks_summary(w->out, s);
}
