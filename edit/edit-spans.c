/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

/* The maximum memory of open spans. Spans beyond it are not tracked, and pass unchanged. */
#define BYTES_MAX ((size_t)32 << 20)

enum family { DURATION, ASYNC, FLOW };

/* The identity of a span. Its bytes are hashed, so it has no padding. */
struct key {
	uint64_t family;
	uint64_t from;
	uint64_t a, b; /* pid and tid of a duration; or id and 0 */
};

struct span {
	struct key key;
	struct span *outer;          /* the enclosing span of the same key */
	struct span *before, *after; /* sorted by begin, over all keys */
	const struct fxt_provider *from;
	struct fxt_thread thread;
	uint64_t id;
	uint64_t began_ns;
	uint64_t inner_ns; /* latest end of complete durations in the span; 0 = no such durations */
	uint32_t n_category;
	uint32_t n_name;
	char text[]; /* category, then name */
};

struct edit_spans {
	edit_spans_fn write;
	void *userdata;
	struct table top;          /* hash of the key -> its innermost struct span */
	struct span *first, *last; /* list of all spans; owned */
	struct span *reopened;     /* last span that edit_spans_open() has written */
	uint64_t n_open;
	uint64_t n_unfollowed; /* number of spans that have begun and are not tracked */
	size_t bytes;
};

static size_t edit_spans_bytes_of(const struct span *span)
{
	return sizeof(*span) + span->n_category + span->n_name;
}

int edit_spans_new(struct edit_spans **ret, edit_spans_fn write, void *userdata)
{
	struct edit_spans *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->write = write;
	s->userdata = userdata;
	*ret = s;
	return 0;
}

struct edit_spans *edit_spans_free(struct edit_spans *s)
{
	if (!s)
		return NULL;
	for (struct span *i = s->first, *next; i; i = next) {
		next = i->after;
		free(i);
	}
	table_deinit(&s->top);
	return free_ptr(s);
}

uint64_t edit_spans_n_open(const struct edit_spans *s)
{
	return s->n_open;
}

static struct key edit_spans_key_of(const struct fxt_provider *from, const struct fxt_record *r)
{
	struct key key = { .from = (uint64_t)(uintptr_t)from };

	switch (r->subtype) {
	case FXT_EVENT_DURATION_BEGIN:
	case FXT_EVENT_DURATION_END:
	case FXT_EVENT_DURATION_COMPLETE:
		key.family = DURATION;
		key.a = r->thread.pid;
		key.b = r->thread.tid;
		break;
	case FXT_EVENT_ASYNC_BEGIN:
	case FXT_EVENT_ASYNC_INSTANT:
	case FXT_EVENT_ASYNC_END:
		key.family = ASYNC;
		key.a = r->event.value;
		break;
	default:
		key.family = FLOW;
		key.a = r->event.value;
		break;
	}
	return key;
}

static int edit_spans_begin(struct edit_spans *s, const struct key *key,
			    const struct fxt_provider *from, const struct fxt_record *r)
{
	uint32_t n_category = r->category.bytes ? r->category.length : 0;
	uint32_t n_name = r->name.bytes ? r->name.length : 0;
	uint64_t hash = table_hash(key, sizeof(*key));
	struct span *outer = table_get(&s->top, hash), *span;
	int e;

	if (s->bytes > BYTES_MAX || (outer && memcmp(&outer->key, key, sizeof(*key)) != 0)) {
		s->n_unfollowed++;
		return EDIT_SPANS_KEEP;
	}
	span = calloc(1, sizeof(*span) + n_category + n_name);
	if (!span)
		return -ENOMEM;
	*span = (struct span){ .key = *key,
			       .outer = outer,
			       .before = s->last,
			       .from = from,
			       .thread = r->thread,
			       .id = r->event.value,
			       .began_ns = r->ts_ns,
			       .n_category = n_category,
			       .n_name = n_name };
	if (n_category > 0)
		memcpy(span->text, r->category.bytes, n_category);
	if (n_name > 0)
		memcpy(span->text + n_category, r->name.bytes, n_name);
	e = table_set(&s->top, hash, span);
	if (e < 0) {
		free(span);
		return e;
	}
	*(s->last ? &s->last->after : &s->first) = span;
	s->last = span;
	s->n_open++;
	s->bytes += edit_spans_bytes_of(span);
	return EDIT_SPANS_KEEP;
}

static void edit_spans_forget(struct edit_spans *s, struct span *span)
{
	uint64_t hash = table_hash(&span->key, sizeof(span->key));

	table_remove(&s->top, hash);
	/* Cannot fail: table_remove() has just released a slot. */
	if (span->outer) {
		table_set(&s->top, hash, span->outer);
		if (span->inner_ns > span->outer->inner_ns)
			span->outer->inner_ns = span->inner_ns;
	}
	if (s->reopened == span)
		s->reopened = span->before;
	*(span->before ? &span->before->after : &s->first) = span->after;
	*(span->after ? &span->after->before : &s->last) = span->before;
	s->bytes -= edit_spans_bytes_of(span);
	free(span);
	s->n_open--;
}

