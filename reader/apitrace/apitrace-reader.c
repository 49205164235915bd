/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the header and the events, and joins them into calls.
 */
#include "reader/apitrace/apitrace-reader.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "reader/apitrace/apitrace-parse.h"

/* Arguments are skipped if their number is at least ARGS_MAX, or if the function does not have
 * them. */
enum { ARGS_MAX = 65536, HEAD_BYTES = 64 };

/* A call that was entered and not left. */
struct open_call {
	struct apitrace_call call;
	struct apitrace_pool pool; /* contains all memory of the call, including this struct */
	size_t args_room;
	struct open_call *before, *after; /* neighbours in a list that is sorted by number */
};

struct apitrace_reader {
	struct apitrace_parse parse;
	struct apitrace_header header;
	uint64_t n_calls;
	struct table open; /* number of the call + 1 -> struct open_call */
	struct open_call *first, *last;
	size_t open_bytes;
	struct open_call *given; /* the call that the caller uses; owned */
	bool ended;              /* there are no more events */
	bool bad_header;         /* damage in the header was not reported yet */
	/* `given` was not returned yet, since the event of its end is damaged */
	bool kept;
};

/* ---- open calls ---- */

static struct open_call *apitrace_reader_open_call_free(struct open_call *c)
{
	/* The struct is in its own pool. */
	struct apitrace_pool pool;

	if (!c)
		return NULL;
	pool = c->pool;
	apitrace_pool_deinit(&pool);
	return NULL;
}

static struct open_call *apitrace_reader_open_call_new(void)
{
	struct apitrace_pool pool = { 0 };
	struct open_call *c = apitrace_pool_get(&pool, sizeof(*c));

	if (c)
		c->pool = pool;
	return c;
}

static int apitrace_reader_open_call_add(struct apitrace_reader *r, struct open_call *c)
{
	int e = table_set(&r->open, c->call.no + 1, c);

	if (e < 0)
		return e;
	c->before = r->last;
	*(r->last ? &r->last->after : &r->first) = c;
	r->last = c;
	r->open_bytes += c->pool.bytes;
	return 0;
}

static struct open_call *apitrace_reader_open_call_remove(struct apitrace_reader *r, uint64_t no)
{
	struct open_call *c = no < UINT64_MAX ? table_remove(&r->open, no + 1) : NULL;

	if (!c)
		return NULL;
	*(c->before ? &c->before->after : &r->first) = c->after;
	*(c->after ? &c->after->before : &r->last) = c->before;
	r->open_bytes -= c->pool.bytes;
	return c;
}

/* ---- details ---- */

static int apitrace_reader_read_arg(struct apitrace_reader *r, struct open_call *c)
{
	struct apitrace_call *call = &c->call;
	struct apitrace_value *value = NULL;
	struct apitrace_arg *args;
	uint64_t n;
	int e = apitrace_parse_number(&r->parse, &n)
			?: apitrace_parse_value(&r->parse, &c->pool, &value);

	if (e < 0 || !call->function)
		return e;
	if (n >= call->function->n || n >= ARGS_MAX) {
		apitrace_parse_found(&r->parse, APITRACE_ARG_UNDECLARED);
		return 0;
	}
	if (n >= c->args_room) {
		size_t room = n + 1 < 8 ? 8 : 2 * (n + 1);

		e = apitrace_parse_room(&r->parse, &c->pool, room * sizeof(*args),
					APITRACE_CALL_BYTES_MAX, &args);
		if (e < 0)
			return e;
		if (call->n_args > 0)
			memcpy(args, call->args, call->n_args * sizeof(*args));
		call->args = args;
		c->args_room = room;
	}
	call->args[n].value = value;
	if (call->n_args <= n)
		call->n_args = n + 1;
	return 0;
}

static int apitrace_reader_parse_backtrace(struct apitrace_reader *r, struct open_call *c)
{
	_cleanup_free_ struct apitrace_frame **frames = NULL;
	struct apitrace_frame **kept;
	size_t room = 0, got;
	uint64_t n;
	int e = apitrace_parse_number(&r->parse, &n);

	for (got = 0; e == 0 && got < n; got++)
		e = GROW(frames, room, got + 1) ?: apitrace_parse_frame(&r->parse, &frames[got]);
	if (e == 0)
		e = apitrace_parse_room(&r->parse, &c->pool, (got + 1) * sizeof(*kept),
					APITRACE_CALL_BYTES_MAX, &kept);
	if (e < 0)
		return e;
	if (got > 0)
		memcpy(kept, frames, got * sizeof(*kept));
	c->call.has_backtrace = true;
	c->call.frames = kept;
	c->call.n_frames = got;
	return 0;
}

