/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/fxt/fxt-holds.h"

#include <errno.h>
#include <stdlib.h>

#include "base/table.h"

/* State beyond this size is not kept. */
#define BYTES_MAX ((size_t)128 << 20)

struct fxt_holds {
	const struct fxt_holds_ops *ops;
	uint32_t kinds;
	struct table items; /* hash of the key -> struct fxt_held, owned */
	struct fxt_held *first, *last;
	struct table by_pid; /* pid -> its newest struct fxt_held */
	size_t bytes;
	uint64_t left_out;
};

int fxt_holds_new(struct fxt_holds **ret, const struct fxt_holds_ops *ops, uint32_t without)
{
	struct fxt_holds *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->ops = ops;
	h->kinds = ~(without | 1u << FXT_HOLDS_NOTHING);
	*ret = h;
	return 0;
}

static void fxt_holds_unlink_pid(struct fxt_holds *h, struct fxt_held *held)
{
	if (held->pid == 0)
		return;
	if (held->older)
		held->older->newer = held->newer;
	if (held->newer) {
		held->newer->older = held->older;
		return;
	}
	table_remove(&h->by_pid, held->pid);
	/* (this cannot fail, since table_remove() has just released a slot) */
	if (held->older)
		table_set(&h->by_pid, held->pid, held->older);
}

static int fxt_holds_link_pid(struct fxt_holds *h, struct fxt_held *held)
{
	struct fxt_held *newest = held->pid ? table_get(&h->by_pid, held->pid) : NULL;
	int r = held->pid ? table_set(&h->by_pid, held->pid, held) : 0;

	if (r == 0 && newest) {
		held->older = newest;
		newest->newer = held;
	}
	return r;
}

static uint64_t fxt_holds_hash_of(const struct fxt_holds_key *key)
{
	return table_hash(key, sizeof(*key));
}

struct fxt_held *fxt_holds_find(const struct fxt_holds *h, const struct fxt_holds_key *key)
{
	return table_get(&h->items, fxt_holds_hash_of(key));
}

struct fxt_held *fxt_holds_next(const struct fxt_holds *h, const struct fxt_held *held)
{
	return held ? held->after : h->first;
}

void fxt_holds_forget(struct fxt_holds *h, struct fxt_held *held)
{
	fxt_holds_unlink_pid(h, held);
	*(held->before ? &held->before->after : &h->first) = held->after;
	*(held->after ? &held->after->before : &h->last) = held->before;
	table_remove(&h->items, fxt_holds_hash_of(&held->key));
	h->bytes -= held->bytes;
	h->ops->let_go(held->what);
	free(held);
}

void fxt_holds_rename(struct fxt_holds *h, struct fxt_held *held, const struct fxt_holds_key *key)
{
	table_remove(&h->items, fxt_holds_hash_of(&held->key));
	held->key = *key;
	/* (this cannot fail, since table_remove() has just released a slot) */
	table_set(&h->items, fxt_holds_hash_of(key), held);
}

struct fxt_holds *fxt_holds_free(struct fxt_holds *h)
{
	if (!h)
		return NULL;
	while (h->first)
		fxt_holds_forget(h, h->first);
	table_deinit(&h->items);
	table_deinit(&h->by_pid);
	return free_ptr(h);
}

/* Appends HELD to the items. Returns 0 or -ENOMEM; then HELD still belongs to the caller. */
static int fxt_holds_add(struct fxt_holds *h, struct fxt_held *held)
{
	uint64_t hash = fxt_holds_hash_of(&held->key);
	int r = table_set(&h->items, hash, held) ?: fxt_holds_link_pid(h, held);

	if (r < 0) {
		table_remove(&h->items, hash);
		return r;
	}
	held->before = h->last;
	*(h->last ? &h->last->after : &h->first) = held;
	h->last = held;
	h->bytes += held->bytes;
	return 0;
}

