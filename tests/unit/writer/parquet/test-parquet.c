/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parquet files are read again with equal values, sorted, with nulls, in all types. The numbers in
 * the encodings are those of the specification's examples. Failures of writing stick.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "reader/parquet/parquet-decode.h"
#include "reader/parquet/parquet-read.h"
#include "tests/support/unit.h"
#include "writer/parquet/parquet-encode.h"
#include "writer/parquet/parquet-file.h"

enum { AT, INT, UINT, DOUBLE, BOOL, TEXT, NEEDED, COLUMNS };

static const struct parquet_column_spec columns[COLUMNS] = {
	[AT] = { "at", PARQUET_TIME, false },         [INT] = { "int", PARQUET_INT, true },
	[UINT] = { "uint", PARQUET_UINT, true },      [DOUBLE] = { "double", PARQUET_DOUBLE, true },
	[BOOL] = { "bool", PARQUET_BOOL, true },      [TEXT] = { "text", PARQUET_TEXT, true },
	[NEEDED] = { "needed", PARQUET_TEXT, false },
};
static const struct parquet_table table = { "table", columns, COLUMNS, AT };

static int put_bytes(void *userdata, const void *data, size_t n)
{
	return outbuf_append(userdata, data, n);
}

static int put_nowhere(void *userdata, const void *data, size_t n)
{
	int *left = userdata;

	return (*left)-- > 0 ? 0 : -ENOSPC;
}

