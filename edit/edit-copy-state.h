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

/* The texts of one record: category, name, and two for each argument. Each ends with a NUL. */
enum {
	EDIT_TEXTS_MAX = 2 + 2 * FXT_ARGS_MAX + 1,
	/* the last text is for text() */ EDIT_TEXT_ROOM = FXT_STRING_BYTES_MAX + 1
};

/* A provider of the source, and its counterpart in the output. */
struct edit_provider {
	struct fxt_provider as;       /* id and name that the provider had when it was introduced */
	struct fxt_out_provider *out; /* the provider of `own`, or `other` */
	struct fxt_out_provider other;
	bool named;                 /* the names of fxt-names.h were registered at their places */
	struct edit_provider *next; /* next element of edit_copy.all */
};

struct edit_copy {
	struct edit_output *to;
	struct edit_rules rules;
	/*
	 * id in the source + 2 -> its last struct edit_provider; key 1 -> the provider of kymo's
	 * own events
	 */
	struct table providers;
	struct edit_provider *all; /* owned */
	unsigned n_providers;
	struct fxt_archive own; /* archive for kymo's own events; its writer writes all records */
	bool source_kymo;       /* a provider of the source uses the provider of `own` */
	bool unknown_named;     /* the pseudo-thread "unknown" has been named */
	struct edit_counts counts;
	size_t last;
	/* Buffers of EDIT_TEXT_ROOM bytes; NULL = not used yet; owned. */
	char *texts[EDIT_TEXTS_MAX];
	unsigned n_texts;

	/* Data of the record that is being copied: */
	const struct edit_provider *provider;
	unsigned n_strings; /* with `apart`: number of string records before the record */
	bool threads_apart; /* with `apart`: the record's threads have separate records */
	const struct fxt_record *record;
	struct fxt_out_arg args[FXT_ARGS_MAX];
	unsigned n_args;
};

/*
 * Converts the text T to a form that the provider can write. ARG_NAME is the name of its argument
 * (enum fxt_name), or 0.
 */
struct fxt_out_string edit_convert_text(struct edit_copy *c, const struct fxt_text *t,
					enum edit_text what, int arg_name);

/* Returns the name of the record, cut to the size of a name in a module record. */
const char *edit_convert_module_name(struct edit_copy *c);

uint64_t edit_convert_koid(const struct edit_copy *c, uint64_t koid);
uint64_t edit_convert_time(const struct edit_copy *c, uint64_t ns);
struct fxt_out_thread edit_convert_thread(struct edit_copy *c, const struct fxt_thread *t);

/* Fills c->args with the arguments of the record. */
void edit_convert_args(struct edit_copy *c);

/*
 * Writes the record, whose arguments are converted. Returns 0, or -EINVAL or -EMSGSIZE if the
 * format cannot hold it.
 */
int edit_copy_by_type(struct edit_copy *c);