static int fxt_holds_put(struct fxt_holds *h, const struct fxt_holds_key *key, uint64_t pid,
			 void *what, bool inherited)
{
	size_t bytes = 0;
	void *kept = h->ops->keep(what, &bytes);
	struct fxt_held *held = fxt_holds_find(h, key);

	if (held)
		fxt_holds_forget(h, held);
	if (!kept)
		return -ENOMEM;
	bytes += sizeof(*held);
	if (h->bytes + bytes > BYTES_MAX) {
		h->ops->let_go(kept);
		h->left_out++;
		return 1;
	}
	held = calloc(1, sizeof(*held));
	if (held)
		*held = (struct fxt_held){ .what = kept,
					   .key = *key,
					   .pid = pid,
					   .bytes = bytes,
					   .inherited = inherited };
	if (held && fxt_holds_add(h, held) == 0)
		return 1;
	h->ops->let_go(kept);
	free(held);
	return -ENOMEM;
}

uint64_t fxt_holds_left_out(const struct fxt_holds *h)
{
	return h->left_out;
}

int fxt_holds_keep(struct fxt_holds *h, const struct fxt_holds_key *key, uint64_t pid, void *what)
{
	return h->kinds >> key->kind & 1 ? fxt_holds_put(h, key, pid, what, false) : 0;
}

/* Discards those items of PID whose kinds are between FIRST and LAST, inclusive. */
static void fxt_holds_forget_kinds(struct fxt_holds *h, uint64_t pid, enum fxt_holds_kind first,
				   enum fxt_holds_kind last)
{
	struct fxt_held *older;

	for (struct fxt_held *i = pid ? table_get(&h->by_pid, pid) : NULL; i; i = older) {
		older = i->older;
		if (i->key.kind >= first && i->key.kind <= last)
			fxt_holds_forget(h, i);
	}
}

void fxt_holds_forget_of(struct fxt_holds *h, uint64_t from, uint64_t pid, enum fxt_holds_kind kind)
{
	struct fxt_held *older;

	for (struct fxt_held *i = pid ? table_get(&h->by_pid, pid) : NULL; i; i = older) {
		older = i->older;
		if (i->key.kind == kind && i->key.from == from)
			fxt_holds_forget(h, i);
	}
}

/* Copies the mappings of PARENT to its new CHILD, as model/maps does. */
static int fxt_holds_inherit(struct fxt_holds *h, uint64_t parent, uint64_t child)
{
	struct fxt_held *i = parent ? table_get(&h->by_pid, parent) : NULL;
	int r = 0;

	if (child == 0 || child == parent)
		return 0;
	fxt_holds_forget_kinds(h, child, FXT_HOLDS_MODULE, FXT_HOLDS_MAPPING);
	while (i && i->older)
		i = i->older;
	for (; r >= 0 && i; i = i->newer) {
		struct fxt_holds_key key = i->key;

		key.a = child;
		/* A copied module must not have the key of one of CHILD's own modules. */
		key.c += key.kind == FXT_HOLDS_MODULE;
		if ((key.kind >= FXT_HOLDS_MODULE && key.kind <= FXT_HOLDS_MAPPING) ||
		    key.kind == FXT_HOLDS_OTHER_FILE)
			r = fxt_holds_put(h, &key, child, i->what, true);
	}
	return r < 0 ? r : 0;
}

/* ---- rules ---- */

/* The state that an event establishes, or (ends) ends. */
struct rule {
	enum fxt_holds_kind kind;
	bool of_process;  /* each process has separate state */
	bool of_nobody;   /* the state outlives its process */
	bool ends;        /* the event ends the state */
	int16_t names[2]; /* arguments that tell items of the kind apart; 0 = none */
};

