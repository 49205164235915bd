/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/rtrace/rtrace-parse.h"

#include "base/cleanup.h"

#define NS_PER_S ((uint64_t)1000000000)

/* The maximum number of hours in 64-bit nanoseconds. */
enum { HOURS_MAX = 5000000 };

/* The unparsed part of a line. */
struct scan {
	const char *p, *end;
};

static struct scan rtrace_scan_of(struct rtrace_text text)
{
	return (struct scan){ text.bytes, text.bytes + text.n };
}

static size_t rtrace_parse_left(const struct scan *s)
{
	return (size_t)(s->end - s->p);
}

static struct rtrace_text rtrace_parse_rest(const struct scan *s)
{
	return (struct rtrace_text){ s->p, rtrace_parse_left(s) };
}

static bool rtrace_scan_literal(struct scan *s, const char *text)
{
	size_t n = strlen(text);

	if (rtrace_parse_left(s) < n || memcmp(s->p, text, n) != 0)
		return false;
	s->p += n;
	return true;
}

static bool rtrace_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static size_t rtrace_scan_spaces(struct scan *s)
{
	const char *from = s->p;

	while (s->p < s->end && rtrace_is_space(*s->p))
		s->p++;
	return (size_t)(s->p - from);
}

/* Removes the text up to a space or the end from S, and returns it. */
static struct rtrace_text rtrace_scan_word(struct scan *s)
{
	struct rtrace_text word = { s->p, 0 };

	while (s->p < s->end && !rtrace_is_space(*s->p))
		s->p++;
	word.n = (size_t)(s->p - word.bytes);
	return word;
}

static int rtrace_parse_digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

/* Parses digits to the BASE. Returns the number of digits, or 0 if the value is too large. */
static size_t rtrace_scan_number(struct scan *s, unsigned base, uint64_t *ret)
{
	const char *from = s->p;
	uint64_t value = 0;
	int digit;

	while (s->p < s->end && (digit = rtrace_parse_digit_of(*s->p)) < (int)base) {
		if (value > (UINT64_MAX - (uint64_t)digit) / base) {
			s->p = from;
			return 0;
		}
		value = value * base + (uint64_t)digit;
		s->p++;
	}
	*ret = value;
	return (size_t)(s->p - from);
}

static bool rtrace_scan_decimal(struct scan *s, uint64_t *ret)
{
	return rtrace_scan_number(s, 10, ret) > 0;
}

/* Parses an address, "0x...". An uppercase X is refused, as by other readers. */
static bool rtrace_scan_address(struct scan *s, uint64_t *ret)
{
	return rtrace_scan_literal(s, "0x") && rtrace_scan_number(s, 16, ret) > 0;
}

static bool rtrace_scan_mask(struct scan *s, uint32_t *ret)
{
	uint64_t value;

	if (rtrace_scan_number(s, 16, &value) == 0 || value > UINT32_MAX)
		return false;
	*ret = (uint32_t)value;
	return true;
}

static struct rtrace_text rtrace_parse_trimmed(struct rtrace_text text)
{
	while (text.n > 0 && rtrace_is_space(text.bytes[text.n - 1]))
		text.n--;
	return text;
}

/* Returns the first occurrence of TEXT in the unparsed part, or NULL. */
static const char *rtrace_parse_find(const struct scan *s, const char *text)
{
	return rtrace_parse_left(s) ? memmem(s->p, rtrace_parse_left(s), text, strlen(text)) : NULL;
}

static const char *rtrace_find_last(const struct scan *s, char c)
{
	return rtrace_parse_left(s) ? memrchr(s->p, c, rtrace_parse_left(s)) : NULL;
}

/* ---- calls ---- */

/*
 * Parses "[HH:MM:SS.fraction] ". Up to three digits are a number of milliseconds, as other programs
 * write and read them. More digits are a decimal fraction.
 */
