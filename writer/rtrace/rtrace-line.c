/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A line is assembled in a buffer of the maximum size. The first error is kept, and a line with an
 * error is not written.
 */
#include "writer/rtrace/rtrace-line.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"

#define NS_PER_MS ((uint64_t)1000000)

/* The size of the buffer; a call can have a second line. */
enum { LINES_MAX = RTRACE_LINE_WRITE_MAX + 64 };

struct line {
	char text[LINES_MAX];
	size_t n, max;
	int error;
};

static void rtrace_line_begin(struct line *l, size_t max)
{
	l->n = 0;
	l->max = max;
	l->error = 0;
}

static void rtrace_line_fail(struct line *l, int e)
{
	if (l->error == 0)
		l->error = e;
}

static void rtrace_line_put_bytes(struct line *l, const char *p, size_t n)
{
	if (n > l->max - l->n) {
		rtrace_line_fail(l, -EMSGSIZE);
		return;
	}
	if (n > 0)
		memcpy(l->text + l->n, p, n);
	l->n += n;
}

static void rtrace_line_put(struct line *l, const char *text)
{
	rtrace_line_put_bytes(l, text, strlen(text));
}

static void rtrace_line_put_format(struct line *l, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void rtrace_line_put_format(struct line *l, const char *format, ...)
{
	char text[128];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	rtrace_line_put_bytes(l, text, n < 0 ? 0 : (size_t)n);
}

static int rtrace_line_finish(struct line *l, struct outbuf *out)
{
	l->max = sizeof(l->text);
	rtrace_line_put(l, "\n");
	return l->error ?: outbuf_append(out, l->text, l->n);
}

/* ---- texts ---- */

static bool rtrace_line_is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

static void rtrace_line_put_escaped(struct line *l, char c)
{
	char text[4] = { '\\', (char)('0' + (((unsigned char)c >> 6) & 7)),
			 (char)('0' + (((unsigned char)c >> 3) & 7)),
			 (char)('0' + ((unsigned char)c & 7)) };

	rtrace_line_put_bytes(l, text, sizeof(text));
}

/* Writes one word, which must not be empty. */
static void rtrace_line_put_word(struct line *l, struct rtrace_text text, size_t max)
{
	if (text.n == 0)
		rtrace_line_fail(l, -EINVAL);
	if (text.n > max)
		rtrace_line_fail(l, -EMSGSIZE);
	for (size_t i = 0; i < text.n && l->error == 0; i++)
		if (text.bytes[i] == ' ' || rtrace_line_is_control(text.bytes[i]))
			rtrace_line_put_escaped(l, text.bytes[i]);
		else
			rtrace_line_put_bytes(l, text.bytes + i, 1);
}

/* Writes words unchanged. They must not begin with a space, and must not contain control characters
 * or bytes of FORBIDDEN. */
static void rtrace_line_put_words(struct line *l, struct rtrace_text text, size_t max,
				  const char *forbidden)
{
	if (text.n == 0 || text.bytes[0] == ' ')
		rtrace_line_fail(l, -EINVAL);
	if (text.n > max)
		rtrace_line_fail(l, -EMSGSIZE);
	for (size_t i = 0; i < text.n; i++)
		if (rtrace_line_is_control(text.bytes[i]) || strchr(forbidden, text.bytes[i]))
			rtrace_line_fail(l, -EINVAL);
	rtrace_line_put_bytes(l, text.bytes, text.n);
}

/* Writes as much of TEXT as fits. Bytes of FORBIDDEN and control characters become '_'. */
static void rtrace_line_put_somehow(struct line *l, struct rtrace_text text, const char *forbidden)
{
	size_t n = text.n < RTRACE_NAME_MAX ? text.n : RTRACE_NAME_MAX;

	for (size_t i = 0; i < n; i++) {
		char c = text.bytes[i];

		rtrace_line_put_bytes(
			l, rtrace_line_is_control(c) || strchr(forbidden, c) ? "_" : &c, 1);
	}
}

/* ---- header ---- */

static void rtrace_line_put_key(struct line *l, enum rtrace_key key)
{
	static const char *const names[] = {
#define RTRACE_KEY(name, text) [RTRACE_KEY_##name] = text,
		RTRACE_HEADER_KEYS(RTRACE_KEY)
#undef RTRACE_KEY
	};

	rtrace_line_put(l, names[key]);
	rtrace_line_put(l, "=");
}

static void rtrace_line_put_value(struct line *l, enum rtrace_key key, struct rtrace_text value)
{
	if (value.n == 0)
		return;
	rtrace_line_put_key(l, key);
	rtrace_line_put_somehow(l, value, ",=");
	rtrace_line_put(l, ", ");
}

static void rtrace_line_put_filters(struct line *l, unsigned filters)
{
	static const struct {
		unsigned bit;
		const char *name;
	} rows[] = {
#define RTRACE_FILTER(name, bit, text) { RTRACE_FILTER_##name, text },
		RTRACE_FILTERS(RTRACE_FILTER)
#undef RTRACE_FILTER
	};
	const char *between = "";

	if (filters == 0)
		return;
	rtrace_line_put_key(l, RTRACE_KEY_FILTER);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!(filters & rows[i].bit))
			continue;
		rtrace_line_put(l, between);
		rtrace_line_put(l, rows[i].name);
		between = "|";
		filters &= ~rows[i].bit;
	}
	if (filters)
		rtrace_line_fail(l, -EINVAL);
	rtrace_line_put(l, ", ");
}