static const struct rule rules[] = {
	[FXT_ROW_MAPPING] = { FXT_HOLDS_MAPPING, .of_process = true, .names = { FXT_NAME_START } },
	[FXT_ROW_FRAME] = { FXT_HOLDS_FRAME, .of_process = true, .of_nobody = true,
			    .names = { FXT_NAME_ADDRESS, FXT_NAME_DEPTH } },
	[FXT_ROW_OTHER_FILE] = { FXT_HOLDS_OTHER_FILE, .of_process = true,
				 .names = { FXT_NAME_PATH, FXT_NAME_FILE } },
	[FXT_ROW_SAMPLING] = { FXT_HOLDS_SAMPLING },
	[FXT_ROW_SHED] = { FXT_HOLDS_SHED, .names = { FXT_NAME_CLASS, FXT_NAME_SESSION } },
	[FXT_ROW_RETURNED] = { FXT_HOLDS_SHED, .ends = true,
			       .names = { FXT_NAME_CLASS, FXT_NAME_SESSION } },
	[FXT_ROW_WATCH_BEGIN] = { FXT_HOLDS_WATCH, .of_process = true },
	[FXT_ROW_STACK] = { FXT_HOLDS_STACK, .of_process = true, .names = { FXT_NAME_ID } },
	[FXT_ROW_USAGE] = { FXT_HOLDS_USAGE, .of_process = true,
			    .names = { FXT_NAME_RESOURCE, FXT_NAME_STACK } },
	[FXT_ROW_ALLOC] = { FXT_HOLDS_ALLOC, .of_process = true,
			    .names = { FXT_NAME_RESOURCE, FXT_NAME_ADDRESS } },
	[FXT_ROW_FREE] = { FXT_HOLDS_ALLOC, .of_process = true, .ends = true,
			   .names = { FXT_NAME_RESOURCE, FXT_NAME_ADDRESS } },
	[FXT_ROW_MOMENT_POINT] = { FXT_HOLDS_MOMENT_POINT, .names = { FXT_NAME_POINT } },
	/* The end of a context does not end its state, since live blocks still refer to the
	 * context. */
	[FXT_ROW_CONTEXT] = { FXT_HOLDS_CONTEXT, .names = { FXT_NAME_ID } },
};

static uint64_t fxt_holds_number_of(const struct fxt_holds_input *input, int name)
{
	return name ? input->number(input->event, name) : 0;
}

static int fxt_holds_process_by_rule(struct fxt_holds *h, const struct fxt_holds_input *input,
				     const struct rule *rule, void *what)
{
	const struct fxt_holds_key key = {
		.kind = rule->kind,
		.from = input->from,
		.a = rule->of_process ? input->pid : 0,
		.b = fxt_holds_number_of(input, rule->names[0]),
		.c = fxt_holds_number_of(input, rule->names[1]),
	};
	struct fxt_held *held;

	if (!rule->ends)
		return fxt_holds_put(h, &key, rule->of_nobody ? 0 : key.a, what, false);
	held = fxt_holds_find(h, &key);
	if (held)
		fxt_holds_forget(h, held);
	return 0;
}

/* Discards the state that ends with INPUT's process. */
static void fxt_holds_exit(struct fxt_holds *h, const struct fxt_holds_input *input)
{
	const struct fxt_holds_key watch = { .kind = FXT_HOLDS_WATCH,
					     .from = input->from,
					     .a = input->pid };

	/* State of allocations is kept: blocks that were not freed are recorded after the exit. */
	fxt_holds_forget_kinds(h, input->pid, FXT_HOLDS_MODULE, FXT_HOLDS_SAMPLING);
	if (!fxt_holds_find(h, &watch))
		fxt_holds_forget_kinds(h, input->pid, FXT_HOLDS_NAME, FXT_HOLDS_NAME);
}

int fxt_holds_process(struct fxt_holds *h, const struct fxt_holds_input *input, void *what)
{
	switch (input->row) {
	case FXT_ROW_FORK:
		return fxt_holds_inherit(h, input->pid,
					 fxt_holds_number_of(input, FXT_NAME_CHILD_PROCESS));
	case FXT_ROW_EXEC:
		fxt_holds_forget_kinds(h, input->pid, FXT_HOLDS_MODULE, FXT_HOLDS_MAPPING);
		fxt_holds_forget_kinds(h, input->pid, FXT_HOLDS_OTHER_FILE, FXT_HOLDS_OTHER_FILE);
		break;
	case FXT_ROW_EXIT:
		if (fxt_holds_number_of(input, FXT_NAME_PROCESS_ENDS))
			fxt_holds_exit(h, input);
		break;
	case FXT_ROW_WATCH_BEGIN:
	case FXT_ROW_WATCH_END:
		fxt_holds_forget_kinds(h, input->pid, FXT_HOLDS_WATCH, FXT_HOLDS_ALLOC);
		break;
	default:
		break;
	}
	/* Most events establish no state, so return before a key is made for them. */
	if (input->row >= ARRAY_SIZE(rules) || !(h->kinds >> rules[input->row].kind & 1))
		return 0;
	return fxt_holds_process_by_rule(h, input, &rules[input->row], what);
}
