/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/heap-copies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/programs/collector.h"
#include "model/event.h"

_Static_assert(MEMORY_FRAMES_MAX == EVENT_NAMED_FRAMES_MAX, "readers know from it what was cut");

void heap_copies_deinit(struct heap_copies *h)
{
	table_deinit_free(&h->kept);
	table_deinit_free(&h->awaited);
	h->bytes = 0;
}

static void heap_copies_remove(struct heap_copies *h, uint64_t id)
{
	struct rec_piece *piece = table_remove(&h->kept, id);

	if (piece)
		h->bytes -= piece->head.size;
	free(piece);
}

/* Stores the N FRAMES of PIECE, at least 1, in TO. */
static void heap_copies_set_frames(struct rec_named *to, const struct rec_piece *piece,
				   const uint64_t *frames, unsigned n)
{
	unsigned from = piece->is_skipped && n > 1 ? 1 : 0;

	n -= from;
	to->n_frames = n < MEMORY_FRAMES_MAX ? n : MEMORY_FRAMES_MAX;
	memcpy(to->frames, frames + from, to->n_frames * sizeof(*frames));
}

static int heap_copies_keep(struct heap_copies *h, const struct rec_piece *piece)
{
	struct rec_piece *copy = table_make(&h->kept, piece->id, piece->head.size);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, piece, piece->head.size);
	h->bytes += piece->head.size;
	return 0;
}

int heap_copies_take(struct heap_copies *h, struct collector *c, const struct rec_piece *piece,
		     bool can_wait, struct rec_named *ret)
{
	uint64_t frames[STACK_FRAMES_MAX];
	unsigned n;

	/* (two stacks with one id: this needs a program that guesses it) */
	heap_copies_remove(h, piece->id);
	can_wait = can_wait && h->bytes + piece->head.size <= HEAP_COPIES_BYTES_MAX;
	n = collector_resume_walk(c, piece, can_wait, frames);
	if (n == 0)
		return heap_copies_keep(h, piece);
	*ret = (struct rec_named){ .head = piece->head,
				   .id = piece->id,
				   .instance = piece->instance };
	ret->head.kind = REC_NAMED;
	ret->head.size = sizeof(*ret);
	heap_copies_set_frames(ret, piece, frames, n);
	return 1;
}

void heap_copies_complete(struct heap_copies *h, struct collector *c, struct rec_named *named)
{
	const struct rec_piece *piece = table_get(&h->kept, named->id);
	uint64_t frames[STACK_FRAMES_MAX];

	if (!piece || piece->instance != named->instance)
		return;
	heap_copies_set_frames(named, piece, frames,
			       collector_walk_waiting(c, piece, false, frames));
	heap_copies_remove(h, named->id);
}

/* A stack whose copy has not arrived. */
struct awaited {
	uint64_t id;
	uint32_t instance;
};

int heap_copies_await(struct heap_copies *h, const struct rec_named *named)
{
	const struct awaited awaited = { named->id, named->instance };

	if (!named->is_copied || table_get(&h->kept, named->id))
		return 0;
	return table_copy(&h->awaited, named->id, &awaited, sizeof(awaited)) ? 1 : -ENOMEM;
}

bool heap_copies_awaits(const struct heap_copies *h, uint64_t id)
{
	return table_get(&h->awaited, id) != NULL;
}

bool heap_copies_arrived(struct heap_copies *h, uint64_t id)
{
	struct awaited *awaited = table_remove(&h->awaited, id);
	bool was = awaited != NULL;

	free(awaited);
	return was;
}

bool heap_copies_await_none(struct heap_copies *h, uint32_t instance)
{
	const struct awaited *awaited;
	bool any = false;

	for (size_t pos = 0; (awaited = table_next(&h->awaited, &pos));) {
		if (awaited->instance != instance)
			continue;
		heap_copies_arrived(h, awaited->id);
		any = true;
		pos = 0; /* (a removal moves others) */
	}
	return any;
}

void heap_copies_forget(struct heap_copies *h, uint32_t instance)
{
	const struct rec_piece *piece;
	size_t pos = 0;

	while ((piece = table_next(&h->kept, &pos))) {
		if (piece->instance != instance)
			continue;
		heap_copies_remove(h, piece->id);
		pos = 0; /* (a removal moves others) */
	}
}
