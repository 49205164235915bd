/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events as rows of the caller's arrays, and the table of texts to which the rows refer.
 */
#pragma once

#include "base/table.h"
#include "libkymo/kymo.h"

enum { KYMO_COLUMNS = KYMO_COLUMN_NAME + 1 };

/* If all bytes are zero, there are no columns, and no texts except "". */
struct kymo_columns {
	void *arrays[KYMO_COLUMNS]; /* the caller's; NULL = not wanted */
	struct table numbers;       /* hash of a text -> its number */
	char **texts;               /* by number, from 1 on; owned */
	uint32_t n_texts, room;
	size_t bytes; /* size of all texts, with their parts of the tables */
};

void kymo_columns_deinit(struct kymo_columns *c);

/* Sets the array of COLUMN. Returns 0, or -EINVAL if there is no such column. */
int kymo_columns_set(struct kymo_columns *c, enum kymo_column column, void *array);

/* Writes E as row ROW. Returns 0 or -ENOMEM. */
int kymo_columns_put(struct kymo_columns *c, size_t row, const kymo_event *e);

/* Returns the text number I, or "". */
const char *kymo_columns_text(const struct kymo_columns *c, uint32_t i);
