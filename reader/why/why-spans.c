/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/why/why-spans.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* The name of a function or the text of a mark, and which patterns match the text. */
struct why_span_name {
	bool begins, ends;
	char text[];
};

void why_spans_deinit(struct why_spans *s)
{
	free(s->list);
	free(s->marks);
	table_deinit_free(&s->names);
	*s = (struct why_spans){ .function = s->function, .begin = s->begin, .end = s->end };
}

/* ---- names ---- */

/* Removes the file: "libc.so.6:fsync" -> "fsync". A "::" belongs to the function's name. */
static const char *why_spans_without_file(const char *pattern)
{
	const char *colon = strchr(pattern, ':');

	return colon && colon[1] != ':' && colon[1] != '\0' ? colon + 1 : pattern;
}

/* True if PATTERN matches TEXT. If not, notes TEXT in NEAR if it is the nearest to PATTERN so
 * far. */
static bool why_spans_match(const char *pattern, const char *text, struct value_nearest *near)
{
	if (fnmatch(pattern, text, 0) == 0)
		return true;
	if (!near->text)
		*near = (struct value_nearest){ .text = pattern, .distance = VALUE_NEAR };
	value_nearest_try(near, text);
	return false;
}

static bool why_spans_match_function(struct why_spans *s, const char *text)
{
	const char *function = why_spans_without_file(s->function);

	return fnmatch(s->function, text, 0) == 0 || why_spans_match(function, text, &s->near);
}

static struct why_span_name *why_spans_new_name(struct why_spans *s, const char *text)
{
	size_t size = strlen(text) + 1;
	struct why_span_name *name = calloc(1, sizeof(*name) + size);

	if (!name)
		return NULL;
	memcpy(name->text, text, size);
	if (s->function)
		name->begins = why_spans_match_function(s, name->text);
	if (s->begin)
		name->begins = why_spans_match(s->begin, name->text, &s->near);
	if (s->end)
		name->ends = why_spans_match(s->end, name->text, &s->near_end);
	return name;
}

/* Finds or adds the name TEXT. Returns 1, 0 if there are too many names, or -ENOMEM. */
static int why_spans_find_name(struct why_spans *s, const char *text,
			       const struct why_span_name **ret)
{
	uint64_t key = table_hash(text, strlen(text));
	struct why_span_name *name = table_get(&s->names, key);

	*ret = name;
	if (name)
		return 1;
	if (s->names.n_used >= WHY_SPAN_NAMES_MAX)
		return 0;
	*ret = name = why_spans_new_name(s, text);
	if (!name)
		return -ENOMEM;
	if (table_set(&s->names, key, name) < 0) {
		free(name);
		return -ENOMEM;
	}
	return 1;
}

/* ---- reading ---- */

static int why_spans_append(struct why_spans *s, const struct why_span *span)
{
	if (s->n == WHY_SPANS_MAX) {
		s->n_dropped++;
		return 0;
	}
	if (GROW(s->list, s->room, s->n + 1) < 0)
		return -ENOMEM;
	s->list[s->n++] = *span;
	return 0;
}

static int why_spans_on_call(struct why_spans *s, const struct event *ev)
{
	const char *left_by = ev->call.left_by;
	const struct why_span_name *name;
	int r = why_spans_find_name(s, ev->call.function, &name);

	s->seen = true;
	s->n_dropped += r == 0;
	if (r <= 0 || !name->begins || ev->tid == 0)
		return r < 0 ? r : 0;
	return why_spans_append(s, &(struct why_span){
					   .from_ns = ev->ts_ns,
					   .to_ns = ev->call.end_ns > ev->ts_ns ? ev->call.end_ns
										: ev->ts_ns,
					   .name = name->text,
					   .tid = ev->tid,
					   .open = strcmp(left_by, "open") == 0,
					   .partial = *left_by != '\0',
				   });
}

