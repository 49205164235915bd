/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/heap-copies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/programs/collector.h"
#include "model/event.h"

_Static_assert(MEMORY_FRAMES_MAX == EVENT_NAMED_FRAMES_MAX, "readers know from it what was cut");

/* The step by which the room for instances grows. */
enum { ENDED_STEP_BYTES = 4096 };

void heap_copies_deinit(struct heap_copies *h)
{
	table_deinit_free(&h->kept);
	table_deinit_free(&h->awaited);
	h->ended = free_ptr(h->ended);
	h->bytes = h->n_ended_bytes = 0;
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

	/*
	 * Two stacks have one id only if a program has guessed it. The later one replaces the
	 * earlier one.
	 */
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

/* The longest wait of a copy behind a record that is still being written. */
#define AWAIT_NS UINT64_C(1000000000)

/* A stack whose copy has not arrived. */
struct awaited {
	uint64_t id;
	uint64_t since_ns; /* the first horizon after its report; 0 = no horizon yet */
	uint32_t instance;
	bool arrived;  /* the copy has arrived, but the report is not written yet */
	bool given_up; /* the report will be written without the copy */
};

int heap_copies_await(struct heap_copies *h, const struct rec_named *named)
{
	const struct awaited awaited = { .id = named->id, .instance = named->instance };
	const struct awaited *known = table_get(&h->awaited, named->id);

	if (!named->is_copied || table_get(&h->kept, named->id))
		return 0;
	if (known && known->given_up) {
		free(table_remove(&h->awaited, named->id));
		return 0;
	}
	if (known)
		return 1;
	return table_copy(&h->awaited, named->id, &awaited, sizeof(awaited)) ? 1 : -ENOMEM;
}

bool heap_copies_awaits(const struct heap_copies *h, uint64_t id)
{
	const struct awaited *awaited = table_get(&h->awaited, id);

	return awaited && !awaited->given_up;
}

void heap_copies_arrived(struct heap_copies *h, uint64_t id)
{
	struct awaited *awaited = table_get(&h->awaited, id);

	if (awaited)
		awaited->arrived = h->any_arrived = true;
}

void heap_copies_take_arrived(struct heap_copies *h)
{
	const struct awaited *awaited;

	for (size_t pos = 0; h->any_arrived && (awaited = table_next(&h->awaited, &pos));)
		if (awaited->arrived)
			free(table_remove_last(&h->awaited, &pos));
	h->any_arrived = false;
}

bool heap_copies_awaits_any(const struct heap_copies *h, uint32_t instance)
{
	const struct awaited *awaited;

	for (size_t pos = 0; (awaited = table_next(&h->awaited, &pos));)
		if (awaited->instance == instance && !awaited->given_up)
			return true;
	return false;
}

bool heap_copies_give_up(struct heap_copies *h, uint32_t instance)
{
	struct awaited *awaited;
	bool any = false;

	for (size_t pos = 0; (awaited = table_next(&h->awaited, &pos));)
		if (instance == 0 || awaited->instance == instance)
			any = awaited->given_up = true;
	return any;
}

bool heap_copies_give_up_old(struct heap_copies *h, uint64_t horizon_ns)
{
	struct awaited *awaited;
	bool any = false;

	for (size_t pos = 0; (awaited = table_next(&h->awaited, &pos));) {
		if (awaited->since_ns == 0)
			awaited->since_ns = horizon_ns;
		if (horizon_ns - awaited->since_ns >= AWAIT_NS)
			any = awaited->given_up = true;
	}
	return any;
}

void heap_copies_forget_given_up(struct heap_copies *h)
{
	const struct awaited *awaited;

	for (size_t pos = 0; (awaited = table_next(&h->awaited, &pos));)
		if (awaited->given_up)
			free(table_remove_last(&h->awaited, &pos));
}

bool heap_copies_has_ended(const struct heap_copies *h, uint32_t instance)
{
	return instance / 8 < h->n_ended_bytes && h->ended[instance / 8] >> instance % 8 & 1;
}

/* Notes that INSTANCE has ended. Instances are numbered in the order in which they begin. */
static int heap_copies_set_ended(struct heap_copies *h, uint32_t instance)
{
	size_t at = instance / 8, n = h->n_ended_bytes + ENDED_STEP_BYTES;
	uint8_t *bigger;

	if (at >= h->n_ended_bytes) {
		n = at < n ? n : at + ENDED_STEP_BYTES;
		bigger = realloc(h->ended, n);
		if (!bigger)
			return -ENOMEM;
		memset(bigger + h->n_ended_bytes, 0, n - h->n_ended_bytes);
		h->ended = bigger;
		h->n_ended_bytes = n;
	}
	h->ended[at] |= (uint8_t)(1u << instance % 8);
	return 0;
}

int heap_copies_forget(struct heap_copies *h, uint32_t instance)
{
	const struct rec_piece *piece;

	for (size_t pos = 0; (piece = table_next(&h->kept, &pos));) {
		if (piece->instance != instance)
			continue;
		h->bytes -= piece->head.size;
		free(table_remove_last(&h->kept, &pos));
	}
	return heap_copies_set_ended(h, instance);
}
