/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of events: the FXT record of each struct event, argument by argument. Its list is
 * fxt-event-rows.h. The writer, the reader, the lint and the edits use it.
 *
 * A new event is a row there. For parts that a row cannot express (additional records, state),
 * there are hooks by kind: fxt-archive.c for writing, fxt-events.c for reading.
 */
#pragma once

#include "model/event.h"
#include "writer/fxt/fxt-names.h"
#include "writer/fxt/fxt-wire.h"

/* X(form, FXT_ARG_ type, C type of the member): the source and the type of an argument. */
#define FXT_FIELD_FORMS(X)                                                                         \
	X(KOID, KOID, uint32_t)                                                                    \
	X(U32, UINT32, uint32_t)                                                                   \
	X(CPU, UINT32, uint32_t) /* where archives are merged, CPUs move */                        \
	X(I32, INT32, int32_t)                                                                     \
	X(U64, UINT64, uint64_t)                                                                   \
	X(TIME, UINT64, uint64_t) /* CLOCK_BOOTTIME; merging moves it */                           \
	X(POINTER, POINTER, uint64_t)                                                              \
	X(BOOL, BOOL, bool)                                                                        \
	X(TEXT, STRING, const char *) /* written inline */                                         \
	X(WORD, STRING, const char *) /* text that recurs: in the table of strings */              \
	X(LETTER, STRING, char)       /* a string of one character */                              \
	X(RESOURCE, STRING, enum resource)                                                         \
	X(REACH, STRING, enum reach)                                                               \
	X(BUILD_ID, STRING, const uint8_t *) /* hexadecimal digits of mapping.build_id */

enum fxt_field_form {
#define X(form, type, c_type) FXT_FORM_##form,
	FXT_FIELD_FORMS(X)
#undef X
	/* Only eBPF programs write it, and no event has it. */
	FXT_FORM_FOREIGN,
};

enum fxt_field_flags {
	/* The condition under which the argument is left out; one value of the lowest bits. */
	FXT_FIELD_IF_SET = 1,   /* it is 0 or "" */
	FXT_FIELD_IF_THERE = 2, /* it is NULL, which is also the value of a missing argument */
	/* all bits are set, which is also the value of a missing argument */
	FXT_FIELD_IF_KNOWN = 3,
	FXT_FIELD_IF_NEXT = 4, /* the next field is not */
	FXT_FIELD_UNWRITTEN = 5,
	FXT_FIELD_WHEN = 7,

	FXT_FIELD_MAIN = 8, /* without it, the lint assumes another program's event */
	FXT_FIELD_NEEDED =
		16 | 8,         /* the same for the reader; of two such arguments, one is enough */
	FXT_FIELD_STRICT = 32,  /* other readers reject another type */
	FXT_FIELD_PLAIN = 64,   /* text of kymo or the kernel, which is never secret */
	FXT_FIELD_SECRET = 128, /* a number that can identify a user or file */
};

struct fxt_event_field {
	uint8_t name; /* enum fxt_name; 0 ends the fields of a row */
	uint8_t form; /* enum fxt_field_form */
	uint8_t type; /* enum fxt_arg_type */
	uint8_t flags;
	uint16_t offset; /* in struct event */
};

/* On which thread an event is written. */
enum fxt_event_whose {
	FXT_WHOSE_OWN,     /* its thread */
	FXT_WHOSE_PROCESS, /* the main thread of its process */
	FXT_WHOSE_KYMO,
	FXT_WHOSE_CPU, /* kymo's for its CPU */
	/* on a separate track, since there are too many for the threads of programs */
	FXT_WHOSE_CODE,
	FXT_WHOSE_BPF, /* its own; only eBPF programs write it */
};

struct fxt_event_row {
	enum event_kind kind;
	uint8_t category, name; /* enum fxt_name; 0 = none, or not fixed */
	uint8_t type;           /* enum fxt_event_type; of OTHER with a category: complete */
	uint8_t whose;
	const struct fxt_event_field *fields;
};

enum fxt_row_id {
	FXT_ROW_NONE,
#define EVENT(kind, category, name, type, whose, ...)     FXT_ROW_##kind,
#define ALSO(row, kind, category, name, type, whose, ...) FXT_ROW_##row,
#define OTHER(row, kind, category, ...)                   FXT_ROW_##row,
#include "writer/fxt/fxt-event-rows.h"
};

extern const struct fxt_event_row fxt_event_rows[];

/* The row for EV; FXT_ROW_NONE if there is none. */
enum fxt_row_id fxt_event_row_of(const struct event *ev);

extern const uint8_t fxt_event_rows_by_name[FXT_NAME_RESERVED + 1];

/*
 * The row for NAME in CATEGORY (enum fxt_name) and an enum fxt_event_type, or FXT_ROW_NONE. (It is
 * inline, since it is called for each event that is read.)
 */
static inline enum fxt_row_id fxt_event_row_named(int category, int name, unsigned type)
{
	enum fxt_row_id row = fxt_event_rows_by_name[name & FXT_NAME_RESERVED];

	return row && fxt_event_rows[row].category == category && fxt_event_rows[row].type == type
		       ? row
		       : FXT_ROW_NONE;
}

/* The field of ROW with the name NAME, or NULL. */
const struct fxt_event_field *fxt_event_field_named(enum fxt_row_id row, int name);

/* Fixed names of enum values: 0 where there is none (fxt-names.h is full before it). */
extern const uint8_t fxt_resource_names[RESOURCE_MAX];
extern const uint8_t fxt_reach_names[REACH_MAX];