/* Parses a detail of a call. Returns 1, 0 at the end of the event, or a negative errno. */
static int apitrace_reader_parse_detail(struct apitrace_reader *r, struct open_call *c)
{
	uint64_t at = r->parse.input.offset, flags;
	uint8_t detail;
	int e = apitrace_parse_byte(&r->parse, &detail);

	if (e < 0)
		return e;
	switch (detail) {
	case APITRACE_DETAIL_END:
		return 0;
	case APITRACE_DETAIL_ARG:
		return apitrace_reader_read_arg(r, c) ?: 1;
	case APITRACE_DETAIL_RET:
		return apitrace_parse_value(&r->parse, &c->pool, &c->call.ret) ?: 1;
	case APITRACE_DETAIL_THREAD:
		/* The format's own reader does not know this detail from version 4 on. */
		if (r->parse.version >= APITRACE_VERSION_THREADS)
			break;
		return apitrace_parse_number(&r->parse, &c->call.thread) ?: 1;
	case APITRACE_DETAIL_BACKTRACE:
		return apitrace_reader_parse_backtrace(r, c) ?: 1;
	case APITRACE_DETAIL_FLAGS:
		e = apitrace_parse_number(&r->parse, &flags);
		if (e == 0)
			c->call.flags |= flags;
		return e ?: 1;
	}
	return apitrace_parse_damage(&r->parse, at, "an unknown detail of a call");
}

static int apitrace_reader_parse_details(struct apitrace_reader *r, struct open_call *c)
{
	int e;

	while ((e = apitrace_reader_parse_detail(r, c)) > 0)
		;
	return e;
}

/* ---- events ---- */

static int apitrace_reader_parse_enter(struct apitrace_reader *r, uint64_t at)
{
	struct open_call *c = apitrace_reader_open_call_new();
	int e = 0;

	if (!c)
		return -ENOMEM;
	c->call.offset = at;
	c->call.state = APITRACE_CALL_INCOMPLETE;
	if (r->parse.version >= APITRACE_VERSION_THREADS)
		e = apitrace_parse_number(&r->parse, &c->call.thread);
	e = e ?: apitrace_parse_function(&r->parse, &c->call.function);
	e = e ?: apitrace_reader_parse_details(r, c);
	c->call.no = r->n_calls;
	e = e ?: apitrace_reader_open_call_add(r, c);
	if (e < 0)
		apitrace_reader_open_call_free(c);
	else
		r->n_calls++;
	return e;
}

/*
 * Parses the end of a call. Returns 1 with the call in r->given, 0 if the call was not open, or a
 * negative errno.
 */
static int apitrace_reader_parse_leave(struct apitrace_reader *r)
{
	struct open_call *c;
	bool stray;
	uint64_t no;
	int e = apitrace_parse_number(&r->parse, &no);

	if (e < 0)
		return e;
	c = apitrace_reader_open_call_remove(r, no);
	stray = !c;
	if (stray) {
		apitrace_parse_found(&r->parse, APITRACE_LEAVE_WITHOUT_ENTER);
		c = apitrace_reader_open_call_new();
		if (!c)
			return -ENOMEM;
	}
	e = apitrace_reader_parse_details(r, c);
	if (stray) {
		apitrace_reader_open_call_free(c);
		return e;
	}
	/* If the event is damaged, the part before the damage is kept. */
	if (e == -EBADMSG) {
		r->given = c;
		return e;
	}
	if (e < 0) {
		apitrace_reader_open_call_free(c);
		return e;
	}
	c->call.state = APITRACE_CALL_COMPLETE;
	r->given = c;
	return 1;
}

/*
 * Reads events until a call has ended. Returns like apitrace_reader_parse_leave(), or 0 at the end
 * of the trace.
 */
static int apitrace_reader_next_event(struct apitrace_reader *r)
{
	struct input *in = &r->parse.input;
	int e;

	for (;;) {
		uint64_t at = in->offset;
		uint8_t event;

		e = input_need(in, 1);
		if (e <= 0)
			return e;
		event = *(const uint8_t *)input_consume(in, 1);
		if (event == APITRACE_EVENT_ENTER)
			e = apitrace_reader_parse_enter(r, at);
		else if (event == APITRACE_EVENT_LEAVE)
			e = apitrace_reader_parse_leave(r);
		else
			e = apitrace_parse_damage(&r->parse, at, "an unknown event");
		if (e != 0 || r->open_bytes > APITRACE_PENDING_BYTES_MAX)
			return e ?: 1;
	}
}

/* Moves the oldest open call, which has no end, to r->given. */
static void apitrace_reader_return_oldest(struct apitrace_reader *r, enum apitrace_finding_id why)
{
	apitrace_parse_found(&r->parse, why);
	r->given = apitrace_reader_open_call_remove(r, r->first->call.no);
}

