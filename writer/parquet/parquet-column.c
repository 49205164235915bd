/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/parquet/parquet-column.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "writer/parquet/parquet-encode.h"

/* Longer texts are not written as statistics. */
enum { STATISTICS_TEXT_MAX = 64 };

/* The number of bytes of a text's length in the dictionary page. */
enum { LENGTH_BYTES = sizeof(uint32_t) };

static const struct {
	enum parquet_physical physical;
	enum parquet_encoding encoding;
} column_forms[] = {
	[PARQUET_INT] = { PARQUET_PHYSICAL_INT64, PARQUET_ENCODING_DELTA },
	[PARQUET_UINT] = { PARQUET_PHYSICAL_INT64, PARQUET_ENCODING_DELTA },
	[PARQUET_TIME] = { PARQUET_PHYSICAL_INT64, PARQUET_ENCODING_DELTA },
	[PARQUET_DOUBLE] = { PARQUET_PHYSICAL_DOUBLE, PARQUET_ENCODING_PLAIN },
	[PARQUET_BOOL] = { PARQUET_PHYSICAL_BOOLEAN, PARQUET_ENCODING_PLAIN },
	[PARQUET_TEXT] = { PARQUET_PHYSICAL_BYTES, PARQUET_ENCODING_DICTIONARY },
};

/* A chunk while it is written. */
struct chunk {
	uint64_t n_nulls;
	size_t n_values;          /* without nulls */
	uint64_t plain, bytes;    /* sizes of its pages */
	uint64_t dictionary_size; /* size of the dictionary page; 0 = none */
};

void parquet_column_deinit(struct parquet_column *c)
{
	free(c->values);
	free(c->present);
	free(c->places);
	outbuf_deinit(&c->texts);
	table_deinit(&c->indices);
}

/* Without texts, there is no dictionary page. Readers refuse pages that need one, so the encoding
 * is then PLAIN. */
static enum parquet_encoding parquet_column_encoding(const struct parquet_column *c)
{
	return c->spec->type == PARQUET_TEXT && c->n_texts == 0
		       ? PARQUET_ENCODING_PLAIN
		       : column_forms[c->spec->type].encoding;
}

/* ---- values ---- */

int parquet_column_make_room(struct parquet_column *c)
{
	c->values = calloc(PARQUET_GROUP_ROWS, sizeof(*c->values));
	c->present = calloc(PARQUET_GROUP_ROWS, sizeof(*c->present));
	return c->values && c->present ? 0 : -ENOMEM;
}

static size_t parquet_column_text(const struct parquet_column *c, size_t index, const char **ret)
{
	const uint8_t *p = c->texts.data + c->places[index];
	uint32_t n;

	memcpy(&n, p, sizeof(n));
	*ret = (const char *)p + LENGTH_BYTES;
	return le32toh(n);
}

static bool parquet_column_is_text(const struct parquet_column *c, size_t index, const char *text,
				   size_t n)
{
	const char *other;

	return parquet_column_text(c, index, &other) == n && memcmp(other, text, n) == 0;
}

/* Returns the index of TEXT in the dictionary, or -ENOMEM. */
static int64_t parquet_column_find(struct parquet_column *c, const char *text, size_t n)
{
	uint64_t key = table_hash_seeded(0, text, n);
	void *found;

	while ((found = table_get(&c->indices, key))) {
		size_t index = (uintptr_t)found - 1;

		if (parquet_column_is_text(c, index, text, n))
			return (int64_t)index;
		key = key + 1 ?: 1;
	}
	if (GROW(c->places, c->room_places, c->n_texts + 1) < 0 ||
	    table_set(&c->indices, key, (void *)(uintptr_t)(c->n_texts + 1)) < 0)
		return -ENOMEM;
	c->places[c->n_texts] = (uint32_t)c->texts.size;
	encode_plain_text(&c->texts, text, n);
	return c->texts.error ? c->texts.error : (int64_t)c->n_texts++;
}

/*
 * Like parquet_column_find(), but faster for the same few names that come again and again, mostly
 * at the same addresses: the address leads to a recent index, whose text is compared first.
 */
static int64_t parquet_column_index(struct parquet_column *c, const char *text, size_t n)
{
	uint64_t mixed = (uintptr_t)text * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t *recent = &c->recent[mixed >> (64 - PARQUET_RECENT_BITS)];
	int64_t index;

	if (*recent < c->n_texts && parquet_column_is_text(c, *recent, text, n))
		return *recent;
	index = parquet_column_find(c, text, n);
	*recent = index < 0 ? 0 : (uint32_t)index;
	return index;
}

int parquet_column_set_text(struct parquet_column *c, size_t row, const char *text)
{
	int64_t index = parquet_column_index(c, text, strlen(text));

	return index < 0 ? (int)index : parquet_column_set(c, row, (uint64_t)index);
}

/* ---- statistics ---- */

