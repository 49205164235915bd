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
	X(CPU, UINT32, uint32_t) /* adjusted when archives are merged */                           \
	X(I32, INT32, int32_t)                                                                     \
	X(U64, UINT64, uint64_t)                                                                   \
	X(TIME, UINT64, uint64_t) /* CLOCK_BOOTTIME; adjusted when archives are merged */          \
	X(POINTER, POINTER, uint64_t)                                                              \
	X(BOOL, BOOL, bool)                                                                        \
	X(TEXT, STRING, const char *) /* written inline */                                         \
	X(WORD, STRING, const char *) /* text that recurs, through the table of strings */         \
	X(LETTER, STRING, char)       /* a string of one character */                              \
	X(RESOURCE, STRING, enum resource)                                                         \
	X(REACH, STRING, enum reach)                                                               \
	X(BUILD_ID, STRING, const uint8_t *) /* mapping.build_id as hexadecimal digits */

enum fxt_field_form {
#define X(form, type, c_type) FXT_FORM_##form,
	FXT_FIELD_FORMS(X)
#undef X
	/* Only eBPF programs write the argument; struct event does not have it. */
	FXT_FORM_FOREIGN,
};

enum fxt_field_flags {
	/* The condition under which the argument is left out: one value in the lowest bits. */
	FXT_FIELD_IF_SET = 1, /* left out if it is 0 or "" */
	/* Left out if it is NULL, which is also the value of a missing argument. */
	FXT_FIELD_IF_THERE = 2,
	/* Left out if all bits are set, which is also the value of a missing argument */
	FXT_FIELD_IF_KNOWN = 3,
	FXT_FIELD_IF_NEXT = 4, /* left out unless the next field is written */
	FXT_FIELD_UNWRITTEN = 5,
	FXT_FIELD_WHEN = 7,

	/* Without the argument, the lint takes the event for another program's. */
	FXT_FIELD_MAIN = 8,
	FXT_FIELD_NEEDED =
		/* ... and so does the reader; of two such arguments, one is sufficient. */
	16 | 8,
	FXT_FIELD_STRICT = 32,  /* other readers reject the argument with another type */
	FXT_FIELD_PLAIN = 64,   /* text of kymo or the kernel, which is never secret */
	FXT_FIELD_SECRET = 128, /* a number by which a user or file can be identified */
};

struct fxt_event_field {
	uint8_t name; /* enum fxt_name; 0 ends the fields of a row */
	uint8_t form; /* enum fxt_field_form */
	uint8_t type; /* enum fxt_arg_type */
	uint8_t flags;
	uint16_t offset; /* offset of the member in struct event */
};

/* The thread on which an event is written. */
enum fxt_event_whose {
	FXT_WHOSE_OWN,     /* the thread of the event */
	FXT_WHOSE_PROCESS, /* the main thread of the event's process */
	FXT_WHOSE_KYMO,
	FXT_WHOSE_CPU, /* kymo's pseudo-thread for the event's CPU */
	/* a separate track, since there are too many of these events for the threads of programs */
	FXT_WHOSE_CODE,
	FXT_WHOSE_BPF, /* the current thread; only eBPF programs write the event */
};

struct fxt_event_row {
	enum event_kind kind;
	uint8_t category, name; /* enum fxt_name; 0 = no name, or not fixed */
	uint8_t type;           /* enum fxt_event_type; for OTHER with a category: complete */
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

/* Returns the row for EV, or FXT_ROW_NONE. */
enum fxt_row_id fxt_event_row_of(const struct event *ev);

extern const uint8_t fxt_event_rows_by_name[FXT_NAME_RESERVED + 1];

/*
 * Returns the row for NAME in CATEGORY (enum fxt_name) and an enum fxt_event_type, or FXT_ROW_NONE.
 * (It is inline, since it is called for each event that is read.)
 */
static inline enum fxt_row_id fxt_event_row_named(int category, int name, unsigned type)
{
	enum fxt_row_id row = fxt_event_rows_by_name[name & FXT_NAME_RESERVED];

	return row && fxt_event_rows[row].category == category && fxt_event_rows[row].type == type
		       ? row
		       : FXT_ROW_NONE;
}

/* Returns the field of ROW with the name NAME, or NULL. */
const struct fxt_event_field *fxt_event_field_named(enum fxt_row_id row, int name);

/*
 * The fixed names of enum values; 0 for a value without a name (fxt-names.h has no place for it).
 */
extern const uint8_t fxt_resource_names[RESOURCE_MAX];
extern const uint8_t fxt_reach_names[REACH_MAX];
