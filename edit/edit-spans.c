/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-spans.h"

#include <errno.h>
#include <string.h>

#include "base/table.h"

/* More open ones are not followed: they pass as they are. */
enum { OPEN_MAX = 1 << 18 };

enum family { DURATION, ASYNC, FLOW };

/* What tells spans apart. Without holes: its bytes are hashed. */
struct key {
	uint64_t family;
	uint64_t from;
	uint64_t a, b; /* pid and tid, or id and 0 */
};

struct span {
	struct key key;
	struct span *outer;          /* of the same key */
	struct span *before, *after; /* in the order of their begin, over all keys */
	const struct fxt_provider *from;
	struct fxt_thread thread;
	uint64_t id;
	uint32_t n_category;
	uint32_t n_name;
	char text[]; /* category, then name */
};

struct edit_spans {
	edit_spans_fn write;
	void *userdata;
	struct table top;          /* hash of the key -> innermost struct span */
	struct span *first, *last; /* owned, all of them */
	uint64_t n_open;
};

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
	free(s);
	return NULL;
}

uint64_t edit_spans_n_open(const struct edit_spans *s)
{
	return s->n_open;
}

static struct key key_of(const struct fxt_provider *from, const struct fxt_record *r)
{
	struct key key = { .from = (uint64_t)(uintptr_t)from };

	switch (r->subtype) {
	case FXT_EVENT_DURATION_BEGIN:
	case FXT_EVENT_DURATION_END:
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

static int begin(struct edit_spans *s, const struct key *key, const struct fxt_provider *from,
		 const struct fxt_record *r)
{
	uint32_t n_category = r->category.bytes ? r->category.length : 0;
	uint32_t n_name = r->name.bytes ? r->name.length : 0;
	uint64_t hash = table_hash(key, sizeof(*key));
	struct span *outer = table_get(&s->top, hash), *span;
	int e;

	if (s->n_open >= OPEN_MAX || (outer && memcmp(&outer->key, key, sizeof(*key)) != 0))
		return EDIT_SPANS_KEEP;
	span = calloc(1, sizeof(*span) + n_category + n_name);
	if (!span)
		return -ENOMEM;
	*span = (struct span){ .key = *key,
			       .outer = outer,
			       .before = s->last,
			       .from = from,
			       .thread = r->thread,
			       .id = r->event.value,
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
	return EDIT_SPANS_KEEP;
}

static int forget(struct edit_spans *s, struct span *span)
{
	uint64_t hash = table_hash(&span->key, sizeof(span->key));
	int e = 0;

	if (span->outer)
		e = table_set(&s->top, hash, span->outer);
	else
		table_remove(&s->top, hash);
	*(span->before ? &span->before->after : &s->first) = span->after;
	*(span->after ? &span->after->before : &s->last) = span->before;
	free(span);
	s->n_open--;
	return e;
}

int edit_spans_take(struct edit_spans *s, const struct fxt_provider *from,
		    const struct fxt_record *r)
{
	struct key key;
	struct span *span;
	int e;

	switch (r->subtype) {
	case FXT_EVENT_INSTANT:
	case FXT_EVENT_COUNTER:
	case FXT_EVENT_DURATION_COMPLETE:
		return EDIT_SPANS_KEEP;
	default:
		break;
	}
	key = key_of(from, r);
	switch (r->subtype) {
	case FXT_EVENT_DURATION_BEGIN:
	case FXT_EVENT_ASYNC_BEGIN:
	case FXT_EVENT_FLOW_BEGIN:
		return begin(s, &key, from, r);
	default:
		break;
	}
	span = table_get(&s->top, table_hash(&key, sizeof(key)));
	if (!span)
		return s->n_open >= OPEN_MAX ? EDIT_SPANS_KEEP : EDIT_SPANS_DROP;
	if (memcmp(&span->key, &key, sizeof(key)) != 0 || r->subtype == FXT_EVENT_ASYNC_INSTANT ||
	    r->subtype == FXT_EVENT_FLOW_STEP)
		return EDIT_SPANS_KEEP;
	e = forget(s, span);
	return e < 0 ? e : EDIT_SPANS_KEEP;
}

/* An event record of SPAN, as its BEGIN or its end. */
static int write_event(struct edit_spans *s, const struct span *span, bool is_begin, uint64_t ts_ns)
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

int edit_spans_open(struct edit_spans *s, uint64_t ts_ns)
{
	int e = 0;

	for (const struct span *span = s->first; e == 0 && span; span = span->after)
		e = write_event(s, span, true, ts_ns);
	return e;
}

int edit_spans_close(struct edit_spans *s, uint64_t ts_ns)
{
	int e = 0;

	while (e == 0 && s->last) {
		e = write_event(s, s->last, false, ts_ns);
		if (e == 0)
			e = forget(s, s->last);
	}
	return e;
}
