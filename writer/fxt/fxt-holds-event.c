/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keeps state as copies of events. The table of events (fxt-event-fields.h) shows which texts of an
 * event must be copied, too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "writer/fxt/fxt-holds.h"

static uint64_t fxt_holds_event_hash_name(const char *name)
{
	return table_hash(name, strlen(name));
}

static uint64_t fxt_holds_event_number_of_event(const void *event, int name)
{
	const struct event *ev = event;
	const struct fxt_event_field *f = fxt_event_field_named(fxt_event_row_of(ev), name);
	const void *at = f ? (const char *)ev + f->offset : NULL;

	if (!f)
		return 0;
	switch ((enum fxt_field_form)f->form) {
	case FXT_FORM_U64:
	case FXT_FORM_POINTER:
		return *(const uint64_t *)at;
	case FXT_FORM_BOOL:
		return *(const bool *)at;
	case FXT_FORM_TEXT:
		return fxt_holds_event_hash_name(*(const char *const *)at);
	default:
		return *(const uint32_t *)at;
	}
}

/* ---- copies ---- */

/*
 * The memory behind a copied event, for its texts and arrays. TO NULL = only count the bytes that
 * are needed.
 */
struct room {
	char *to;
	size_t used;
};

static void fxt_holds_event_move_bytes(struct room *room, const void *pointer, size_t n)
{
	const void **at = (const void **)(uintptr_t)pointer;

	if (room->to)
		*at = memcpy(room->to + room->used, *at, n);
	room->used += (n + 7) / 8 * 8;
}

static void fxt_holds_event_move_text(struct room *room, const char *const *text)
{
	if (*text)
		fxt_holds_event_move_bytes(room, text, strlen(*text) + 1);
}

/* Copies everything that EV points to. */
static void fxt_holds_event_move_all(struct room *room, struct event *ev)
{
	const struct fxt_event_field *f = fxt_event_rows[fxt_event_row_of(ev)].fields;

	for (; f && f->name; f++)
		if (f->form == FXT_FORM_TEXT || f->form == FXT_FORM_WORD)
			fxt_holds_event_move_text(room,
						  (const char *const *)((char *)ev + f->offset));
	if (ev->kind == EVENT_SAMPLE)
		fxt_holds_event_move_bytes(room, &ev->sample.frames,
					   ev->sample.n_frames * sizeof(uint64_t));
	if (ev->kind != EVENT_COUNTER)
		return;
	fxt_holds_event_move_text(room, &ev->counter.category);
	fxt_holds_event_move_text(room, &ev->counter.name);
	fxt_holds_event_move_bytes(room, &ev->counter.values,
				   ev->counter.n_values * sizeof(*ev->counter.values));
	for (unsigned i = 0; i < ev->counter.n_values; i++)
		fxt_holds_event_move_text(room, &ev->counter.values[i].name);
}

static void *fxt_holds_event_keep_event(void *what, size_t *bytes)
{
	struct event *copy, ev = *(const struct event *)what;
	struct room room = { 0 };

	fxt_holds_event_move_all(&room, &ev);
	*bytes = sizeof(ev) + room.used;
	copy = malloc(*bytes);
	if (!copy)
		return NULL;
	*copy = ev;
	fxt_holds_event_move_all(&(struct room){ .to = (char *)(copy + 1) }, copy);
	return copy;
}

const struct fxt_holds_ops fxt_holds_events = { fxt_holds_event_keep_event, free };

int fxt_holds_event(struct fxt_holds *h, const struct event *ev)
{
	const struct fxt_holds_input input = {
		.row = fxt_event_row_of(ev),
		.pid = ev->pid,
		.number = fxt_holds_event_number_of_event,
		.event = ev,
	};
	struct fxt_holds_key key = { .kind = FXT_HOLDS_COUNTER };
	void *what = (void *)(uintptr_t)ev;
	int r;

	if (ev->kind == EVENT_COUNTER) {
		key.a = fxt_holds_event_hash_name(ev->counter.category);
		key.b = ev->counter.id;
		key.c = fxt_holds_event_hash_name(ev->counter.name);
		r = fxt_holds_keep(h, &key, 0, what);
	} else {
		r = fxt_holds_process(h, &input, what);
	}
	return r < 0 ? r : 0;
}

int fxt_holds_name(struct fxt_holds *h, const struct event *ev)
{
	const struct fxt_holds_key key = { .kind = FXT_HOLDS_NAME,
					   .a = ev->frame.process,
					   .b = ev->frame.address,
					   .c = ev->frame.depth };
	void *what = (void *)(uintptr_t)ev;
	int r = fxt_holds_find(h, &key) ? 0 : fxt_holds_keep(h, &key, ev->frame.process, what);

	return r < 0 ? r : 0;
}
