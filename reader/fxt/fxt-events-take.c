/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "reader/fxt/fxt-events-state.h"

int fxt_events_text(struct fxt_events *e, const struct fxt_text *t, const char **ret)
{
	struct fxt_events_slot *slot = &e->slots[e->n_slots];
	size_t need = 3 * (size_t)t->length + 1;

	if (!t->bytes || t->length == 0 || e->n_slots == SLOTS) {
		*ret = "";
		return 0;
	}
	if (need > slot->room) {
		free(slot->text);
		slot->room = 0;
		slot->text = malloc(need);
		if (!slot->text)
			return -ENOMEM;
		slot->room = need;
	}
	text_clean(slot->text, slot->room, t->bytes, t->length);
	*ret = slot->text;
	e->n_slots++;
	return 0;
}

bool fxt_events_unsigned(const struct fxt_arg *arg, uint64_t *ret)
{
	switch (arg->type) {
	case FXT_ARG_UINT32:
		*ret = arg->uint32;
		return true;
	case FXT_ARG_UINT64:
	case FXT_ARG_POINTER:
	case FXT_ARG_KOID:
		*ret = arg->uint64;
		return true;
	default:
		return false;
	}
}

/* Puts the value of ARG where ROW says. Returns 1, 0 if it is of another type, or -ENOMEM. */
static int fxt_events_take_put(struct fxt_events *e, const struct fxt_events_row *row,
			       const struct fxt_arg *arg)
{
	uint64_t number;

	switch (row->want) {
	case WANT_INT32:
		if (arg->type != FXT_ARG_INT32)
			return 0;
		*(int32_t *)row->to = arg->int32;
		return 1;
	case WANT_UINT32:
		if (!fxt_events_unsigned(arg, &number))
			return 0;
		*(uint32_t *)row->to = (uint32_t)number;
		return 1;
	case WANT_UINT64:
		if (!fxt_events_unsigned(arg, &number))
			return 0;
		*(uint64_t *)row->to = number;
		return 1;
	case WANT_TEXT:
		if (arg->type != FXT_ARG_STRING)
			return 0;
		return fxt_events_text(e, &arg->text, row->to) ?: 1;
	default:
		if (arg->type != FXT_ARG_BOOL)
			return 0;
		*(bool *)row->to = arg->boolean;
		return 1;
	}
}

int fxt_events_take(struct fxt_events *e, const struct fxt_record *record,
		    const struct fxt_events_row *rows, size_t n)
{
	struct fxt_args it = record->args;
	struct fxt_arg arg;
	int r;

	while ((r = fxt_args_next(&it, &arg)) != FXT_ARGS_END) {
		int known;

		if (r == FXT_ARGS_DAMAGE) {
			e->damage = it.damage;
			return FXT_EVENTS_DAMAGE;
		}
		known = fxt_text_known(&arg.name);
		for (size_t i = 0; known && i < n; i++) {
			if (rows[i].name != known)
				continue;
			r = fxt_events_take_put(e, &rows[i], &arg);
			if (r < 0)
				return r;
			if (r > 0 && rows[i].found)
				*rows[i].found = true;
			break;
		}
	}
	return FXT_EVENTS_EVENT;
}