static bool rtrace_scan_time(struct scan *s, uint64_t *ret_ns)
{
	struct scan at = *s;
	uint64_t h, m, sec, fraction;
	size_t digits;

	if (!rtrace_scan_literal(&at, "[") || !rtrace_scan_decimal(&at, &h) ||
	    !rtrace_scan_literal(&at, ":") || !rtrace_scan_decimal(&at, &m) ||
	    !rtrace_scan_literal(&at, ":") || !rtrace_scan_decimal(&at, &sec) ||
	    !rtrace_scan_literal(&at, "."))
		return false;
	digits = rtrace_scan_number(&at, 10, &fraction);
	if (digits == 0 || digits > 9 || !rtrace_scan_literal(&at, "] ") || h > HOURS_MAX ||
	    m > HOURS_MAX || sec > HOURS_MAX)
		return false;
	for (digits = digits < 3 ? 3 : digits; digits < 9; digits++)
		fraction *= 10;
	*ret_ns = (h * 3600 + m * 60 + sec) * NS_PER_S + fraction;
	*s = at;
	return true;
}

static void rtrace_scan_contexts(struct scan *s, uint32_t *ret)
{
	struct scan at = *s;
	uint32_t mask;

	if (rtrace_scan_literal(&at, "@") && rtrace_scan_mask(&at, &mask) &&
	    rtrace_scan_literal(&at, " ")) {
		*ret = mask;
		*s = at;
	}
}

/* Splits TEXT, "NAME" or "NAME<TYPE>". The type begins after the last '<'. It must not be empty. */
static void rtrace_split_name(struct rtrace_text text, struct rtrace_call *c)
{
	const char *open;

	c->name = text;
	if (text.n == 0 || text.bytes[text.n - 1] != '>')
		return;
	open = memrchr(text.bytes, '<', text.n);
	if (!open || open + 2 == text.bytes + text.n)
		return;
	c->name.n = (size_t)(open - text.bytes);
	c->type = (struct rtrace_text){ open + 1, text.n - c->name.n - 2 };
}

/* Parses "SIZE) = 0xID". A negative size comes from a writer whose 32-bit size overflowed. */
static bool rtrace_scan_allocation(struct scan *s, struct rtrace_call *c, struct rtrace_oddity *odd)
{
	bool negative;

	rtrace_scan_spaces(s);
	negative = rtrace_scan_literal(s, "-");
	if (!rtrace_scan_decimal(s, &c->size) || !rtrace_scan_literal(s, ")"))
		return false;
	rtrace_scan_spaces(s);
	if (!rtrace_scan_literal(s, "="))
		return false;
	rtrace_scan_spaces(s);
	if (!rtrace_scan_address(s, &c->id))
		return false;
	if (negative) {
		c->size = (uint32_t)-c->size;
		odd->what = "its size is negative: it is read as a size that did not fit 32 "
			    "bits";
	}
	return true;
}

static const char *rtrace_parse_call(struct scan *s, struct rtrace_call *c,
				     struct rtrace_oddity *odd)
{
	struct scan id;
	const char *open;

	*c = (struct rtrace_call){ 0 };
	if (!rtrace_scan_decimal(s, &c->index))
		return "its index is too large";
	if (!rtrace_scan_literal(s, "."))
		return "'.' is missing after its index";
	if (rtrace_scan_spaces(s) == 0)
		return "a space is missing after its index";
	rtrace_scan_contexts(s, &c->contexts);
	c->has_time = rtrace_scan_time(s, &c->time_ns);
	open = rtrace_find_last(s, '(');
	if (!open)
		return "it has no '('";
	rtrace_split_name((struct rtrace_text){ s->p, (size_t)(open - s->p) }, c);
	s->p = open + 1;
	id = *s;
	c->is_free = rtrace_scan_address(&id, &c->id);
	if (c->is_free) {
		*s = id;
		if (!rtrace_scan_literal(s, ")"))
			return "')' is missing after its id";
	} else if (!rtrace_scan_allocation(s, c, odd)) {
		return "expected '(SIZE) = 0xID' or '(0xID)' after its name";
	}
	rtrace_scan_spaces(s);
	if (rtrace_parse_left(s) > 0)
		odd->what = "the text after its id is ignored";
	return NULL;
}

/* ---- other records ---- */

static const char *rtrace_parse_frame(struct scan *s, struct rtrace_frame *f)
{
	*f = (struct rtrace_frame){ 0 };
	if (!rtrace_scan_address(s, &f->address))
		return "its address is not a hexadecimal number with 0x";
	if (rtrace_parse_left(s) > 0 && rtrace_scan_spaces(s) == 0)
		return "a space is missing after its address";
	if (rtrace_parse_left(s) > 0)
		f->text = rtrace_parse_rest(s);
	return NULL;
}