static int parquet_column_compare_texts(const struct parquet_column *c, uint64_t a, uint64_t b)
{
	const char *x, *y;
	size_t n = parquet_column_text(c, a, &x), m = parquet_column_text(c, b, &y);

	return memcmp(x, y, n < m ? n : m) ?: COMPARE(n, m);
}

/* The smallest and the largest value of a chunk. */
struct bounds {
	uint64_t least, most;
};

static struct bounds parquet_column_text_bounds(const struct parquet_column *c)
{
	struct bounds b = { 0 };

	for (uint64_t i = 1; i < c->n_texts; i++) {
		b.least = parquet_column_compare_texts(c, i, b.least) < 0 ? i : b.least;
		b.most = parquet_column_compare_texts(c, i, b.most) > 0 ? i : b.most;
	}
	return b;
}

static struct bounds parquet_column_number_bounds(enum parquet_type type, const uint64_t *values,
						  size_t n)
{
	/* With the sign bit inverted, signed numbers can be compared as unsigned ones. */
	uint64_t sign = type == PARQUET_INT || type == PARQUET_TIME ? UINT64_C(1) << 63 : 0;
	struct bounds b = { UINT64_MAX, 0 };

	for (size_t i = 0; i < n; i++) {
		uint64_t v = values[i] ^ sign;

		b.least = v < b.least ? v : b.least;
		b.most = v > b.most ? v : b.most;
	}
	return (struct bounds){ b.least ^ sign, b.most ^ sign };
}

static void parquet_column_put_bound(const struct parquet_column *c, struct thrift *meta, int id,
				     uint64_t value)
{
	uint64_t le = htole64(value);
	const char *text;
	size_t n;

	if (c->spec->type != PARQUET_TEXT) {
		thrift_bytes(meta, id, &le, c->spec->type == PARQUET_BOOL ? 1 : sizeof(le));
		return;
	}
	n = parquet_column_text(c, value, &text);
	if (n <= STATISTICS_TEXT_MAX)
		thrift_bytes(meta, id, text, n);
}

/* Writes the statistics of the values. Doubles have no bounds, since they can be NaN. */
static void parquet_column_put_statistics(const struct parquet_column *c, struct thrift *meta,
					  const uint64_t *values, const struct chunk *chunk)
{
	enum parquet_type type = c->spec->type;
	struct bounds b;

	thrift_begin(meta, 12);
	thrift_i64(meta, 3, (int64_t)chunk->n_nulls);
	if (chunk->n_values && type != PARQUET_DOUBLE) {
		b = type == PARQUET_TEXT
			    ? parquet_column_text_bounds(c)
			    : parquet_column_number_bounds(type, values, chunk->n_values);
		parquet_column_put_bound(c, meta, 5, b.most);
		parquet_column_put_bound(c, meta, 6, b.least);
	}
	thrift_end(meta);
}

/* ---- pages ---- */

/* Writes pages->plain as a page of TYPE. */
static int parquet_column_put_page(struct parquet_pages *pages, enum parquet_page type, size_t n,
				   enum parquet_encoding encoding, struct outbuf *to,
				   struct chunk *chunk)
{
	size_t room = ZSTD_compressBound(pages->plain.size), size, before = to->size;
	struct thrift header = { .to = to };
	uint8_t *packed;

	outbuf_reset(&pages->packed);
	packed = outbuf_reserve(&pages->packed, room);
	if (!packed || pages->plain.error)
		return -ENOMEM;
	size = ZSTD_compress2(pages->zstd, packed, room, pages->plain.data, pages->plain.size);
	if (ZSTD_isError(size))
		return -ENOMEM; /* no other error is possible */
	thrift_i32(&header, 1, type);
	thrift_i32(&header, 2, (int32_t)pages->plain.size);
	thrift_i32(&header, 3, (int32_t)size);
	thrift_begin(&header, type == PARQUET_PAGE_DATA ? 5 : 7);
	thrift_i32(&header, 1, (int32_t)n);
	thrift_i32(&header, 2, encoding);
	if (type == PARQUET_PAGE_DATA) {
		thrift_i32(&header, 3, PARQUET_ENCODING_RLE);
		thrift_i32(&header, 4, PARQUET_ENCODING_RLE);
	}
	thrift_end(&header);
	thrift_end(&header);
	chunk->plain += to->size - before + pages->plain.size;
	outbuf_append(to, packed, size);
	chunk->bytes += to->size - before;
	return to->error ? -ENOMEM : 0;
}

/* Writes the levels, which show for each value whether it is present: the number of bytes, and the
 * runs. */
static void parquet_column_put_levels(struct parquet_pages *pages, size_t n)
{
	struct outbuf *to = &pages->plain;
	uint32_t le;

	outbuf_reserve(to, sizeof(le));
	encode_hybrid(to, pages->levels, n, 1);
	le = htole32((uint32_t)(to->size - sizeof(le)));
	if (!to->error)
		memcpy(to->data, &le, sizeof(le));
}

