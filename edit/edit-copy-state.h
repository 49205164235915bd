/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shared part of the copy's files. Internal to edit-copy*.c and edit-convert.c.
 *
 *   edit-copy        outputs, providers, and the public functions
 *   edit-copy-types  a record of each type
 *   edit-convert     parts of records: text, koids, times, arguments
 */
#pragma once

#include "base/table.h"
#include "edit/edit-copy.h"
#include "writer/fxt/fxt-archive.h"

/* Texts of one record: category, name, and two for each argument; each with a NUL. */
enum {
	EDIT_TEXTS_MAX = 2 + 2 * FXT_ARGS_MAX + 1,
	/* the last one is for text() */ EDIT_TEXT_ROOM = FXT_STRING_BYTES_MAX + 1
};

/* A provider of the source, and its counterpart in the output. */
struct edit_provider {
	struct fxt_provider as;       /* its id and name when it was introduced */
	struct fxt_out_provider *out; /* provider of `own`, or `other` */
	struct fxt_out_provider other;
	bool named;                 /* the names of fxt-names.h are at their places */
	struct edit_provider *next; /* in edit_copy.all */
};

struct edit_copy {
	struct edit_output *to;
	struct edit_rules rules;
	/* id in the source + 2 -> its last struct edit_provider; 1 -> kymo's own */
	struct table providers;
	struct edit_provider *all; /* owned */
	unsigned n_providers;
	struct fxt_archive own; /* for our own events; its writer writes everything */
	bool source_kymo;       /* a provider of the source uses the same one */
	bool unknown_named;     /* the pseudo-thread "unknown" has been named */
	struct edit_counts counts;
	size_t last;
	char *texts[EDIT_TEXTS_MAX]; /* owned; of EDIT_TEXT_ROOM bytes; NULL = not used yet */
	unsigned n_texts;

	/* Of the record that is being copied. */
	const struct edit_provider *provider;
	unsigned n_strings; /* apart: the number of its string records */
	bool threads_apart; /* apart: its threads have separate records */
	const struct fxt_record *record;
	struct fxt_out_arg args[FXT_ARGS_MAX];
	unsigned n_args;
};

/*
 * The text of T, as the provider can write it. ARG_NAME is the name of its argument (enum
 * fxt_name), or 0.
 */
struct fxt_out_string edit_convert_text(struct edit_copy *c, const struct fxt_text *t,
					enum edit_text what, int arg_name);

/* The record's name, cut to fit a module record. */
const char *edit_convert_module_name(struct edit_copy *c);

uint64_t edit_convert_koid(const struct edit_copy *c, uint64_t koid);
uint64_t edit_convert_time(const struct edit_copy *c, uint64_t ns);
struct fxt_out_thread edit_convert_thread(struct edit_copy *c, const struct fxt_thread *t);

/* Fills c->args with the record's. */
void edit_convert_args(struct edit_copy *c);

/*
 * Writes the record, whose arguments are converted. Returns 0, or -EINVAL or -EMSGSIZE if the
 * format cannot hold it.
 */
int edit_copy_by_type(struct edit_copy *c);