static const char *rtrace_parse_arg(struct scan *s, struct rtrace_arg *a)
{
	a->name = rtrace_scan_word(s);
	rtrace_scan_spaces(s);
	if (a->name.n == 0 || !rtrace_scan_literal(s, "=") || rtrace_scan_spaces(s) == 0)
		return "it is not '$NAME = VALUE'";
	a->value = rtrace_parse_trimmed(rtrace_parse_rest(s));
	return a->value.n > 0 ? NULL : "it has no value";
}

static const char *rtrace_parse_map(struct scan *s, struct rtrace_map *m, struct rtrace_oddity *odd)
{
	static const char arrow[] = RTRACE_MAP_ARROW;
	const char *at = NULL, *next = s->p;
	struct scan range;

	/* A path can contain an arrow, so the last one counts. */
	while ((next = memmem(next, (size_t)(s->end - next), arrow, strlen(arrow))))
		at = next++;
	if (!at)
		return "it contains no ' => '";
	range = (struct scan){ at + strlen(arrow), s->end };
	m->path = rtrace_parse_trimmed((struct rtrace_text){ s->p, (size_t)(at - s->p) });
	if (m->path.n == 0)
		return "it has no path";
	if (!rtrace_scan_address(&range, &m->start) || !rtrace_scan_literal(&range, "-") ||
	    !rtrace_scan_address(&range, &m->end))
		return "'0xSTART-0xEND' is missing after its path";
	if (m->start >= m->end)
		return "its end is not after its start";
	if (memchr(m->path.bytes, ' ', m->path.n))
		odd->what = "its path contains a space, so other tools read the line as a "
			    "comment";
	return NULL;
}

static const char *rtrace_parse_context(struct scan *s, struct rtrace_context *c)
{
	if (!rtrace_scan_mask(s, &c->mask))
		return "its mask is not a hexadecimal number of 32 bits";
	rtrace_scan_spaces(s);
	if (!rtrace_scan_literal(s, ":"))
		return "':' is missing after its mask";
	rtrace_scan_spaces(s);
	c->name = rtrace_parse_trimmed(rtrace_parse_rest(s));
	return c->name.n > 0 ? NULL : "it has no name";
}

static const char *rtrace_parse_resource(struct scan *s, struct rtrace_resource *r)
{
	const char *close;
	struct scan flags;

	*r = (struct rtrace_resource){ 0 };
	if (!rtrace_scan_mask(s, &r->mask) || r->mask == 0)
		return "its mask is not a hexadecimal number of 32 bits";
	if (!rtrace_scan_literal(s, ">"))
		return "'>' is missing after its mask";
	rtrace_scan_spaces(s);
	if (!rtrace_scan_literal(s, ":"))
		return "':' is missing after its mask";
	rtrace_scan_spaces(s);
	r->type = rtrace_scan_word(s);
	if (r->type.n == 0 || r->type.n > RTRACE_TYPE_MAX)
		return "its type is missing, or too long";
	rtrace_scan_spaces(s);
	if (!rtrace_scan_literal(s, "(") || !(close = rtrace_parse_find(s, ")")) || close == s->p)
		return "'(DESCRIPTION)' is missing after its type";
	r->description = (struct rtrace_text){ s->p, (size_t)(close - s->p) };
	flags = (struct scan){ close + 1, s->end };
	r->refcount = rtrace_parse_find(&flags, "[") && rtrace_parse_find(&flags, RTRACE_REFCOUNT);
	return NULL;
}

static const char *rtrace_parse_attachment(struct scan *s, struct rtrace_attachment *a)
{
	a->name = rtrace_scan_word(s);
	rtrace_scan_spaces(s);
	if (a->name.n == 0 || !rtrace_scan_literal(s, ":"))
		return "':' is missing after its name";
	rtrace_scan_spaces(s);
	a->path = rtrace_parse_trimmed(rtrace_parse_rest(s));
	return a->path.n > 0 ? NULL : "it has no path";
}

static bool rtrace_parse_calls_summary(struct scan s, struct rtrace_summary *ret)
{
	*ret = (struct rtrace_summary){ 0 };
	return rtrace_scan_literal(&s, RTRACE_TEMPORARY "allocation summary: ") &&
	       rtrace_scan_decimal(&s, &ret->count) &&
	       rtrace_scan_literal(&s, " block(s) with total size ") &&
	       rtrace_scan_decimal(&s, &ret->size) && rtrace_parse_left(&s) == 0;
}

