/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libkymo/kymo-columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The limit of the texts with numbers; further texts get none. An archive can have any number of
 * different texts, since log messages are names of events. A text also costs TEXT_BYTES_MORE for
 * its slot, its pointer and malloc().
 */
enum { TEXTS_BYTES_MAX = 64 << 20, TEXT_BYTES_MORE = 64 };

void kymo_columns_deinit(struct kymo_columns *c)
{
	for (uint32_t i = 0; i < c->n_texts; i++)
		free(c->texts[i]);
	free(c->texts);
	table_deinit(&c->numbers);
	*c = (struct kymo_columns){ 0 };
}

int kymo_columns_set(struct kymo_columns *c, enum kymo_column column, void *array)
{
	if ((unsigned)column >= KYMO_COLUMNS)
		return -EINVAL;
	c->arrays[column] = array;
	return 0;
}

/* ---- texts ---- */

static int kymo_columns_make_room(struct kymo_columns *c)
{
	uint32_t room = c->room > 0 ? 2 * c->room : 64;
	char **texts;

	if (c->n_texts < c->room)
		return 0;
	texts = realloc(c->texts, room * sizeof(*texts));
	if (!texts)
		return -ENOMEM;
	c->texts = texts;
	c->room = room;
	return 0;
}

/* Adds TEXT, which is not in the table. Returns its number, KYMO_NO_TEXT if there are too many
 * texts, or 0 if there is no memory. */
static uint32_t kymo_columns_add_text(struct kymo_columns *c, uint64_t hash, const char *text)
{
	size_t bytes = strlen(text) + 1 + TEXT_BYTES_MORE;
	char *copy;

	if (c->bytes + bytes > TEXTS_BYTES_MAX)
		return KYMO_NO_TEXT;
	if (kymo_columns_make_room(c) < 0)
		return 0;
	copy = strdup(text);
	/* (the number is the index + 1, since NULL in the table means that there is none) */
	if (!copy || table_set(&c->numbers, hash, (void *)((uintptr_t)c->n_texts + 1)) < 0) {
		free(copy);
		return 0;
	}
	c->texts[c->n_texts++] = copy;
	c->bytes += bytes;
	return c->n_texts;
}

/* Writes the number of TEXT to ROW of COLUMN, if the caller wants the column. Returns 0 or
 * -ENOMEM. */
static int kymo_columns_put_text(struct kymo_columns *c, enum kymo_column column, size_t row,
				 const char *text)
{
	uint32_t *to = c->arrays[column], number;
	uint64_t hash;

	if (!to)
		return 0;
	to[row] = 0;
	if (*text == '\0')
		return 0;
	/* (the seed is not known outside, so nobody can make a file whose texts have equal
	 * hashes) */
	hash = table_hash_seeded((uintptr_t)c, text, strlen(text)) ?: 1;
	number = (uint32_t)(uintptr_t)table_get(&c->numbers, hash);
	if (number == 0)
		number = kymo_columns_add_text(c, hash, text);
	to[row] = number;
	return number > 0 ? 0 : -ENOMEM;
}

const char *kymo_columns_text(const struct kymo_columns *c, uint32_t i)
{
	return i > 0 && i <= c->n_texts ? c->texts[i - 1] : "";
}

/* ---- rows ---- */

static int64_t kymo_columns_time(uint64_t ns)
{
	return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

#define KYMO_COLUMNS_PUT(column, type, value)                                                      \
	do {                                                                                       \
		if (c->arrays[column])                                                             \
			((type *)c->arrays[column])[row] = (type)(value);                          \
	} while (0)

int kymo_columns_put(struct kymo_columns *c, size_t row, const kymo_event *e)
{
	int r;

	KYMO_COLUMNS_PUT(KYMO_COLUMN_TIME_NS, int64_t, kymo_columns_time(kymo_event_time_ns(e)));
	KYMO_COLUMNS_PUT(KYMO_COLUMN_END_NS, int64_t, kymo_columns_time(kymo_event_end_ns(e)));
	KYMO_COLUMNS_PUT(KYMO_COLUMN_KIND, uint8_t, kymo_event_kind(e));
	KYMO_COLUMNS_PUT(KYMO_COLUMN_CPU, int32_t, kymo_event_cpu(e));
	KYMO_COLUMNS_PUT(KYMO_COLUMN_PROCESS, uint64_t, kymo_event_process(e));
	KYMO_COLUMNS_PUT(KYMO_COLUMN_THREAD, uint64_t, kymo_event_thread(e));
	KYMO_COLUMNS_PUT(KYMO_COLUMN_OUT_THREAD, uint64_t, kymo_event_out_thread(e));
	KYMO_COLUMNS_PUT(KYMO_COLUMN_OUT_STATE, uint8_t, kymo_event_out_state(e));
	KYMO_COLUMNS_PUT(KYMO_COLUMN_ID, uint64_t, kymo_event_id(e));
	r = kymo_columns_put_text(c, KYMO_COLUMN_CATEGORY, row, kymo_event_category(e));
	return r ?: kymo_columns_put_text(c, KYMO_COLUMN_NAME, row, kymo_event_name(e));
}
