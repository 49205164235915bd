/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/string-table.h"
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

static int fxt_events_digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Converts hexadecimal digits to the build id of EV. If they are invalid, the build id stays
 * unknown. */
static void fxt_events_put_build_id(struct fxt_events *e, const char *digits, struct event *ev)
{
	size_t n = strlen(digits) / 2;

	if (strlen(digits) % 2 != 0 || n > sizeof(e->build_id))
		return;
	for (size_t i = 0; i < n; i++) {
		int high = fxt_events_digit_of(digits[2 * i]),
		    low = fxt_events_digit_of(digits[2 * i + 1]);

		if (high < 0 || low < 0)
			return;
		e->build_id[i] = (uint8_t)(high << 4 | low);
	}
	ev->mapping.build_id = e->build_id;
	ev->mapping.build_id_size = (uint32_t)n;
}

/* Stores the text of ARG in the member of EV that F describes. Returns 1, 0 if the text is not a
 * valid word, or -ENOMEM. */
static int fxt_events_put_text(struct fxt_events *e, const struct fxt_event_field *f,
			       const struct fxt_arg *arg, struct event *ev)
{
	void *to = (char *)ev + f->offset;
	const char *text;
	int i, r = fxt_events_text(e, &arg->text, &text);

	if (r < 0)
		return r;
	switch ((enum fxt_field_form)f->form) {
	case FXT_FORM_LETTER:
		*(char *)to = *text;
		return 1;
	case FXT_FORM_RESOURCE:
		i = STRING_TABLE_FIND(resource_names, text);
		if (i < 0)
			return 0;
		*(enum resource *)to = (enum resource)i;
		return 1;
	case FXT_FORM_REACH:
		i = STRING_TABLE_FIND(reach_names, text);
		*(enum reach *)to = i < 0 ? REACH_UNKNOWN : (enum reach)i;
		return 1;
	case FXT_FORM_BUILD_ID:
		fxt_events_put_build_id(e, text, ev);
		return 1;
	default:
		*(const char **)to = text;
		return 1;
	}
}

/* Stores the value of ARG in the member of EV that F describes. Returns 1, 0 if the type of ARG is
 * wrong, or -ENOMEM. */
static int fxt_events_fill_field(struct fxt_events *e, const struct fxt_event_field *f,
				 const struct fxt_arg *arg, struct event *ev)
{
	void *to = (char *)ev + f->offset;
	uint64_t number;

	switch ((enum fxt_arg_type)f->type) {
	case FXT_ARG_INT32:
		if (arg->type != FXT_ARG_INT32)
			return 0;
		*(int32_t *)to = arg->int32;
		return 1;
	case FXT_ARG_BOOL:
		if (arg->type != FXT_ARG_BOOL)
			return 0;
		*(bool *)to = arg->boolean;
		return 1;
	case FXT_ARG_STRING:
		return arg->type == FXT_ARG_STRING ? fxt_events_put_text(e, f, arg, ev) : 0;
	default:
		if (!fxt_events_unsigned(arg, &number))
			return 0;
		if (f->type == FXT_ARG_UINT32 || f->type == FXT_ARG_KOID)
			*(uint32_t *)to = (uint32_t)number;
		else
			*(uint64_t *)to = number;
		return 1;
	}
}

/* Sets the members of EV for arguments that may be missing, except for members that are 0 then.
 * Returns true if ROW requires an argument. */
static bool fxt_events_set_missing(enum fxt_row_id row, struct event *ev)
{
	bool needs = false;

	for (const struct fxt_event_field *f = fxt_event_rows[row].fields; f->name; f++) {
		void *to = (char *)ev + f->offset;

		needs |= (f->flags & FXT_FIELD_NEEDED) == FXT_FIELD_NEEDED;
		if ((f->flags & FXT_FIELD_WHEN) == FXT_FIELD_IF_KNOWN)
			*(uint32_t *)to = UINT32_MAX;
		else if ((f->form == FXT_FORM_TEXT || f->form == FXT_FORM_WORD) &&
			 (f->flags & FXT_FIELD_WHEN) != FXT_FIELD_IF_THERE)
			*(const char **)to = "";
	}
	return needs;
}

/*
 * Returns the field NAME, or the end of FIELDS. The search begins at F, since arguments usually
 * have the order of the fields.
 */
static const struct fxt_event_field *fxt_events_find_field(const struct fxt_event_field *fields,
							   const struct fxt_event_field *f,
							   int name)
{
	while (f->name && f->name != name)
		f++;
	if (f->name)
		return f;
	for (f = fields; f->name && f->name != name;)
		f++;
	return f;
}

int fxt_events_fill(struct fxt_events *e, const struct fxt_record *record, enum fxt_row_id row,
		    struct event *ev)
{
	const struct fxt_event_field *fields = fxt_event_rows[row].fields, *f = fields;
	bool missing = fxt_events_set_missing(row, ev);
	struct fxt_args it = record->args;
	struct fxt_arg arg;
	int r;

	ev->kind = fxt_event_rows[row].kind;
	while ((r = fxt_args_next(&it, &arg)) != FXT_ARGS_END) {
		if (r == FXT_ARGS_DAMAGE) {
			e->damage = it.damage;
			return FXT_EVENTS_DAMAGE;
		}
		f = fxt_events_find_field(fields, f, fxt_text_known(&arg.name));
		r = f->name && f->form != FXT_FORM_FOREIGN ? fxt_events_fill_field(e, f, &arg, ev)
							   : 0;
		if (r < 0)
			return r;
		if (r > 0 && (f->flags & FXT_FIELD_NEEDED) == FXT_FIELD_NEEDED)
			missing = false;
	}
	return missing ? FXT_EVENTS_NONE : FXT_EVENTS_EVENT;
}
