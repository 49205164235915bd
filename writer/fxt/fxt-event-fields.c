/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/fxt/fxt-event-fields.h"

#include <stddef.h>

#include "base/cleanup.h"

enum { FXT_NAME_NONE = 0 };

#define X(form, type, c_type)                                                                      \
	enum {                                                                                     \
		TYPE_##form = FXT_ARG_##type,                                                      \
		SIZE_##form = sizeof(c_type),                                                      \
	};
FXT_FIELD_FORMS(X)
#undef X

/* Short names of the flags. */
enum {
	IF_SET = FXT_FIELD_IF_SET,
	IF_THERE = FXT_FIELD_IF_THERE,
	IF_KNOWN = FXT_FIELD_IF_KNOWN,
	IF_NEXT = FXT_FIELD_IF_NEXT,
	UNWRITTEN = FXT_FIELD_UNWRITTEN,
	MAIN = FXT_FIELD_MAIN,
	NEEDED = FXT_FIELD_NEEDED,
	STRICT = FXT_FIELD_STRICT,
	PLAIN = FXT_FIELD_PLAIN,
	SECRET = FXT_FIELD_SECRET,
};

/* A compile error (a negative array size) if the member's size is not that of the form. */
#define OFFSET(form, member)                                                                       \
	(offsetof(struct event, member) +                                                          \
	 0 * sizeof(char[sizeof(((struct event *)0)->member) == SIZE_##form ? 1 : -1]))
#define FIELDS(...) ((const struct fxt_event_field[]){ __VA_ARGS__{ 0 } })
/* A compile error if a row has more fields than the arguments that a record can hold: writing an
 * event with all of them would fail. */
#define LIST(...)                                                                                  \
	(FIELDS(__VA_ARGS__) +                                                                     \
	 0 * sizeof(char[ARRAY_SIZE(FIELDS(__VA_ARGS__)) - 1 <= FXT_ARGS_MAX ? 1 : -1]))

const struct fxt_event_row fxt_event_rows[] = {
#define FIELD(name, form, member, flags)                                                           \
	{ FXT_NAME_##name, FXT_FORM_##form, TYPE_##form, flags, OFFSET(form, member) },
#define FOREIGN(name, type, flags)                                                                 \
	{ FXT_NAME_##name, FXT_FORM_FOREIGN, FXT_ARG_##type, (flags) | UNWRITTEN, 0 },
#define EVENT(kind, category, name, type, whose, ...)                                              \
	ALSO(kind, EVENT_##kind, category, name, type, whose, __VA_ARGS__)
#define ALSO(row, kind, category, name, type, whose, ...)                                          \
	[FXT_ROW_##row] = { kind,                                                                  \
			    FXT_NAME_##category,                                                   \
			    FXT_NAME_##name,                                                       \
			    FXT_EVENT_##type,                                                      \
			    FXT_WHOSE_##whose,                                                     \
			    LIST(__VA_ARGS__) },
#define OTHER(row, kind, category, ...)                                                            \
	[FXT_ROW_##row] = { kind, FXT_NAME_##category, 0, FXT_EVENT_DURATION_COMPLETE,             \
			    0,    LIST(__VA_ARGS__) },
#include "writer/fxt/fxt-event-rows.h"
};

enum fxt_row_id fxt_event_row_of(const struct event *ev)
{
	static const uint8_t rows[] = {
#define EVENT(kind, category, name, type, whose, ...) [EVENT_##kind] = FXT_ROW_##kind,
#define ALSO(row, kind, category, name, type, whose, ...)
#define OTHER(row, kind, category, ...)
#include "writer/fxt/fxt-event-rows.h"
	};

	if (ev->kind == EVENT_SHED && ev->shed.back)
		return FXT_ROW_RETURNED;
	if (ev->kind == EVENT_SAMPLE && ev->sample.kind == SAMPLE_NAMED)
		return FXT_ROW_STACK;
	return ev->kind < ARRAY_SIZE(rows) ? rows[ev->kind] : FXT_ROW_NONE;
}

const uint8_t fxt_event_rows_by_name[FXT_NAME_RESERVED + 1] = {
#define EVENT(kind, category, name, type, whose, ...)     [FXT_NAME_##name] = FXT_ROW_##kind,
#define ALSO(row, kind, category, name, type, whose, ...) [FXT_NAME_##name] = FXT_ROW_##row,
#define OTHER(row, kind, category, ...)
#include "writer/fxt/fxt-event-rows.h"
};

const struct fxt_event_field *fxt_event_field_named(enum fxt_row_id row, int name)
{
	const struct fxt_event_field *f = fxt_event_rows[row].fields;

	while (f && f->name != 0 && f->name != name)
		f++;
	return f && f->name && name ? f : NULL;
}

const uint8_t fxt_resource_names[RESOURCE_MAX] = {
	[RESOURCE_MEMORY] = FXT_NAME_MEMORY, [RESOURCE_MAPPING] = FXT_NAME_MAPPING,
	[RESOURCE_FD] = FXT_NAME_FD,         [RESOURCE_SEGMENT] = FXT_NAME_SEGMENT,
	[RESOURCE_SHM] = FXT_NAME_SHM,       [RESOURCE_ATTACHMENT] = FXT_NAME_ATTACHMENT,
	[RESOURCE_THREAD] = FXT_NAME_THREAD,
};

const uint8_t fxt_reach_names[REACH_MAX] = {
	[REACH_LOST] = FXT_NAME_LOST,
	[REACH_POSSIBLE] = FXT_NAME_POSSIBLE,
	[REACH_REACHABLE] = FXT_NAME_REACHABLE,
};