int rtrace_line_header(struct outbuf *out, const struct rtrace_header *h)
{
	struct line l;

	rtrace_line_begin(&l, RTRACE_HEADER_WRITE_MAX);
	rtrace_line_put_value(&l, RTRACE_KEY_VERSION, RTRACE_TEXT(RTRACE_VERSION));
	rtrace_line_put_value(&l, RTRACE_KEY_ARCH, h->arch);
	rtrace_line_put_value(&l, RTRACE_KEY_TIMESTAMP, h->timestamp);
	rtrace_line_put_value(&l, RTRACE_KEY_PROCESS, h->process);
	if (h->pid > RTRACE_PID_MAX)
		rtrace_line_fail(&l, -EINVAL);
	if (h->pid > 0) {
		rtrace_line_put_key(&l, RTRACE_KEY_PID);
		rtrace_line_put_format(&l, "%" PRIu32 ", ", h->pid);
	}
	rtrace_line_put_filters(&l, h->filters);
	if (h->has_depth) {
		if (h->depth > RTRACE_INT_MAX)
			rtrace_line_fail(&l, -EINVAL);
		rtrace_line_put_key(&l, RTRACE_KEY_DEPTH);
		rtrace_line_put_format(&l, "%" PRIu32 ", ", h->depth);
	}
	rtrace_line_put_value(&l, RTRACE_KEY_ORIGIN, h->origin);
	return rtrace_line_finish(&l, out);
}

/* ---- records before calls ---- */

int rtrace_line_attachment(struct outbuf *out, const struct rtrace_attachment *a)
{
	struct line l;

	rtrace_line_begin(&l, RTRACE_LINE_WRITE_MAX);
	rtrace_line_put(&l, RTRACE_FILE_MARK);
	rtrace_line_put_word(&l, a->name, RTRACE_NAME_MAX);
	rtrace_line_put(&l, RTRACE_COLON);
	rtrace_line_put_word(&l, a->path, RTRACE_LINE_WRITE_MAX);
	return rtrace_line_finish(&l, out);
}

int rtrace_line_context(struct outbuf *out, const struct rtrace_context *c)
{
	struct line l;

	rtrace_line_begin(&l, RTRACE_LINE_WRITE_MAX);
	if (c->mask == 0)
		rtrace_line_fail(&l, -EINVAL);
	rtrace_line_put(&l, RTRACE_CONTEXT_MARK);
	rtrace_line_put_format(&l, "%" PRIx32, c->mask);
	rtrace_line_put(&l, RTRACE_COLON);
	rtrace_line_put_words(&l, c->name, RTRACE_NAME_MAX, "");
	return rtrace_line_finish(&l, out);
}

int rtrace_line_resource(struct outbuf *out, const struct rtrace_resource *r)
{
	struct line l;

	rtrace_line_begin(&l, RTRACE_LINE_WRITE_MAX);
	if (r->mask == 0 || (r->mask & (r->mask - 1)) != 0)
		rtrace_line_fail(&l, -EINVAL);
	rtrace_line_put_format(&l, "<%" PRIx32 ">", r->mask);
	rtrace_line_put(&l, RTRACE_COLON);
	rtrace_line_put_words(&l, r->type, RTRACE_TYPE_MAX, " <>()");
	rtrace_line_put(&l, " (");
	rtrace_line_put_words(&l, r->description, RTRACE_NAME_MAX, ")");
	rtrace_line_put(&l, r->refcount ? ") [" RTRACE_REFCOUNT "]" : ")");
	return rtrace_line_finish(&l, out);
}