int apitrace_reader_next(struct apitrace_reader *r, const struct apitrace_call **ret)
{
	int e = 0;

	if (r->bad_header) {
		r->bad_header = false;
		r->ended = true;
		return APITRACE_DAMAGE;
	}
	if (!r->kept)
		r->given = apitrace_reader_open_call_free(r->given);
	r->kept = false;
	if (!r->ended) {
		e = apitrace_reader_next_event(r);
		r->ended = e <= 0;
		r->kept = e < 0 && r->given;
		if (e < 0)
			return e == -EBADMSG ? APITRACE_DAMAGE : e;
		if (e > 0 && !r->given)
			apitrace_reader_return_oldest(r, APITRACE_FORGOTTEN);
	}
	if (!r->given && r->first)
		apitrace_reader_return_oldest(r, APITRACE_NEVER_LEFT);
	if (!r->given)
		return APITRACE_END;
	*ret = &r->given->call;
	return APITRACE_CALL;
}

/* ---- header ---- */

static int apitrace_reader_parse_properties(struct apitrace_reader *r)
{
	struct apitrace_parse *p = &r->parse;
	_cleanup_free_ struct apitrace_property *list = NULL;
	struct apitrace_property *kept;
	size_t room = 0, n = 0;
	int e;

	for (;; n++) {
		e = GROW(list, room, n + 1)
			    ?: apitrace_parse_text(p, &p->signatures, APITRACE_SIGNATURE_BYTES_MAX,
						   &list[n].name);
		if (e < 0 || list[n].name.n == 0)
			break;
		e = apitrace_parse_text(p, &p->signatures, APITRACE_SIGNATURE_BYTES_MAX,
					&list[n].value);
		if (e < 0)
			break;
	}
	/* Properties before damage are kept. */
	if (n > 0 && (e == 0 || e == -EBADMSG)) {
		kept = apitrace_pool_get(&p->signatures, n * sizeof(*kept));
		if (!kept)
			return -ENOMEM;
		memcpy(kept, list, n * sizeof(*kept));
		r->header.properties = kept;
		r->header.n_properties = n;
	}
	return e;
}

static int apitrace_reader_parse_header(struct apitrace_reader *r)
{
	struct apitrace_header *h = &r->header;
	int e = apitrace_parse_number(&r->parse, &h->version);

	if (e == 0 && h->version > APITRACE_VERSION_MAX)
		return APITRACE_ALIEN_VERSION;
	r->parse.version = h->semantic_version = h->version;
	if (e < 0 || h->version < APITRACE_VERSION_PROPERTIES)
		return e;
	e = apitrace_parse_number(&r->parse, &h->semantic_version);
	if (e == 0 && h->semantic_version > h->version)
		apitrace_parse_found(&r->parse, APITRACE_SEMANTICS);
	return e ?: apitrace_reader_parse_properties(r);
}

/* ---- object ---- */

static int apitrace_reader_start(struct apitrace_reader **ret, struct apitrace_reader *r, int e)
{
	e = e ?: input_need(&r->parse.input, 1);
	if (e >= 0)
		e = e == 0 ? APITRACE_ALIEN_EMPTY : apitrace_reader_parse_header(r);
	/* Damage is reported by apitrace_reader_next(). */
	if (e == -EBADMSG) {
		r->bad_header = true;
		e = 0;
	}
	if (e == 0)
		*ret = r;
	else
		apitrace_reader_free(r);
	return e;
}

static struct apitrace_reader *apitrace_reader_allocate(apitrace_finding_fn finding, void *userdata)
{
	struct apitrace_reader *r = calloc(1, sizeof(*r));

	if (r) {
		r->parse.finding = finding;
		r->parse.userdata = userdata;
	}
	return r;
}

int apitrace_reader_new_source(struct apitrace_reader **ret, input_read_fn read, void *source,
			       apitrace_finding_fn finding, void *userdata)
{
	struct apitrace_reader *r = apitrace_reader_allocate(finding, userdata);

	return r ? apitrace_reader_start(ret, r, input_init_source(&r->parse.input, read, source))
		 : -ENOMEM;
}

int apitrace_reader_new_memory(struct apitrace_reader **ret, const void *p, size_t n,
			       apitrace_finding_fn finding, void *userdata)
{
	struct apitrace_reader *r = apitrace_reader_allocate(finding, userdata);

	return r ? apitrace_reader_start(ret, r, input_init_memory(&r->parse.input, p, n))
		 : -ENOMEM;
}

struct apitrace_reader *apitrace_reader_free(struct apitrace_reader *r)
{
	if (!r)
		return NULL;
	apitrace_reader_open_call_free(r->given);
	while (r->first)
		apitrace_reader_open_call_free(
			apitrace_reader_open_call_remove(r, r->first->call.no));
	table_deinit(&r->open);
	apitrace_parse_deinit(&r->parse);
	return free_ptr(r);
}

const struct apitrace_header *apitrace_reader_header(const struct apitrace_reader *r)
{
	return &r->header;
}

const struct apitrace_damage *apitrace_reader_damage(const struct apitrace_reader *r)
{
	return &r->parse.damage;
}

uint64_t apitrace_reader_offset(const struct apitrace_reader *r)
{
	return r->parse.input.offset;
}
