/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the input as a Parquet file with the reader of the tests, which must notice all damage.
 * Then takes the input as rows of a table: the table is written, and the reader must return the
 * same rows.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "reader/parquet/parquet-read.h"
#include "writer/parquet/parquet-file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A footer of few bytes can describe many rows. */
enum { SIZE_MAX_READ = 1 << 16, ROWS_MAX_WRITTEN = 4096, TEXT_BYTES_MAX = 32 };

enum { TIME, INT, UINT, DOUBLE, BOOL, TEXT, COLUMNS };

static const struct parquet_column_spec columns[COLUMNS] = {
	[TIME] = { "time", PARQUET_TIME, false }, [INT] = { "int", PARQUET_INT, true },
	[UINT] = { "uint", PARQUET_UINT, true },  [DOUBLE] = { "double", PARQUET_DOUBLE, true },
	[BOOL] = { "bool", PARQUET_BOOL, true },  [TEXT] = { "text", PARQUET_TEXT, true },
};

static const struct parquet_table table = { "fuzz", columns, COLUMNS, TIME };

/* ---- reading ---- */

/* Reads every byte of the values. Returns a sum, so that the compiler keeps the reads. */
static uint64_t use_values(const struct parquet_read *r)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->n_columns; i++) {
		for (size_t k = 0; k < r->n_rows; k++) {
			const struct parquet_value *v = &r->columns[i].values[k];

			sum += v->present ? v->number : 0;
			for (uint64_t b = 0; v->present && v->text && b < v->number; b++)
				sum += (uint8_t)v->text[b];
		}
	}
	return sum;
}

static void read_input(const uint8_t *data, size_t size)
{
	_cleanup_(parquet_read_deinit) struct parquet_read r = { 0 };
	int e = parquet_read(&r, data, size);
	const char *note;
	size_t n;

	assert(e == 0 || e == -EBADMSG || e == -ENOMEM);
	assert(e != -EBADMSG || r.wrong);
	assert(e != 0 || use_values(&r) == use_values(&r));
	note = e == 0 ? parquet_read_note(&r, "key", &n) : NULL;
	assert(!note ||
	       (note >= (const char *)data && n <= size - (size_t)(note - (const char *)data)));
}

/* ---- writing ---- */

/* The next values of the input. */
struct source {
	const uint8_t *at, *end;
};

static uint64_t take(struct source *s, size_t n)
{
	uint64_t value = 0;

	for (size_t i = 0; i < n && s->at < s->end; i++)
		value |= (uint64_t)*s->at++ << 8 * i;
	return value;
}

/* A row: which columns have a value, the size of numbers, and the values. */
struct row {
	unsigned present;
	uint64_t values[COLUMNS];
	char text[TEXT_BYTES_MAX + 1];
};

static void take_row(struct source *s, struct row *row)
{
	size_t width = take(s, 1) % 9, n;

	row->present = (unsigned)take(s, 1) | 1U << TIME;
	for (int i = TIME; i <= BOOL; i++)
		row->values[i] = take(s, width);
	row->values[BOOL] &= 1;
	n = take(s, 1) % TEXT_BYTES_MAX;
	for (size_t i = 0; i < n; i++)
		row->text[i] = (char)take(s, 1);
	row->text[n] = '\0';
	row->values[TEXT] = strlen(row->text);
}

static int append(void *userdata, const void *data, size_t n)
{
	outbuf_append(userdata, data, n);
	return 0;
}

static size_t write_rows(struct source s, struct parquet_file *f)
{
	size_t n = 0;

	for (struct row row; s.at < s.end && n < ROWS_MAX_WRITTEN; n++) {
		take_row(&s, &row);
		for (size_t i = TIME; i <= BOOL; i++)
			if (row.present >> i & 1)
				parquet_set(f, i, row.values[i]);
		if (row.present >> TEXT & 1)
			parquet_set_text(f, TEXT, row.text);
		assert(parquet_end_row(f) == 0);
	}
	return n;
}

/* The sums of the rows do not depend on their order. */
struct sums {
	uint64_t n_present[COLUMNS], sums[COLUMNS], bytes;
};

static struct sums sums_of_input(struct source s)
{
	struct sums sums = { 0 };

	for (size_t n = 0; s.at < s.end && n < ROWS_MAX_WRITTEN; n++) {
		struct row row;

		take_row(&s, &row);
		for (size_t i = 0; i < COLUMNS; i++) {
			sums.n_present[i] += row.present >> i & 1;
			sums.sums[i] += row.present >> i & 1 ? row.values[i] : 0;
		}
		for (const char *p = row.text; *p && row.present >> TEXT & 1; p++)
			sums.bytes += (uint8_t)*p;
	}
	return sums;
}

static struct sums sums_of_file(const struct parquet_read *r)
{
	struct sums sums = { 0 };

	for (size_t i = 0; i < COLUMNS; i++) {
		for (size_t k = 0; k < r->n_rows; k++) {
			const struct parquet_value *v = &r->columns[i].values[k];

			sums.n_present[i] += v->present;
			sums.sums[i] += v->present ? v->number : 0;
			for (uint64_t b = 0; i == TEXT && v->present && b < v->number; b++)
				sums.bytes += (uint8_t)v->text[b];
		}
	}
	return sums;
}

static void write_input(const uint8_t *data, size_t size)
{
	_cleanup_(parquet_file_freep) struct parquet_file *f = NULL;
	_cleanup_(parquet_read_deinit) struct parquet_read r = { 0 };
	_cleanup_(outbuf_deinit) struct outbuf out = { 0 };
	const struct parquet_note note = { "key", "value" };
	const struct source s = { data, data + size };
	struct sums wanted, found;
	const char *value;
	size_t n, length;

	assert(parquet_file_new(&f, &table, append, &out) == 0);
	n = write_rows(s, f);
	assert(parquet_file_finish(f, &note, 1) == 0 && out.error == 0);
	assert(parquet_read(&r, out.data, out.size) == 0);
	assert(r.n_rows == n && r.n_columns == COLUMNS);
	value = parquet_read_note(&r, "key", &length);
	assert(value && length == strlen("value") && memcmp(value, "value", length) == 0);
	assert(!parquet_read_note(&r, "ke", &length));
	wanted = sums_of_input(s);
	found = sums_of_file(&r);
	assert(memcmp(&wanted, &found, sizeof(wanted)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > SIZE_MAX_READ)
		return 0;
	read_input(data, size);
	write_input(data, size);
	return 0;
}