/* Writes the indices of texts with their width. */
static void parquet_column_put_indices(const struct parquet_column *c, struct parquet_pages *pages,
				       size_t n)
{
	uint8_t width = (uint8_t)encode_width(c->n_texts ? c->n_texts - 1 : 0);

	for (size_t i = 0; i < n; i++)
		pages->levels[i] = (uint32_t)pages->values[i];
	outbuf_append(&pages->plain, &width, 1);
	encode_hybrid(&pages->plain, pages->levels, n, width);
}

static int parquet_column_put_dictionary(const struct parquet_column *c,
					 struct parquet_pages *pages, struct outbuf *to,
					 struct chunk *chunk)
{
	int r;

	outbuf_reset(&pages->plain);
	outbuf_append(&pages->plain, c->texts.data, c->texts.size);
	r = parquet_column_put_page(pages, PARQUET_PAGE_DICTIONARY, c->n_texts,
				    PARQUET_ENCODING_PLAIN, to, chunk);
	chunk->dictionary_size = chunk->bytes;
	return r;
}

static int parquet_column_put_data(const struct parquet_column *c, struct parquet_pages *pages,
				   size_t n, struct outbuf *to, struct chunk *chunk)
{
	outbuf_reset(&pages->plain);
	if (c->spec->optional)
		parquet_column_put_levels(pages, n);
	switch (parquet_column_encoding(c)) {
	case PARQUET_ENCODING_DICTIONARY:
		parquet_column_put_indices(c, pages, chunk->n_values);
		break;
	case PARQUET_ENCODING_DELTA:
		encode_delta(&pages->plain, pages->values, chunk->n_values);
		break;
	default:
		if (c->spec->type == PARQUET_BOOL)
			encode_plain_bits(&pages->plain, pages->values, chunk->n_values);
		else
			encode_plain(&pages->plain, pages->values, chunk->n_values);
	}
	return parquet_column_put_page(pages, PARQUET_PAGE_DATA, n, parquet_column_encoding(c), to,
				       chunk);
}

/* ---- the chunk ---- */

static void parquet_column_describe(const struct parquet_column *c, struct thrift *meta, size_t n,
				    uint64_t offset, const uint64_t *values,
				    const struct chunk *chunk)
{
	bool dictionary = chunk->dictionary_size != 0;

	thrift_begin_element(meta);
	thrift_i64(meta, 2, (int64_t)offset);
	thrift_begin(meta, 3);
	thrift_i32(meta, 1, column_forms[c->spec->type].physical);
	thrift_list(meta, 2, THRIFT_I32, dictionary ? 3 : 2);
	thrift_i32_element(meta, PARQUET_ENCODING_RLE);
	thrift_i32_element(meta, parquet_column_encoding(c));
	if (dictionary)
		thrift_i32_element(meta, PARQUET_ENCODING_PLAIN);
	thrift_list(meta, 3, THRIFT_BINARY, 1);
	thrift_text_element(meta, c->spec->name);
	thrift_i32(meta, 4, PARQUET_CODEC_ZSTD);
	thrift_i64(meta, 5, (int64_t)n);
	thrift_i64(meta, 6, (int64_t)chunk->plain);
	thrift_i64(meta, 7, (int64_t)chunk->bytes);
	thrift_i64(meta, 9, (int64_t)(offset + chunk->dictionary_size));
	if (dictionary)
		thrift_i64(meta, 11, (int64_t)offset);
	parquet_column_put_statistics(c, meta, values, chunk);
	thrift_end(meta);
	thrift_end(meta);
}

static void parquet_column_empty(struct parquet_column *c, size_t n)
{
	if (c->present)
		memset(c->present, 0, n * sizeof(*c->present));
	outbuf_reset(&c->texts);
	table_clear(&c->indices);
	c->n_texts = 0;
}

int parquet_column_write(struct parquet_column *c, struct parquet_pages *pages,
			 const uint32_t *order, size_t n, uint64_t offset, struct outbuf *to,
			 struct thrift *meta, uint64_t *plain_bytes, uint64_t *bytes)
{
	struct chunk chunk = { 0 };
	int r = 0;

	for (size_t i = 0; i < n; i++) {
		bool present = c->present && c->present[order[i]];

		pages->levels[i] = present;
		if (present)
			pages->values[chunk.n_values++] = c->values[order[i]];
	}
	chunk.n_nulls = n - chunk.n_values;
	if (c->n_texts)
		r = parquet_column_put_dictionary(c, pages, to, &chunk);
	r = r ?: parquet_column_put_data(c, pages, n, to, &chunk);
	if (r == 0)
		parquet_column_describe(c, meta, n, offset, pages->values, &chunk);
	*plain_bytes += chunk.plain;
	*bytes += chunk.bytes;
	parquet_column_empty(c, n);
	return r;
}