int rtrace_line_map(struct outbuf *out, const struct rtrace_map *m)
{
	struct line l;

	rtrace_line_begin(&l, RTRACE_LINE_WRITE_MAX);
	if (m->start >= m->end)
		rtrace_line_fail(&l, -EINVAL);
	rtrace_line_put(&l, RTRACE_MAP_MARK);
	rtrace_line_put_word(&l, m->path, RTRACE_LINE_WRITE_MAX);
	rtrace_line_put(&l, RTRACE_MAP_ARROW);
	rtrace_line_put_format(&l, "0x%" PRIx64 "-0x%" PRIx64, m->start, m->end);
	return rtrace_line_finish(&l, out);
}

/* ---- calls ---- */

static void rtrace_line_put_time(struct line *l, uint64_t time_ns, unsigned digits)
{
	bool spec = digits == RTRACE_TIME_SPEC_DIGITS;
	uint64_t ms = time_ns / NS_PER_MS, s = ms / 1000;

	if (time_ns > RTRACE_TIME_MAX_NS)
		rtrace_line_fail(l, -EINVAL);
	if (ms == 0 && !spec)
		return;
	rtrace_line_put_format(l, "[%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600, s / 60 % 60,
			       s % 60);
	if (spec)
		rtrace_line_put_format(l, ".%06" PRIu64 "] ", time_ns / 1000 % 1000000);
	else
		rtrace_line_put_format(l, ".%03" PRIu64 "] ", ms % 1000);
}

/*
 * Writes the name of a function. The name must not begin with '@' or '[', since these characters
 * begin the optional parts before the name.
 */
static void rtrace_line_put_function(struct line *l, struct rtrace_text name)
{
	rtrace_line_put_words(l, name, RTRACE_NAME_MAX, "");
	if (name.n > 0 && (name.bytes[0] == '@' || name.bytes[0] == '['))
		rtrace_line_fail(l, -EINVAL);
}

int rtrace_line_call(struct outbuf *out, const struct rtrace_call *c,
		     const struct rtrace_call_style *style)
{
	/* Without a type, a name like "vector<int>" would be parsed as a name with a type. */
	bool typed = style->typed || (c->name.n > 0 && c->name.bytes[c->name.n - 1] == '>');
	struct line l;

	rtrace_line_begin(&l, RTRACE_LINE_WRITE_MAX);
	if (c->index > RTRACE_INT_MAX)
		rtrace_line_fail(&l, -EINVAL);
	rtrace_line_put_format(&l, "%" PRIu64 ". ", c->index);
	if (c->contexts)
		rtrace_line_put_format(&l, "@%" PRIx32 " ", c->contexts);
	if (c->has_time)
		rtrace_line_put_time(&l, c->time_ns, style->digits);
	rtrace_line_put_function(&l, c->name);
	if (typed) {
		rtrace_line_put(&l, "<");
		rtrace_line_put_words(&l, c->type, RTRACE_TYPE_MAX, " <>()");
		rtrace_line_put(&l, ">");
	}
	if (c->is_free)
		rtrace_line_put_format(&l, "(0x%" PRIx64 ")", c->id);
	else
		rtrace_line_put_format(&l, "(%" PRIu64 ")" RTRACE_EQUALS "0x%" PRIx64,
				       c->size > RTRACE_INT_MAX ? RTRACE_INT_MAX : c->size, c->id);
	if (!c->is_free && c->size > RTRACE_INT_MAX) {
		l.max = sizeof(l.text) - 1;
		rtrace_line_put_format(
			&l, "\n" RTRACE_ARG_MARK RTRACE_ARG_SIZE RTRACE_EQUALS "%" PRIu64, c->size);
	}
	return rtrace_line_finish(&l, out);
}

