/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/golden-archive.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/unit.h"

void golden_put(struct outbuf *b, enum golden which)
{
	const struct golden_record *g = &golden_records[which];

	assert_int_equal(outbuf_append(b, g->words, 8 * g->n_words), 0);
}

void golden_put_words(struct outbuf *b, size_t n, const uint64_t *words)
{
	assert_int_equal(outbuf_append(b, words, 8 * n), 0);
}

struct fxt_reader *golden_reader(const struct outbuf *b)
{
	struct fxt_reader *r = NULL;

	assert_int_equal(fxt_reader_new_memory(&r, b->data, b->size), 0);
	return r;
}

const struct fxt_record *golden_read_to(struct fxt_reader *r, enum golden which)
{
	const struct fxt_record *record = NULL;

	for (int i = 0; i <= (int)which; i++)
		assert_int_equal(fxt_reader_next(r, &record), FXT_READER_RECORD);
	return record;
}

void golden_assert_text(const struct fxt_text *t, const char *expected)
{
	assert_non_null(t->bytes);
	assert_int_equal(t->length, strlen(expected));
	assert_memory_equal(t->bytes, expected, t->length);
}

int golden_set_up(void **state)
{
	struct golden_archive *f = calloc(1, sizeof(*f));

	for (int i = 0; i < GOLDEN_MAX; i++)
		golden_put(&f->archive, (enum golden)i);
	f->reader = golden_reader(&f->archive);
	*state = f;
	return 0;
}

int golden_tear_down(void **state)
{
	struct golden_archive *f = *state;

	fxt_reader_free(f->reader);
	outbuf_deinit(&f->archive);
	free(f);
	return 0;
}