/* Notes a complete duration in the innermost span of its thread. */
static void edit_spans_note_complete(struct edit_spans *s, const struct fxt_provider *from,
				     const struct fxt_record *r)
{
	const struct key key = edit_spans_key_of(from, r);
	struct span *span = table_get(&s->top, table_hash(&key, sizeof(key)));

	if (span && memcmp(&span->key, &key, sizeof(key)) == 0 && r->event.end_ns > span->inner_ns)
		span->inner_ns = r->event.end_ns;
}

int edit_spans_process(struct edit_spans *s, const struct fxt_provider *from,
		       const struct fxt_record *r)
{
	bool ends = r->subtype != FXT_EVENT_ASYNC_INSTANT && r->subtype != FXT_EVENT_FLOW_STEP;
	struct key key;
	struct span *span;

	if (r->subtype == FXT_EVENT_DURATION_COMPLETE)
		edit_spans_note_complete(s, from, r);
	if (r->subtype <= FXT_EVENT_COUNTER || r->subtype == FXT_EVENT_DURATION_COMPLETE ||
	    r->subtype > FXT_EVENT_FLOW_END)
		return EDIT_SPANS_KEEP;
	key = edit_spans_key_of(from, r);
	switch (r->subtype) {
	case FXT_EVENT_DURATION_BEGIN:
	case FXT_EVENT_ASYNC_BEGIN:
	case FXT_EVENT_FLOW_BEGIN:
		return edit_spans_begin(s, &key, from, r);
	default:
		break;
	}
	span = table_get(&s->top, table_hash(&key, sizeof(key)));
	if (!span || memcmp(&span->key, &key, sizeof(key)) != 0) {
		if (s->n_unfollowed == 0)
			return EDIT_SPANS_DROP;
		s->n_unfollowed -= ends;
		return EDIT_SPANS_KEEP;
	}
	if (ends)
		edit_spans_forget(s, span);
	return EDIT_SPANS_KEEP;
}

/* Writes an event that begins or ends SPAN. */
static int edit_spans_write_event(struct edit_spans *s, const struct span *span, bool is_begin,
				  uint64_t ts_ns)
{
	static const unsigned types[][2] = {
		[DURATION] = { FXT_EVENT_DURATION_END, FXT_EVENT_DURATION_BEGIN },
		[ASYNC] = { FXT_EVENT_ASYNC_END, FXT_EVENT_ASYNC_BEGIN },
		[FLOW] = { FXT_EVENT_FLOW_END, FXT_EVENT_FLOW_BEGIN },
	};
	struct fxt_record r = {
		.type = FXT_RECORD_EVENT,
		.subtype = types[span->key.family][is_begin],
		.provider = span->from,
		.ts_ns = ts_ns,
		.thread = span->thread,
		.category = { span->text, span->n_category, -1, 0 },
		.name = { span->text + span->n_category, span->n_name, -1, 0 },
		.event = { .value = span->id },
	};

	return s->write(s->userdata, span->from, &r);
}

int edit_spans_open(struct edit_spans *s, uint64_t began_ns, uint64_t ts_ns)
{
	const struct span *span = s->reopened ? s->reopened->after : s->first;
	int e = 0;

	for (; e == 0 && span && span->began_ns <= began_ns; span = span->after) {
		e = edit_spans_write_event(s, span, true, ts_ns);
		s->reopened = (struct span *)span;
	}
	return e;
}

struct ending {
	struct span *span;
	uint64_t ts_ns;
	size_t rank; /* order of ends at the same time */
};

static int edit_spans_compare(const void *a, const void *b)
{
	const struct ending *x = a, *y = b;

	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return x->rank < y->rank ? -1 : 1;
}

/*
 * Sets the ends of all open spans. The end of an inner span is never after the end of its outer
 * span.
 */
static void edit_spans_set_ends(struct edit_spans *s, uint64_t ts_ns, struct ending *to)
{
	size_t n = 0;

	for (struct span *span = s->last; span; span = span->before) {
		if (span->inner_ns < ts_ns)
			span->inner_ns = ts_ns;
		if (span->outer && span->outer->inner_ns < span->inner_ns)
			span->outer->inner_ns = span->inner_ns;
		to[n] = (struct ending){ span, span->inner_ns, n };
		n++;
	}
	qsort(to, n, sizeof(*to), edit_spans_compare);
}

int edit_spans_close(struct edit_spans *s, uint64_t ts_ns, uint64_t *ret_ns)
{
	_cleanup_free_ struct ending *endings = NULL;
	size_t n = s->n_open;
	int e = 0;

	*ret_ns = ts_ns;
	if (n == 0)
		return 0;
	endings = calloc(n, sizeof(*endings));
	if (!endings)
		return -ENOMEM;
	edit_spans_set_ends(s, ts_ns, endings);
	*ret_ns = endings[n - 1].ts_ns;
	for (size_t i = 0; e == 0 && i < n; i++) {
		e = edit_spans_write_event(s, endings[i].span, false, endings[i].ts_ns);
		if (e == 0)
			edit_spans_forget(s, endings[i].span);
	}
	return e;
}
