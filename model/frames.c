/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/text-set.h"

/* The maximum number of inlined functions at one address. */
enum { DEPTH_MAX = 1024 };

struct frames {
	struct table addresses; /* hash -> struct frame_list, the first list of a chain */
	struct text_set texts;  /* stores each text once, since functions are named repeatedly */
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

	if (!f)
		return NULL;
	for (size_t pos = 0; (list = table_next(&f->addresses, &pos));) {
		for (; list; list = next_list) {
			next_list = list->next;
			free(list->list);
			free(list);
		}
	}
	table_deinit(&f->addresses);
	text_set_deinit(&f->texts);
	return free_ptr(f);
}

static uint64_t frames_hash_of(uint32_t process, uint64_t address)
{
	return table_hash_seeded(0, (const uint64_t[]){ process, address }, 2 * sizeof(uint64_t));
}

static struct frame_list *frames_find_list(const struct frames *f, uint32_t process,
					   uint64_t address)
{
	struct frame_list *list = table_get(&f->addresses, frames_hash_of(process, address));

	while (list && (list->process != process || list->address != address))
		list = list->next;
	return list;
}

static struct frame_list *frames_add_list(struct frames *f, uint32_t process, uint64_t address)
{
	uint64_t hash = frames_hash_of(process, address);
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

/* Returns true if FRAME begins a new set of functions, which replaces LIST. */
static bool frames_begins_anew(const struct frame_list *list, const struct frame *frame)
{
	const struct frame *first = list->list;

	return frame->depth == 0 && list->n > 0 && first->depth == 0 &&
	       (first->function != frame->function || first->source != frame->source ||
		first->module != frame->module || first->line != frame->line);
}

int frames_add(struct frames *f, const struct event *ev)
{
	struct frame_list *list = frames_find_list(f, ev->frame.process, ev->frame.address);
	struct frame frame = { .line = ev->frame.line, .depth = ev->frame.depth }, *more;
	size_t at = 0;

	if (!list && f->n >= f->limit)
		return 0;
	frame.function = text_set_keep(&f->texts, ev->frame.function);
	frame.source = text_set_keep(&f->texts, ev->frame.source);
	frame.module = text_set_keep(&f->texts, ev->frame.module);
	if (!frame.function || !frame.source || !frame.module)
		return -ENOMEM;
	if (list && frames_begins_anew(list, &frame)) {
		if (f->n < f->limit)
			list = NULL;
		else
			list->n = 0;
	}
	if (!list)
		list = frames_add_list(f, ev->frame.process, ev->frame.address);
	if (!list)
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
	const struct frame_list *list = frames_find_list(f, process, address);

	return list && list->n > 0 ? list : NULL;
}