int rtrace_line_arg(struct outbuf *out, const struct rtrace_arg *a)
{
	struct line l;

	rtrace_line_begin(&l, RTRACE_LINE_WRITE_MAX);
	rtrace_line_put(&l, RTRACE_ARG_MARK);
	rtrace_line_put_words(&l, a->name, RTRACE_ARG_NAME_MAX, " ");
	rtrace_line_put(&l, RTRACE_EQUALS);
	rtrace_line_put_word(&l, a->value.n > 0 ? a->value : RTRACE_TEXT("\"\""),
			     RTRACE_LINE_WRITE_MAX);
	return rtrace_line_finish(&l, out);
}

int rtrace_line_frame(struct outbuf *out, const struct rtrace_frame *f)
{
	struct line l;

	rtrace_line_begin(&l, RTRACE_LINE_WRITE_MAX);
	rtrace_line_put_format(&l, "\t0x%" PRIx64, f->address);
	if (f->text.n > 0) {
		rtrace_line_put(&l, " ");
		rtrace_line_put_words(&l, f->text, RTRACE_LINE_WRITE_MAX, "");
	}
	return rtrace_line_finish(&l, out);
}

int rtrace_line_end(struct outbuf *out)
{
	return outbuf_append(out, "\n", 1);
}

/* ---- comments ---- */

int rtrace_line_note(struct outbuf *out, struct rtrace_text text)
{
	struct line l;

	rtrace_line_begin(&l, RTRACE_LINE_WRITE_MAX);
	if (text.n == 0 || text.bytes[0] != '#')
		rtrace_line_put(&l, RTRACE_COMMENT);
	for (size_t i = 0; i < text.n && l.error == 0; i++) {
		char c = text.bytes[i];

		if (c == '%')
			rtrace_line_put_escaped(&l, c);
		else if (rtrace_line_is_control(c) && c != '\t')
			rtrace_line_fail(&l, -EINVAL);
		else
			rtrace_line_put_bytes(&l, &c, 1);
	}
	return rtrace_line_finish(&l, out);
}

int rtrace_line_calls_summary(struct outbuf *out, const struct rtrace_summary *s)
{
	struct line l;

	rtrace_line_begin(&l, RTRACE_LINE_WRITE_MAX);
	rtrace_line_put_format(&l,
			       RTRACE_TEMPORARY "allocation summary: %" PRIu64
						" block(s) with total size %" PRIu64,
			       s->count, s->size);
	return rtrace_line_finish(&l, out);
}

int rtrace_line_leaks_summary(struct outbuf *out, const struct rtrace_summary *s)
{
	struct line l;

	rtrace_line_begin(&l, RTRACE_LINE_WRITE_MAX);
	rtrace_line_put(&l, RTRACE_TEMPORARY "Resource - ");
	rtrace_line_put_somehow(&l, s->type, "");
	rtrace_line_put(&l, " (");
	rtrace_line_put_somehow(&l, s->description, "");
	rtrace_line_put(&l, "):\n");
	rtrace_line_put_format(&l,
			       RTRACE_TEMPORARY
			       "%" PRIu64 " block(s) leaked with total size of %" PRIu64 " bytes",
			       s->count, s->size);
	return rtrace_line_finish(&l, out);
}

int rtrace_line_record(struct outbuf *out, const struct rtrace_record *r)
{
	const struct rtrace_call_style style = {
		.digits = RTRACE_TIME_DIGITS,
		.typed = r->kind == RTRACE_CALL && r->call.type.n > 0,
	};

	switch (r->kind) {
	case RTRACE_HEADER:
		return rtrace_line_header(out, &r->header);
	case RTRACE_ATTACHMENT:
		return rtrace_line_attachment(out, &r->attachment);
	case RTRACE_CONTEXT:
		return rtrace_line_context(out, &r->context);
	case RTRACE_RESOURCE:
		return rtrace_line_resource(out, &r->resource);
	case RTRACE_MAP:
		return rtrace_line_map(out, &r->map);
	case RTRACE_CALL:
		return rtrace_line_call(out, &r->call, &style);
	case RTRACE_ARG:
		return rtrace_line_arg(out, &r->arg);
	case RTRACE_FRAME:
		return rtrace_line_frame(out, &r->frame);
	case RTRACE_END:
		return rtrace_line_end(out);
	case RTRACE_NOTE:
		return rtrace_line_note(out, r->note);
	case RTRACE_CALLS_SUMMARY:
		return rtrace_line_calls_summary(out, &r->summary);
	case RTRACE_LEAKS_SUMMARY:
		return rtrace_line_leaks_summary(out, &r->summary);
	}
	return -EINVAL;
}