static uint64_t random_bits(unsigned most)
{
	unsigned width = (unsigned)rand() % (most + 1);
	uint64_t bits = (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand();

	return width == 64 ? bits : bits & ((UINT64_C(1) << width) - 1);
}

/* ---- encodings ---- */

TEST(hybrid_of_the_specification)
{
	/* "Bit-packing the numbers 1 through 7 with bit width 3" */
	const uint32_t values[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	const uint8_t wanted[] = { 1 << 1 | 1, 0x88, 0xc6, 0xfa };
	const uint32_t run[9] = { 5, 5, 5, 5, 5, 5, 5, 5, 5 };
	const uint8_t wanted_run[] = { 9 << 1, 5 };
	_cleanup_(outbuf_deinit) struct outbuf to = { 0 };

	encode_hybrid(&to, values, 8, 3);
	assert_int_equal(to.size, sizeof(wanted));
	assert_memory_equal(to.data, wanted, sizeof(wanted));
	outbuf_reset(&to);
	encode_hybrid(&to, run, 9, 3);
	assert_int_equal(to.size, sizeof(wanted_run));
	assert_memory_equal(to.data, wanted_run, sizeof(wanted_run));
}

/* A run has whole bytes, so its value can be wider than it may be: levels of 255, for example. */
TEST(values_of_runs_are_bounded)
{
	static const struct {
		unsigned width;
		uint8_t bytes[4];
		bool bad;
	} rows[] = {
		{ 1, { 2 << 1, 1 }, false },      { 1, { 2 << 1, 2 }, true },
		{ 1, { 2 << 1, 0xff }, true },    { 9, { 2 << 1, 0xff, 1 }, false },
		{ 9, { 2 << 1, 0xff, 3 }, true }, { 0, { 2 << 1 }, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct parquet_cursor c = { rows[i].bytes, rows[i].bytes + 4, false };
		uint64_t values[2] = { 0 };

		parquet_get_hybrid(&c, rows[i].width, values, 2);
		assert_int_equal(c.bad, rows[i].bad);
	}
}

TEST(delta_of_the_specification)
{
	/* Example 2: 7, 5, 3, 1, 2, 3, 4, 5: the differences are -2 (three times) and 1 */
	const uint64_t values[] = { 7, 5, 3, 1, 2, 3, 4, 5 };
	const uint8_t wanted[] = { 0x80, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0xc0, 0x3f, 0, 0, 0, 0, 0, 0 };
	_cleanup_(outbuf_deinit) struct outbuf to = { 0 };

	encode_delta(&to, values, ARRAY_SIZE(values));
	assert_int_equal(to.size, sizeof(wanted));
	assert_memory_equal(to.data, wanted, sizeof(wanted));
}

TEST(hybrid_again)
{
	static uint32_t values[1000];
	static uint64_t again[1000];

	srand(1);
	for (unsigned round = 0; round < unit_rounds(2000); round++) {
		_cleanup_(outbuf_deinit) struct outbuf to = { 0 };
		unsigned width = (unsigned)rand() % 33;
		size_t n = (size_t)rand() % ARRAY_SIZE(values);
		struct parquet_cursor c;

		for (size_t i = 0; i < n; i++)
			values[i] = i && rand() % 8 ? values[i - 1] : (uint32_t)random_bits(width);
		encode_hybrid(&to, values, n, width);
		c = (struct parquet_cursor){ to.data, to.data + to.size, false };
		parquet_get_hybrid(&c, width, again, n);
		assert_false(c.bad);
		assert_ptr_equal(c.at, c.end);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(again[i], values[i]);
	}
}

TEST(delta_again)
{
	static uint64_t values[1000], again[1000];

	srand(2);
	for (unsigned round = 0; round < unit_rounds(2000); round++) {
		_cleanup_(outbuf_deinit) struct outbuf to = { 0 };
		unsigned width = (unsigned)rand() % 65;
		size_t n = (size_t)rand() % ARRAY_SIZE(values);
		struct parquet_cursor c;

		for (size_t i = 0; i < n; i++)
			values[i] = random_bits(width);
		encode_delta(&to, values, n);
		c = (struct parquet_cursor){ to.data, to.data + to.size, false };
		parquet_get_delta(&c, again, n);
		assert_false(c.bad);
		assert_ptr_equal(c.at, c.end);
		assert_memory_equal(again, values, n * sizeof(*values));
	}
}

/* ---- files ---- */

/* The value of COLUMN in row I, which is made again for each comparison. */
struct expected {
	bool present;
	uint64_t number;
	char text[200];
};

static struct expected expected_value(size_t column, size_t i, unsigned seed)
{
	uint64_t mixed = (i + 1) * UINT64_C(0x9e3779b97f4a7c15) + column * 77 + seed;
	struct expected e = { .present = mixed >> 7 & 3 };

	mixed ^= mixed >> 29;
	switch (column) {
	case AT:
		e.present = true;
		e.number = i; /* (the order after sorting) */
		break;
	case INT:
		e.number = (uint64_t)((int64_t)mixed >> mixed % 60);
		break;
	case UINT:
	case DOUBLE:
		e.number = mixed;
		break;
	case BOOL:
		e.number = mixed & 1;
		break;
	case TEXT:
		snprintf(
			e.text, sizeof(e.text), "%.*s%u", (int)(mixed >> 8 & 127),
			"a long text: ................................................................"
			".......................................................................",
			(unsigned)(mixed >> 16 & 1023));
		break;
	case NEEDED:
		e.present = true;
		snprintf(e.text, sizeof(e.text), "%s", mixed & 1 ? "yes" : "");
		break;
	}
	return e;
}

static void put_row(struct parquet_file *f, size_t i, unsigned seed)
{
	for (size_t column = 0; column < COLUMNS; column++) {
		struct expected e = expected_value(column, i, seed);

		if (e.present && columns[column].type == PARQUET_TEXT)
			parquet_set_text(f, column, e.text);
		else if (e.present)
			parquet_set(f, column, e.number);
	}
	assert_int_equal(parquet_end_row(f), 0);
}

static void write_rows(struct outbuf *to, size_t n, unsigned seed)
{
	const struct parquet_note notes[] = { { "key", "value" } };
	_cleanup_(parquet_file_freep) struct parquet_file *f = NULL;

	to->limit = (size_t)1 << 30;
	assert_int_equal(parquet_file_new(&f, &table, put_bytes, to), 0);
	/* Pairs of rows are exchanged, so that they have to be sorted. */
	for (size_t i = 0; i < n; i++)
		put_row(f, (i ^ 1) < n ? i ^ 1 : i, seed);
	assert_int_equal(parquet_n_rows(f), n);
	assert_int_equal(parquet_file_finish(f, notes, 1), 0);
}

static void compare_rows(const struct parquet_read *r, size_t n, unsigned seed)
{
	assert_int_equal(r->n_columns, COLUMNS);
	assert_int_equal(r->n_rows, n);
	for (size_t column = 0; column < COLUMNS; column++) {
		assert_string_equal(r->columns[column].name, columns[column].name);
		assert_int_equal(r->columns[column].type, columns[column].type);
		for (size_t i = 0; i < n; i++) {
			const struct parquet_value *v = &r->columns[column].values[i];
			struct expected e = expected_value(column, i, seed);

			assert_int_equal(v->present, e.present);
			if (!e.present)
				continue;
			if (columns[column].type != PARQUET_TEXT) {
				assert_int_equal(v->number, e.number);
				continue;
			}
			assert_int_equal(v->number, strlen(e.text));
			assert_memory_equal(v->text, e.text, v->number);
		}
	}
}

static void check_rows(size_t n, unsigned seed)
{
	_cleanup_(outbuf_deinit) struct outbuf bytes = { 0 };
	_cleanup_(parquet_read_deinit) struct parquet_read r = { 0 };

	write_rows(&bytes, n, seed);
	if (parquet_read(&r, bytes.data, bytes.size) < 0)
		fail_msg("%zu rows: %s", n, r.wrong ?: "no memory");
	compare_rows(&r, n, seed);
	assert_int_equal(r.n_groups, (n + PARQUET_GROUP_ROWS - 1) / PARQUET_GROUP_ROWS);
}

TEST(rows_again)
{
	for (size_t n = 0; n < 20; n++)
		check_rows(n, (unsigned)n);
	for (unsigned round = 0; round < unit_rounds(30); round++)
		check_rows(100 + 37 * round, round);
}

LARGE_TEST(groups_again)
{
	check_rows(PARQUET_GROUP_ROWS, 1);
	check_rows(2 * PARQUET_GROUP_ROWS + 1, 2);
}

/* Readers refuse a page of a dictionary if there is none. */
TEST(no_texts)
{
	_cleanup_(outbuf_deinit) struct outbuf bytes = { 0 };
	_cleanup_(parquet_file_freep) struct parquet_file *f = NULL;
	_cleanup_(parquet_read_deinit) struct parquet_read r = { 0 };

	assert_int_equal(parquet_file_new(&f, &table, put_bytes, &bytes), 0);
	for (uint64_t i = 0; i < 3; i++) {
		parquet_set(f, AT, i);
		parquet_set_text(f, NEEDED, "");
		assert_int_equal(parquet_end_row(f), 0);
	}
	assert_int_equal(parquet_file_finish(f, NULL, 0), 0);
	assert_int_equal(parquet_read(&r, bytes.data, bytes.size), 0);
	for (size_t i = 0; i < 3; i++)
		assert_false(r.columns[TEXT].values[i].present);
}

/* A damaged file is reported, and never crashes the reader. */
TEST(damage_is_noticed)
{
	_cleanup_(outbuf_deinit) struct outbuf bytes = { 0 };

	write_rows(&bytes, 300, 5);
	srand(3);
	for (size_t n = 0; n < bytes.size; n += 1 + n / 16) {
		_cleanup_(parquet_read_deinit) struct parquet_read r = { 0 };

		assert_int_equal(parquet_read(&r, bytes.data, n), -EBADMSG);
	}
	for (unsigned round = 0; round < unit_rounds(2000); round++) {
		_cleanup_(parquet_read_deinit) struct parquet_read r = { 0 };
		uint8_t *p = &bytes.data[(size_t)rand() % bytes.size], before = *p;
		int e;

		*p ^= (uint8_t)(1 + rand() % 255);
		e = parquet_read(&r, bytes.data, bytes.size);
		assert_true(e == 0 || e == -EBADMSG || e == -ENOMEM);
		*p = before;
	}
}

TEST(failures_stick)
{
	for (int writes = 0; writes < 4; writes++) {
		_cleanup_(parquet_file_freep) struct parquet_file *f = NULL;
		int left = writes, r = parquet_file_new(&f, &table, put_nowhere, &left);

		assert_int_equal(r, writes == 0 ? -ENOSPC : 0);
		if (r < 0)
			continue;
		put_row(f, 1, 0);
		assert_int_equal(parquet_file_finish(f, NULL, 0), -ENOSPC);
		assert_int_equal(parquet_end_row(f), -ENOSPC);
	}
}

/* A row without a value that cannot be null is an error. */
TEST(needed_values)
{
	_cleanup_(outbuf_deinit) struct outbuf bytes = { 0 };
	_cleanup_(parquet_file_freep) struct parquet_file *f = NULL;

	assert_int_equal(parquet_file_new(&f, &table, put_bytes, &bytes), 0);
	parquet_set(f, AT, 1);
	assert_int_equal(parquet_end_row(f), -EINVAL);
	assert_int_equal(parquet_file_finish(f, NULL, 0), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hybrid_of_the_specification),
		cmocka_unit_test(values_of_runs_are_bounded),
		cmocka_unit_test(delta_of_the_specification),
		cmocka_unit_test(hybrid_again),
		cmocka_unit_test(delta_again),
		cmocka_unit_test(rows_again),
		cmocka_unit_test(groups_again),
		cmocka_unit_test(no_texts),
		cmocka_unit_test(damage_is_noticed),
		cmocka_unit_test(failures_stick),
		cmocka_unit_test(needed_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
