/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

/* More functions than this at one address nobody has inlined. */
enum { DEPTH_MAX = 1024 };

struct text {
	struct text *next; /* of the same hash */
	char bytes[];
};

struct frames {
	struct table addresses; /* hash -> struct frame_list, a chain */
	struct table texts; /* hash -> struct text, a chain: functions are named again and again */
	size_t n, limit;
};

int frames_new(struct frames **ret, size_t limit)
{
	struct frames *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->limit = limit;
	*ret = f;
	return 0;
}

struct frames *frames_free(struct frames *f)
{
	struct frame_list *list, *next_list;
	struct text *text, *next_text;

	if (!f)
		return NULL;
	for (size_t pos = 0; (list = table_next(&f->addresses, &pos));) {
		for (; list; list = next_list) {
			next_list = list->next;
			free(list->list);
			free(list);
		}
	}
	for (size_t pos = 0; (text = table_next(&f->texts, &pos));) {
		for (; text; text = next_text) {
			next_text = text->next;
			free(text);
		}
	}
	table_deinit(&f->addresses);
	table_deinit(&f->texts);
	free(f);
	return NULL;
}

/* TEXT, kept once. Returns NULL without memory. */
static const char *keep_text(struct frames *f, const char *text)
{
	size_t size = strlen(text) + 1;
	uint64_t hash;
	struct text *first, *t;

	if (size == 1)
		return "";
	hash = table_hash(text, size);
	first = table_get(&f->texts, hash);
	for (t = first; t; t = t->next)
		if (strcmp(t->bytes, text) == 0)
			return t->bytes;
	t = malloc(sizeof(*t) + size);
	if (!t)
		return NULL;
	memcpy(t->bytes, text, size);
	t->next = first;
	if (table_set(&f->texts, hash, t) < 0) {
		free(t);
		return NULL;
	}
	return t->bytes;
}

static uint64_t hash_of(uint32_t process, uint64_t address)
{
	return table_hash((const uint64_t[]){ process, address }, 2 * sizeof(uint64_t));
}

static struct frame_list *find_list(const struct frames *f, uint32_t process, uint64_t address)
{
	struct frame_list *list = table_get(&f->addresses, hash_of(process, address));

	while (list && (list->process != process || list->address != address))
		list = list->next;
	return list;
}

static struct frame_list *add_list(struct frames *f, uint32_t process, uint64_t address)
{
	uint64_t hash = hash_of(process, address);
	struct frame_list *list = malloc(sizeof(*list));

	if (!list)
		return NULL;
	*list = (struct frame_list){
		.process = process,
		.address = address,
		.next = table_get(&f->addresses, hash),
	};
	if (table_set(&f->addresses, hash, list) < 0) {
		free(list);
		return NULL;
	}
	f->n++;
	return list;
}

int frames_add(struct frames *f, const struct event *ev)
{
	struct frame_list *list = find_list(f, ev->frame.process, ev->frame.address);
	struct frame frame = { .line = ev->frame.line, .depth = ev->frame.depth }, *more;
	size_t at = 0;

	if (!list && f->n >= f->limit)
		return 0;
	if (!list)
		list = add_list(f, ev->frame.process, ev->frame.address);
	frame.function = keep_text(f, ev->frame.function);
	frame.source = keep_text(f, ev->frame.source);
	frame.module = keep_text(f, ev->frame.module);
	if (!list || !frame.function || !frame.source || !frame.module)
		return -ENOMEM;
	while (at < list->n && list->list[at].depth < frame.depth)
		at++;
	if (at < list->n && list->list[at].depth == frame.depth) {
		list->list[at] = frame;
		return 0;
	}
	if (list->n == DEPTH_MAX)
		return 0;
	more = realloc(list->list, (list->n + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	list->list = more;
	memmove(&more[at + 1], &more[at], (list->n - at) * sizeof(*more));
	more[at] = frame;
	list->n++;
	return 0;
}

const struct frame_list *frames_find(const struct frames *f, uint32_t process, uint64_t address)
{
	const struct frame_list *list = find_list(f, process, address);

	return list && list->n > 0 ? list : NULL;
}
