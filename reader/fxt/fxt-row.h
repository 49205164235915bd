/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which row of the table of events a record is of.
 */
#pragma once

#include "reader/fxt/fxt-reader.h"
#include "writer/fxt/fxt-event-fields.h"

/* FXT_ROW_NONE: of none, or of what CPUs do (which has no name of its own). */
enum fxt_row_id fxt_record_row(const struct fxt_record *r);

/* The field of R's row that is called NAME (enum fxt_name), or NULL. */
const struct fxt_event_field *fxt_record_field(const struct fxt_record *r, int name);

/* Whether R, of ROW, has the argument without which it is somebody else's event of the same name; false, too, if
 * there is none that tells. */
bool fxt_record_has_main(const struct fxt_record *r, enum fxt_row_id row);
