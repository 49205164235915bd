/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of events: for each kind of struct event, its FXT record, argument by argument.
 * fxt-event-rows.h has the rows. The writer, the reader, the lint and the edits use this table.
 *
 * A new event is a new row. Work that a row cannot express (additional records, state) is done by
 * functions for the kind: fxt-archive.c for writing, fxt-events.c for reading.
 */
#pragma once

#include "model/event.h"
#include "writer/fxt/fxt-names.h"
#include "writer/fxt/fxt-wire.h"

/* X(form, FXT_ARG_ type, C type of the member): how a member of struct event becomes an
 * argument. */
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
	X(WORD, STRING, const char *) /* text that occurs again: in the string table */            \
	X(LETTER, STRING, char)       /* a string of one character */                              \
	X(RESOURCE, STRING, enum resource)                                                         \
	X(REACH, STRING, enum reach)                                                               \
	X(BUILD_ID, STRING, const uint8_t *) /* mapping.build_id as hexadecimal digits */

enum fxt_field_form {
#define X(form, type, c_type) FXT_FORM_##form,
	FXT_FIELD_FORMS(X)
#undef X
	/* An argument that only eBPF programs write, and that struct event does not have. */
	FXT_FORM_FOREIGN,
};

enum fxt_field_flags {
	/* The condition under which the argument is left out: the lowest 3 bits are one of these
	 * values. */
	FXT_FIELD_IF_SET = 1, /* left out if it is 0 or "" */
	/* Left out if it is NULL; a missing argument is read as NULL. */
	FXT_FIELD_IF_THERE = 2,
	/* Left out if all bits are set; a missing argument is read as this value */
	FXT_FIELD_IF_KNOWN = 3,
	FXT_FIELD_IF_NEXT = 4, /* left out if the next field is left out */
	FXT_FIELD_UNWRITTEN = 5,
	FXT_FIELD_WHEN = 7,

	/* If the argument is missing, the lint takes the event for one of another program. */
	FXT_FIELD_MAIN = 8,
	FXT_FIELD_NEEDED =
		/* ... and the reader, too; if a row has two such arguments, one of them is
		 * enough. */
	16 | 8,
	FXT_FIELD_STRICT = 32,  /* other readers require this type of the argument */
	FXT_FIELD_PLAIN = 64,   /* a text of kymo or the kernel, which is no secret of a user */
	FXT_FIELD_SECRET = 128, /* a number that can identify a user or a file */
};

struct fxt_event_field {
	uint8_t name; /* enum fxt_name; 0 = the end of the row's fields */
	uint8_t form; /* enum fxt_field_form */
	uint8_t type; /* enum fxt_arg_type */
	uint8_t flags;
	uint16_t offset; /* offset of the member in struct event */
};

/* The thread to which the record of an event refers. */
enum fxt_event_whose {
	FXT_WHOSE_OWN,     /* the thread of the event */
	FXT_WHOSE_PROCESS, /* the main thread of the event's process */
	FXT_WHOSE_KYMO,
	FXT_WHOSE_CPU, /* kymo's pseudo-thread for the event's CPU */
	/* a pseudo-thread of its own, since there are too many of these events for the programs'
	 * threads */
	FXT_WHOSE_CODE,
	FXT_WHOSE_BPF, /* the thread that runs the eBPF program, which alone writes the event */
};

struct fxt_event_row {
	enum event_kind kind;
	uint8_t category, name; /* enum fxt_name; 0 = none, or various names */
	uint8_t type;           /* enum fxt_event_type; of an OTHER row with a category: complete */
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
 * Returns the row for NAME in CATEGORY (both enum fxt_name) with TYPE, an enum fxt_event_type;
 * FXT_ROW_NONE = none. (Inline, since it runs for each event that is read.)
 */
static inline enum fxt_row_id fxt_event_row_named(int category, int name, unsigned type)
{
	enum fxt_row_id row = fxt_event_rows_by_name[name & FXT_NAME_RESERVED];

	return row && fxt_event_rows[row].category == category && fxt_event_rows[row].type == type
		       ? row
		       : FXT_ROW_NONE;
}

/* Returns the field of ROW with the name NAME; NULL = none. */
const struct fxt_event_field *fxt_event_field_named(enum fxt_row_id row, int name);

/*
 * The names of enum values, as enum fxt_name; 0 = fxt-names.h does not have the value's name.
 */
extern const uint8_t fxt_resource_names[RESOURCE_MAX];
extern const uint8_t fxt_reach_names[REACH_MAX];