/*
 * Removes TEXT and a space from the beginning of the line. Returns false if the line begins
 * otherwise.
 */
static bool rtrace_scan_mark(struct scan *s, const char *text)
{
	struct scan at = *s;

	if (!rtrace_scan_literal(&at, text) || rtrace_scan_spaces(&at) == 0)
		return false;
	*s = at;
	return true;
}

/* The reason that rtrace_parse_fields() returns for a line without an error. */
static const char plain_comment[] = "it is not a record";

/*
 * Parses the record. Its kind is known from the beginning of the line. Returns NULL, or an error
 * message.
 */
static const char *rtrace_parse_fields(struct scan s, struct rtrace_record *ret,
				       struct rtrace_oddity *odd)
{
	struct scan at = s;

	if (rtrace_scan_spaces(&at) > 0 && s.p[0] == '\t') {
		if (rtrace_scan_literal(&at, "$")) {
			ret->kind = RTRACE_ARG;
			return rtrace_parse_arg(&at, &ret->arg);
		}
		ret->kind = RTRACE_FRAME;
		return rtrace_parse_frame(&at, &ret->frame);
	}
	if (s.p[0] >= '0' && s.p[0] <= '9') {
		ret->kind = RTRACE_CALL;
		return rtrace_parse_call(&s, &ret->call, odd);
	}
	if (rtrace_scan_literal(&s, "$")) {
		ret->kind = RTRACE_ARG;
		return rtrace_parse_arg(&s, &ret->arg);
	}
	if (rtrace_scan_mark(&s, ":")) {
		ret->kind = RTRACE_MAP;
		return rtrace_parse_map(&s, &ret->map, odd);
	}
	if (rtrace_scan_mark(&s, "@")) {
		ret->kind = RTRACE_CONTEXT;
		return rtrace_parse_context(&s, &ret->context);
	}
	if (rtrace_scan_literal(&s, "<")) {
		ret->kind = RTRACE_RESOURCE;
		return rtrace_parse_resource(&s, &ret->resource);
	}
	if (rtrace_scan_mark(&s, "&")) {
		ret->kind = RTRACE_ATTACHMENT;
		return rtrace_parse_attachment(&s, &ret->attachment);
	}
	/* Comments usually begin with '#', but this is not required. */
	return s.p[0] == ' ' ? "it begins with a space" : plain_comment;
}

void rtrace_parse_line(struct rtrace_text line, struct rtrace_record *ret,
		       struct rtrace_oddity *reterr)
{
	struct scan s = rtrace_scan_of(line);

	*reterr = (struct rtrace_oddity){ 0 };
	ret->kind = RTRACE_NOTE;
	ret->temporary = false;
	if (line.n == 0) {
		ret->kind = RTRACE_END;
		return;
	}
	if (line.bytes[0] != '#') {
		const char *what = memchr(line.bytes, '\0', line.n)
					   ? "it contains a NUL"
					   : rtrace_parse_fields(s, ret, reterr);

		if (!what)
			return;
		if (what != plain_comment)
			*reterr = (struct rtrace_oddity){ what, true };
	} else if (rtrace_parse_calls_summary(s, &ret->summary)) {
		ret->kind = RTRACE_CALLS_SUMMARY;
		ret->temporary = true;
		return;
	}
	ret->temporary = rtrace_scan_literal(&s, RTRACE_TEMPORARY);
	ret->kind = RTRACE_NOTE;
	ret->note = line;
}

/* ---- header ---- */

static const char *const key_names[] = {
#define RTRACE_KEY(name, text) [RTRACE_KEY_##name] = text,
	RTRACE_HEADER_KEYS(RTRACE_KEY)
#undef RTRACE_KEY
};

static enum rtrace_key rtrace_parse_key_of(struct rtrace_text name)
{
	enum rtrace_key key = RTRACE_KEY_VERSION;

	if (rtrace_text_is(name, RTRACE_KEY_TIMESTAMP_V1))
		return RTRACE_KEY_TIMESTAMP;
	while (key < RTRACE_KEY_MAX && !rtrace_text_is(name, key_names[key]))
		key++;
	return key;
}

