/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/rtrace/rtrace-reader.h"

#include <errno.h>

#include "reader/rtrace/rtrace-parse.h"

/* Bytes of a line that is too long are returned in pieces of this size. */
enum { PIECE_MAX = 65536 };

static const char as_comment[] = "it is read as a comment";
static const char as_is[] = "it is read unchanged";

struct rtrace_reader {
	struct input input;
	rtrace_problem_fn problem;
	void *userdata;
	uint64_t line;
	/* the state that determines whether frames and arguments are allowed */
	enum { AT_REST, AT_CALL, AT_FRAME } at;
	bool in_long_line;
	bool told_cr; /* it was already reported that lines end with CR LF */
	struct rtrace_type types[RTRACE_RESOURCE_MAX];
	size_t n_types;
	struct rtrace_record record;
};

static void rtrace_reader_report(struct rtrace_reader *r, const char *what, const char *done)
{
	const struct rtrace_problem problem = { .line = r->line, .what = what, .done = done };

	if (r->problem)
		r->problem(r->userdata, &problem);
}

/* ---- object ---- */

/* Checks the beginning. Returns 0 if the input begins like a report. */
static int rtrace_check_begin(struct rtrace_reader *r)
{
	int full = input_need(&r->input, 32);

	if (full < 0)
		return full;
	if (input_ready(&r->input) == 0)
		return RTRACE_ALIEN_EMPTY;
	return rtrace_is_report(input_peek(&r->input), input_ready(&r->input)) ? 0
									       : RTRACE_ALIEN_OTHER;
}

static int rtrace_reader_start(struct rtrace_reader **ret, struct rtrace_reader *r, int e)
{
	e = e ?: rtrace_check_begin(r);
	if (e == 0)
		*ret = r;
	else
		rtrace_reader_free(r);
	return e;
}

static struct rtrace_reader *rtrace_reader_allocate(rtrace_problem_fn problem, void *userdata)
{
	struct rtrace_reader *r = calloc(1, sizeof(*r));

	if (r) {
		r->problem = problem;
		r->userdata = userdata;
	}
	return r;
}

int rtrace_reader_new_source(struct rtrace_reader **ret, input_read_fn read, void *source,
			     rtrace_problem_fn problem, void *userdata)
{
	struct rtrace_reader *r = rtrace_reader_allocate(problem, userdata);

	return r ? rtrace_reader_start(ret, r, input_init_source(&r->input, read, source))
		 : -ENOMEM;
}

int rtrace_reader_new_memory(struct rtrace_reader **ret, const void *p, size_t n,
			     rtrace_problem_fn problem, void *userdata)
{
	struct rtrace_reader *r = rtrace_reader_allocate(problem, userdata);

	return r ? rtrace_reader_start(ret, r, input_init_memory(&r->input, p, n)) : -ENOMEM;
}

struct rtrace_reader *rtrace_reader_free(struct rtrace_reader *r)
{
	if (!r)
		return NULL;
	for (size_t i = 0; i < r->n_types; i++) {
		free(r->types[i].type);
		free(r->types[i].description);
	}
	input_deinit(&r->input);
	return free_ptr(r);
}

const struct rtrace_type *rtrace_reader_types(const struct rtrace_reader *r, size_t *ret_n)
{
	*ret_n = r->n_types;
	return r->types;
}

/* ---- lines ---- */

/*
 * Makes a line available in the buffer, with its line feed, or the first MAX bytes of the line.
 * Returns the number of bytes, 0 at the end of the input, or a negative errno.
 */
static ssize_t rtrace_fill_line(struct rtrace_reader *r, size_t max)
{
	size_t seen = 0;

	for (;;) {
		size_t ready = input_ready(&r->input), n = ready < max ? ready : max;
		const uint8_t *p = input_peek(&r->input);
		const uint8_t *end = n > seen ? memchr(p + seen, '\n', n - seen) : NULL;
		int e;

		if (end)
			return end - p + 1;
		if (n == max)
			return (ssize_t)n;
		seen = n;
		e = input_fill(&r->input, ready + 1);
		if (e < 0)
			return e;
		if (e == 0)
			return (ssize_t)n;
	}
}

/* Returns the line without its end. */
static struct rtrace_text rtrace_reader_content(struct rtrace_reader *r, struct rtrace_text raw)
{
	if (raw.n == 0 || raw.bytes[raw.n - 1] != '\n')
		return raw;
	raw.n--;
	if (raw.n > 0 && raw.bytes[raw.n - 1] == '\r') {
		raw.n--;
		if (!r->told_cr)
			rtrace_reader_report(r, "it ends with CR LF, which other tools misread",
					     "all such lines are read as if they ended with LF");
		r->told_cr = true;
	}
	return raw;
}

/* ---- records that depend on other lines ---- */

static char *rtrace_reader_copy(struct rtrace_text text)
{
	return strndup(text.bytes, text.n);
}

/* Returns the number of the resource with the name TYPE, or -1. */
static int rtrace_reader_find_type(const struct rtrace_type *types, size_t n,
				   struct rtrace_text type)
{
	for (size_t i = 0; i < n; i++)
		if (rtrace_text_is(type, types[i].type))
			return (int)i;
	return -1;
}

