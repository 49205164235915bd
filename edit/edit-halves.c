/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-halves.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "edit/edit-find.h"

struct edit_half {
	uint64_t event;         /* result of edit_halves_hash() */
	struct edit_kept *kept; /* owned; NULL = the event was dropped */
	uint32_t next;          /* next element with the same event: index + 1 */
};

void edit_halves_deinit(struct edit_halves *h)
{
	for (size_t i = h->n_taken; i < h->n; i++)
		edit_kept_unref(h->list[i].kept);
	free(h->list);
	table_deinit(&h->by_event);
}

static uint64_t edit_halves_hash_text(const struct fxt_text *text)
{
	return text->bytes ? table_hash(text->bytes, text->length) : 0;
}

/*
 * Returns a hash of the event. All parts of an event have its true times, so the hash is the same
 * for all.
 */
static uint64_t edit_halves_hash(const struct fxt_record *r)
{
	struct fxt_arg begin, end;
	bool has_begin = edit_find_arg(r, FXT_NAME_BEGAN_AT, FXT_ARG_UINT64, &begin);
	bool has_end = edit_find_arg(r, FXT_NAME_ENDS_AT, FXT_ARG_UINT64, &end);
	const uint64_t words[] = {
		has_begin ? begin.uint64 : r->ts_ns,
		has_end ? end.uint64 : r->event.end_ns,
		r->thread.pid,
		r->thread.tid,
		edit_halves_hash_text(&r->category),
		edit_halves_hash_text(&r->name),
	};

	return table_hash(words, sizeof(words)) ?: 1;
}

static uint32_t edit_halves_find(const struct edit_halves *h, uint64_t event)
{
	return (uint32_t)(uintptr_t)table_get(&h->by_event, event);
}

int edit_halves_hold(struct edit_halves *h, const struct edit_sorted *item)
{
	uint64_t event = edit_halves_hash(item->record);

	if (h->n == EDIT_HALVES_MAX || h->bytes > EDIT_HALVES_BYTES_MAX)
		return 0;
	if (GROW(h->list, h->room, h->n + 1) < 0)
		return -ENOMEM;
	h->list[h->n] = (struct edit_half){ .event = event, .next = edit_halves_find(h, event) };
	if (table_set(&h->by_event, event, (void *)(uintptr_t)(h->n + 1)) < 0)
		return -ENOMEM;
	h->list[h->n++].kept = edit_kept_ref(item->kept);
	h->bytes += edit_kept_bytes(item->kept);
	return 1;
}

bool edit_halves_drop(struct edit_halves *h, const struct fxt_record *r)
{
	struct edit_half *half;

	for (uint32_t i = edit_halves_find(h, edit_halves_hash(r)); i != 0; i = half->next) {
		half = &h->list[i - 1];
		if (!half->kept)
			continue;
		h->bytes -= edit_kept_bytes(half->kept);
		half->kept = edit_kept_unref(half->kept);
		return true;
	}
	return false;
}

struct edit_kept *edit_halves_take(struct edit_halves *h)
{
	struct edit_kept *kept = NULL;

	while (!kept && h->n_taken < h->n)
		kept = h->list[h->n_taken++].kept;
	return kept;
}