/* Returns the filters in VALUE. They can be anywhere in VALUE, as in other readers. */
static unsigned rtrace_filters_of(struct rtrace_text value)
{
	struct scan s = rtrace_scan_of(value);
	unsigned filters = 0;

#define RTRACE_FILTER(name, bit, text)                                                             \
	filters |= rtrace_parse_find(&s, text) ? RTRACE_FILTER_##name : 0;
	RTRACE_FILTERS(RTRACE_FILTER)
#undef RTRACE_FILTER
	return filters;
}

static void rtrace_parse_set_key(struct rtrace_header *h, enum rtrace_key key,
				 struct rtrace_text value, struct rtrace_oddity *odd)
{
	uint64_t number;

	switch (key) {
	case RTRACE_KEY_VERSION:
		h->version = value;
		break;
	case RTRACE_KEY_ARCH:
		h->arch = value;
		break;
	case RTRACE_KEY_TIMESTAMP:
		h->timestamp = value;
		break;
	case RTRACE_KEY_PROCESS:
		h->process = value;
		break;
	case RTRACE_KEY_ORIGIN:
		h->origin = value;
		break;
	case RTRACE_KEY_FILTER:
		h->filters = rtrace_filters_of(value);
		break;
	case RTRACE_KEY_PID:
		if (rtrace_parse_decimal(value, &number) && number <= RTRACE_PID_MAX)
			h->pid = (uint32_t)number;
		else
			odd->what = "its pid is not a valid process id";
		break;
	case RTRACE_KEY_DEPTH:
		h->has_depth = rtrace_parse_decimal(value, &number) && number <= RTRACE_INT_MAX;
		if (h->has_depth)
			h->depth = (uint32_t)number;
		else
			odd->what = "its backtrace depth is not a number";
		break;
	case RTRACE_KEY_MAX:
		break;
	}
}

bool rtrace_parse_header(struct rtrace_text line, struct rtrace_header *ret,
			 struct rtrace_oddity *reterr)
{
	struct scan s = rtrace_scan_of(line);

	*ret = (struct rtrace_header){ 0 };
	*reterr = (struct rtrace_oddity){ 0 };
	if (!rtrace_is_report(line.bytes, line.n))
		return false;
	while (rtrace_scan_spaces(&s), rtrace_parse_left(&s) > 0) {
		const char *comma = memchr(s.p, ',', rtrace_parse_left(&s));
		const char *end = comma ? comma : s.end;
		const char *equals = memchr(s.p, '=', (size_t)(end - s.p));
		struct rtrace_text name = { s.p, equals ? (size_t)(equals - s.p) : 0 };

		if (equals)
			rtrace_parse_set_key(ret, rtrace_parse_key_of(name),
					     rtrace_parse_trimmed((struct rtrace_text){
						     equals + 1, (size_t)(end - equals - 1) }),
					     reterr);
		else
			reterr->what = "it contains a word without '='";
		s.p = comma ? comma + 1 : s.end;
	}
	if (memchr(line.bytes, '\0', line.n))
		reterr->what = "it contains a NUL";
	return true;
}

bool rtrace_is_report(const void *p, size_t n)
{
	struct scan s = rtrace_scan_of((struct rtrace_text){ p, n });

	for (size_t i = 0; i < ARRAY_SIZE(key_names); i++) {
		struct scan at = s;

		if (rtrace_scan_literal(&at, key_names[i]) && rtrace_scan_literal(&at, "="))
			return true;
	}
	return false;
}

/* ---- words ---- */

size_t rtrace_unescape(char *to, struct rtrace_text text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++) {
		const char *p = text.bytes + i;

		if (p[0] == '\\' && text.n - i >= 4 && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' &&
		    p[2] <= '7' && p[3] >= '0' && p[3] <= '7') {
			to[n++] = (char)((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0'));
			i += 3;
		} else {
			to[n++] = *p;
		}
	}
	to[n] = '\0';
	return n;
}

bool rtrace_parse_hex(struct rtrace_text text, uint64_t *ret)
{
	struct scan s = rtrace_scan_of(text);

	rtrace_scan_literal(&s, "0x");
	return rtrace_scan_number(&s, 16, ret) > 0 && rtrace_parse_left(&s) == 0;
}

bool rtrace_parse_decimal(struct rtrace_text text, uint64_t *ret)
{
	struct scan s = rtrace_scan_of(text);

	return rtrace_scan_decimal(&s, ret) && rtrace_parse_left(&s) == 0;
}
