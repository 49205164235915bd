/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The last event that was read, and the names of the archive's processes and threads.
 */
#pragma once

#include "base/outbuf.h"
#include "base/table.h"
#include "libkymo/kymo-columns.h"
#include "libkymo/kymo.h"
#include "reader/packed/packed-stream.h"

/* The place of a text in `texts`, which has a NUL after it. */
struct kymo_text {
	size_t at, length;
};

struct kymo_argument {
	enum kymo_argument_type type;
	struct kymo_text name, bytes; /* `bytes`: the text of a string, or the bytes of a blob */
	uint64_t number;              /* the value of an integer, or the bits of a double */
};

struct kymo_event {
	enum kymo_event_kind kind;
	uint64_t time_ns, end_ns, id;
	uint64_t process, thread, out_thread;
	unsigned out_state;
	int cpu;
	struct kymo_text category, name;
	struct kymo_argument arguments[FXT_ARGS_MAX];
	size_t n_arguments;
	struct outbuf texts;
};

struct kymo_archive {
	struct packed_stream stream;
	struct fxt_reader *reader;
	struct fxt_damage damage;
	struct kymo_event event;
	uint64_t lost, full_buffers;
	struct table processes, threads; /* struct kymo_named by koid; owned */
	size_t name_bytes;               /* size of the names of all processes and threads */
	uint64_t kinds;                  /* a bit for each kind of event that is returned */
	struct kymo_columns columns;
	bool in_block; /* events go into columns, so arguments are not read */
};

/*
 * Fills E from RECORD, except the texts and arguments. Returns false if RECORD is not an event,
 * scheduling or log record.
 */
bool kymo_event_fill(struct kymo_event *e, const struct fxt_record *record);

/* Fill the texts, or the arguments, of E from RECORD. If there is no memory, e->texts has the
 * error. */
void kymo_event_fill_texts(struct kymo_event *e, const struct fxt_record *record);
void kymo_event_fill_arguments(struct kymo_event *e, const struct fxt_record *record);
