/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The arguments of a record, by the rows of fxt-event-rows.h.
 */
#pragma once

#include "writer/fxt/fxt-event-fields.h"
#include "writer/fxt/fxt-writer.h"

/* The arguments of one record. */
struct fxt_archive_args {
	struct fxt_out_arg list[FXT_ARGS_MAX];
	unsigned n;
	char letter[2];                                /* text of an argument of one letter */
	char build_id[2 * FXT_BUILD_ID_BYTES_MAX + 1]; /* text of a build id */
};

/* Sets ARGS to the fields of ROW, with the values of EV. Returns 0, or -EINVAL if EV has an enum
 * value without a name. */
int fxt_archive_fill_args(struct fxt_archive_args *args, enum fxt_row_id row,
			  const struct event *ev);
