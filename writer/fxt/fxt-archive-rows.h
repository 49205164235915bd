/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The declarations that the files fxt-archive*.c share: records by the rows of fxt-event-rows.h.
 */
#pragma once

#include "writer/fxt/fxt-archive.h"
#include "writer/fxt/fxt-event-fields.h"

/* Writes EV as the event record of ROW. Returns as fxt_archive_event(). */
int fxt_archive_row(struct fxt_archive *a, enum fxt_row_id row, const struct event *ev);

/* Write events that need more than one row (fxt-archive-profiler.c). Return as
 * fxt_archive_event(). */
int fxt_archive_mapping(struct fxt_archive *a, const struct event *ev);
int fxt_archive_sample(struct fxt_archive *a, const struct event *ev);