static int why_spans_on_mark(struct why_spans *s, const struct event *ev)
{
	const struct why_span_name *name;
	int r = why_spans_find_name(s, ev->mark.text, &name);

	s->seen = true;
	s->n_dropped += r == 0;
	if (r <= 0 || (!name->begins && !name->ends))
		return r < 0 ? r : 0;
	s->n_begins += name->begins;
	s->n_ends += name->ends;
	if (s->n_marks == WHY_SPANS_MAX) {
		s->n_dropped++;
		return 0;
	}
	if (GROW(s->marks, s->room_marks, s->n_marks + 1) < 0)
		return -ENOMEM;
	s->marks[s->n_marks++] = (struct why_span_mark){
		.ts_ns = ev->ts_ns,
		.text = name->text,
		.begins = name->begins,
		.ends = name->ends,
	};
	return 0;
}

static int why_spans_on_left_out(struct why_spans *s, const struct event *ev)
{
	const struct why_span_name *name;
	int r = why_spans_find_name(s, ev->left_out.function, &name);

	s->seen = true;
	if (r > 0 && name->begins)
		s->n_left_out += ev->left_out.count;
	return r < 0 ? r : 0;
}

int why_spans_add(struct why_spans *s, const struct event *ev)
{
	if (s->function && ev->kind == EVENT_CALL)
		return why_spans_on_call(s, ev);
	if (s->function && ev->kind == EVENT_LEFT_OUT)
		return why_spans_on_left_out(s, ev);
	if (s->begin && ev->kind == EVENT_MARK)
		return why_spans_on_mark(s, ev);
	return 0;
}

void why_spans_forget(struct why_spans *s, uint64_t before_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->list[i].to_ns > before_ns)
			s->list[n++] = s->list[i];
	s->n = n;
}

/* ---- the end ---- */

DEFINE_ORDER(why_spans_mark_order, struct why_span_mark,
	     COMPARE(x->ts_ns, y->ts_ns) ?: strcmp(x->text, y->text))
DEFINE_ORDER(why_spans_order, struct why_span,
	     COMPARE(x->tid, y->tid) ?: COMPARE(x->from_ns, y->from_ns)
		     ?: COMPARE(x->to_ns, y->to_ns) ?: strcmp(x->name, y->name))

/* Returns the name of an interval, "FROM to TO", which S owns; NULL = no memory. */
static const char *why_spans_pair_name(struct why_spans *s, const char *from, const char *to)
{
	char text[2 * 256 + 8];
	struct why_span_name *name;
	uint64_t key;

	snprintf(text, sizeof(text), "%.256s to %.256s", from, to);
	key = table_hash(text, strlen(text));
	name = table_get(&s->names, key);
	if (name)
		return name->text;
	if (s->names.n_used >= 2 * WHY_SPAN_NAMES_MAX)
		return from;
	name = calloc(1, sizeof(*name) + strlen(text) + 1);
	if (!name || table_set(&s->names, key, name) < 0) {
		free(name);
		return NULL;
	}
	return strcpy(name->text, text);
}

/* Adds an interval from each mark that begins one to the next mark that ends one. */
static int why_spans_pair(struct why_spans *s, uint64_t end_ns)
{
	const struct why_span_mark *end = NULL; /* the next one */
	size_t last = s->n_marks;

	for (size_t i = s->n_marks; i-- > 0;) {
		const struct why_span_mark *mark = &s->marks[i];
		struct why_span span = { .from_ns = mark->ts_ns };

		/* (a mark with the same time does not end the interval) */
		for (; last > 0 && s->marks[last - 1].ts_ns > mark->ts_ns; last--)
			end = s->marks[last - 1].ends ? &s->marks[last - 1] : end;
		if (!mark->begins || (!end && end_ns <= mark->ts_ns))
			continue;
		span.to_ns = end ? end->ts_ns : end_ns;
		span.open = span.partial = !end;
		span.name = why_spans_pair_name(s, mark->text, end ? end->text : "the end");
		if (!span.name || why_spans_append(s, &span) < 0)
			return -ENOMEM;
	}
	return 0;
}

int why_spans_finish(struct why_spans *s, uint64_t end_ns)
{
	int r;

	SORT(s->marks, s->n_marks, why_spans_mark_order);
	r = why_spans_pair(s, end_ns);
	SORT(s->list, s->n, why_spans_order);
	return r;
}

size_t why_spans_first(const struct why_spans *s, uint32_t tid)
{
	return ARRAY_FIRST(i, 0, s->n, s->list[i].tid >= tid);
}