static int rtrace_register_type(struct rtrace_reader *r, const struct rtrace_resource *from)
{
	struct rtrace_type *t = &r->types[r->n_types];

	if (rtrace_reader_find_type(r->types, r->n_types, from->type) >= 0) {
		rtrace_reader_report(r, "a resource of this type was registered before",
				     "the first one is used");
		return 0;
	}
	if (r->n_types == RTRACE_RESOURCE_MAX) {
		rtrace_reader_report(r, "there are more than 32 resources",
				     "calls are not assigned to these resources");
		return 0;
	}
	if (from->mask & (from->mask - 1))
		rtrace_reader_report(r, "its mask has more than one bit", as_is);
	*t = (struct rtrace_type){
		.mask = from->mask,
		.refcount = from->refcount,
		.type = rtrace_reader_copy(from->type),
		.description = rtrace_reader_copy(from->description),
	};
	if (!t->type || !t->description) {
		free(t->type);
		free(t->description);
		return -ENOMEM;
	}
	r->n_types++;
	return 0;
}

int rtrace_settle_type(const struct rtrace_type *types, size_t n, struct rtrace_call *c)
{
	int number = c->type.n > 0 ? rtrace_reader_find_type(types, n, c->type) : -1;

	if (number >= 0 || n == 0)
		return number;
	if (c->type.n > 0) {
		c->name.n += c->type.n + 2;
		c->type = (struct rtrace_text){ 0 };
		/*
		 * If there is only one type, calls do not name it, so the text was the argument of
		 * a template.
		 */
		return n == 1 ? 0 : -1;
	}
	return 0;
}

static void rtrace_settle_type_(struct rtrace_reader *r, struct rtrace_record *rec)
{
	rec->resource_number = rtrace_settle_type(r->types, r->n_types, &rec->call);
	if (rec->resource_number < 0 && r->n_types > 0)
		rtrace_reader_report(
			r, "the name in <> is not a registered resource",
			"it is read as a part of the function's name, and the call has no "
			"resource");
}

static void rtrace_reader_refuse(struct rtrace_reader *r, struct rtrace_text text, const char *what)
{
	r->record.kind = RTRACE_NOTE;
	r->record.note = text;
	r->record.temporary = false;
	rtrace_reader_report(r, what, as_comment);
}

/* Checks whether the record is allowed after the records before it, and updates the state for the
 * following records. */
static int rtrace_reader_settle(struct rtrace_reader *r, struct rtrace_text text)
{
	struct rtrace_record *rec = &r->record;

	switch (rec->kind) {
	case RTRACE_CALL:
		rtrace_settle_type_(r, rec);
		rec->opens = r->at != AT_CALL;
		r->at = AT_CALL;
		return 0;
	case RTRACE_ARG:
		if (r->at == AT_REST)
			rtrace_reader_refuse(r, text,
					     "it is an argument, but there is no call before it");
		return 0;
	case RTRACE_FRAME:
		if (r->at == AT_REST)
			rtrace_reader_refuse(r, text,
					     "it is a frame, but there is no call before it");
		else
			r->at = AT_FRAME;
		return 0;
	case RTRACE_RESOURCE:
		r->at = AT_REST;
		return rtrace_register_type(r, &rec->resource);
	case RTRACE_NOTE:
	case RTRACE_CALLS_SUMMARY:
		if (!rec->temporary)
			r->at = AT_REST;
		return 0;
	default:
		r->at = AT_REST;
		return 0;
	}
}

/* ---- next record ---- */

static void rtrace_begin_record(struct rtrace_reader *r, size_t n)
{
	struct rtrace_record *rec = &r->record;

	memset(rec, 0, sizeof(*rec));
	rec->offset = r->input.offset;
	rec->line = r->line;
	rec->resource_number = -1;
	rec->raw = (struct rtrace_text){ input_consume(&r->input, n), n };
}

static int rtrace_next_piece(struct rtrace_reader *r, const struct rtrace_record **ret)
{
	ssize_t n = rtrace_fill_line(r, PIECE_MAX);

	if (n <= 0)
		return (int)n;
	rtrace_begin_record(r, (size_t)n);
	r->in_long_line = r->record.raw.bytes[n - 1] != '\n';
	r->record.kind = RTRACE_NOTE;
	r->record.continues = true;
	r->record.note = r->record.raw;
	r->record.note.n -= !r->in_long_line;
	*ret = &r->record;
	return 1;
}

static void rtrace_reader_parse(struct rtrace_reader *r, struct rtrace_text text)
{
	struct rtrace_oddity odd;

	if (r->line == 1 && rtrace_parse_header(text, &r->record.header, &odd))
		r->record.kind = RTRACE_HEADER;
	else
		rtrace_parse_line(text, &r->record, &odd);
	if (odd.what)
		rtrace_reader_report(r, odd.what, odd.refused ? as_comment : as_is);
}

int rtrace_reader_next(struct rtrace_reader *r, const struct rtrace_record **ret)
{
	struct rtrace_text text;
	ssize_t n;
	int e;

	if (r->in_long_line)
		return rtrace_next_piece(r, ret);
	n = rtrace_fill_line(r, RTRACE_LINE_MAX);
	if (n <= 0)
		return (int)n;
	r->line++;
	rtrace_begin_record(r, (size_t)n);
	text = rtrace_reader_content(r, r->record.raw);
	if (r->record.raw.bytes[n - 1] != '\n') {
		r->in_long_line = n == RTRACE_LINE_MAX;
		rtrace_reader_report(r,
				     r->in_long_line
					     ? "it is longer than the limit of 4095 bytes"
					     : "the report ends within it: it may be truncated",
				     r->in_long_line ? "the rest is ignored" : as_is);
	}
	rtrace_reader_parse(r, text);
	e = rtrace_reader_settle(r, text);
	*ret = &r->record;
	return e < 0 ? e : 1;
}
