/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/parquet/parquet-file.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "base/array.h"

/* Version of the format. It allows the encodings that are used. */
enum { VERSION = 2 };

/* The fastest level of zstd. Higher levels make the files only a few percent smaller. */
enum { LEVEL = 1 };

/* A row group also ends when the different texts of one column have this number of bytes. */
enum { TEXTS_MAX = 4 << 20 };

struct row_key {
	int64_t value;
	uint32_t row;
};

struct parquet_file {
	const struct parquet_table *table;
	parquet_write_fn write;
	void *userdata;
	struct parquet_column *columns; /* owned */
	size_t n_rows;                  /* of the present group */
	uint64_t n_written;             /* rows of the groups before */
	size_t n_groups;
	size_t *required; /* indices of the columns that cannot be null; owned */
	size_t n_required;
	bool full;            /* the present group ends with the present row */
	struct outbuf groups; /* RowGroup structs */
	struct outbuf out;
	uint64_t offset; /* number of bytes that were written */
	struct parquet_pages pages;
	struct row_key *keys; /* owned; for sorting */
	uint32_t *order;      /* owned; the same */
	int error;
};

/* ---- the file ---- */

/* Passes on the bytes that are ready. */
static int parquet_file_flush(struct parquet_file *f)
{
	if (f->error == 0 && f->out.error)
		f->error = f->out.error;
	if (f->error == 0)
		f->error = f->write(f->userdata, f->out.data, f->out.size);
	f->offset += f->out.size;
	outbuf_reset(&f->out);
	return f->error;
}

int parquet_file_new(struct parquet_file **ret, const struct parquet_table *table,
		     parquet_write_fn write, void *userdata)
{
	_cleanup_(parquet_file_freep) struct parquet_file *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return -ENOMEM;
	f->table = table;
	f->write = write;
	f->userdata = userdata;
	f->columns = calloc(table->n_columns, sizeof(*f->columns));
	f->required = calloc(table->n_columns, sizeof(*f->required));
	f->pages.zstd = ZSTD_createCCtx();
	if (!f->columns || !f->required || !f->pages.zstd)
		return -ENOMEM;
	ZSTD_CCtx_setParameter(f->pages.zstd, ZSTD_c_compressionLevel, LEVEL);
	for (size_t i = 0; i < table->n_columns; i++) {
		f->columns[i].spec = &table->columns[i];
		if (!table->columns[i].optional)
			f->required[f->n_required++] = i;
	}
	outbuf_append(&f->out, PARQUET_MAGIC, strlen(PARQUET_MAGIC));
	r = parquet_file_flush(f);
	if (r == 0)
		*ret = TAKE_PTR(f);
	return r;
}

struct parquet_file *parquet_file_free(struct parquet_file *f)
{
	if (!f)
		return NULL;
	for (size_t i = 0; f->columns && i < f->table->n_columns; i++)
		parquet_column_deinit(&f->columns[i]);
	free(f->columns);
	free(f->required);
	outbuf_deinit(&f->groups);
	outbuf_deinit(&f->out);
	outbuf_deinit(&f->pages.plain);
	outbuf_deinit(&f->pages.packed);
	ZSTD_freeCCtx(f->pages.zstd);
	free(f->pages.values);
	free(f->pages.levels);
	free(f->keys);
	free(f->order);
	return free_ptr(f);
}

/* ---- row groups ---- */

/* Makes the buffers with the first row, since most files are of tables with few rows. */
static int parquet_file_make_room(struct parquet_file *f)
{
	if (f->order)
		return 0;
	f->keys = calloc(PARQUET_GROUP_ROWS, sizeof(*f->keys));
	f->pages.values = calloc(PARQUET_GROUP_ROWS, sizeof(*f->pages.values));
	f->pages.levels = calloc(PARQUET_GROUP_ROWS, sizeof(*f->pages.levels));
	f->order = calloc(PARQUET_GROUP_ROWS, sizeof(*f->order));
	return f->keys && f->pages.values && f->pages.levels && f->order ? 0 : -ENOMEM;
}

DEFINE_ORDER(compare_row_keys, struct row_key,
	     COMPARE(x->value, y->value) ?: COMPARE(x->row, y->row))

static void parquet_file_sort(struct parquet_file *f)
{
	const uint64_t *values = f->columns[f->table->sorted_by].values;
	bool sorted = true;

	for (size_t i = 0; i < f->n_rows; i++) {
		f->keys[i] = (struct row_key){ (int64_t)values[i], (uint32_t)i };
		sorted = sorted && (i == 0 || f->keys[i - 1].value <= f->keys[i].value);
	}
	if (!sorted)
		SORT(f->keys, f->n_rows, compare_row_keys);
	for (size_t i = 0; i < f->n_rows; i++)
		f->order[i] = f->keys[i].row;
}

static void parquet_file_put_sorting(const struct parquet_file *f, struct thrift *meta)
{
	thrift_list(meta, 4, THRIFT_STRUCT, 1);
	thrift_begin_element(meta);
	thrift_i32(meta, 1, (int32_t)f->table->sorted_by);
	thrift_bool(meta, 2, false);
	thrift_bool(meta, 3, false);
	thrift_end(meta);
}

static int parquet_file_end_group(struct parquet_file *f)
{
	struct thrift meta = { .to = &f->groups };
	uint64_t plain = 0, bytes = 0, begin = f->offset;
	int r = f->error;

	if (r < 0 || f->n_rows == 0)
		return r;
	parquet_file_sort(f);
	thrift_list(&meta, 1, THRIFT_STRUCT, f->table->n_columns);
	for (size_t i = 0; r == 0 && i < f->table->n_columns; i++)
		r = parquet_column_write(&f->columns[i], &f->pages, f->order, f->n_rows, f->offset,
					 &f->out, &meta, &plain, &bytes)
			    ?: parquet_file_flush(f);
	thrift_i64(&meta, 2, (int64_t)plain);
	thrift_i64(&meta, 3, (int64_t)f->n_rows);
	parquet_file_put_sorting(f, &meta);
	thrift_i64(&meta, 5, (int64_t)begin);
	thrift_i64(&meta, 6, (int64_t)bytes);
	thrift_end(&meta);
	f->n_groups++;
	f->n_written += f->n_rows;
	f->n_rows = 0;
	f->full = false;
	f->error = r ?: f->groups.error;
	return f->error;
}

/* ---- rows ---- */

static void parquet_note_error(struct parquet_file *f, int r)
{
	if (r < 0 && f->error == 0)
		f->error = r;
}

void parquet_set(struct parquet_file *f, size_t column, uint64_t value)
{
	parquet_note_error(f, parquet_column_set(&f->columns[column], f->n_rows, value));
}

void parquet_set_double(struct parquet_file *f, size_t column, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	parquet_set(f, column, bits);
}

void parquet_set_text(struct parquet_file *f, size_t column, const char *text)
{
	struct parquet_column *c = &f->columns[column];

	parquet_note_error(f, parquet_column_set_text(c, f->n_rows, text));
	f->full = f->full || c->texts.size >= TEXTS_MAX;
}

int parquet_end_row(struct parquet_file *f)
{
	parquet_note_error(f, parquet_file_make_room(f));
	for (size_t i = 0; i < f->n_required; i++) {
		const struct parquet_column *c = &f->columns[f->required[i]];

		if (!(c->present && c->present[f->n_rows]))
			parquet_note_error(f, -EINVAL);
	}
	if (f->error < 0)
		return f->error;
	f->n_rows++;
	return f->full || f->n_rows == PARQUET_GROUP_ROWS ? parquet_file_end_group(f) : 0;
}

uint64_t parquet_n_rows(const struct parquet_file *f)
{
	return f->n_written + f->n_rows;
}

/* ---- the end ---- */

static void parquet_file_put_type(const struct parquet_column_spec *column, struct thrift *meta)
{
	switch (column->type) {
	case PARQUET_TEXT:
		thrift_i32(meta, 6, PARQUET_CONVERTED_UTF8);
		thrift_begin(meta, 10);
		thrift_begin(meta, PARQUET_LOGICAL_STRING);
		break;
	case PARQUET_UINT:
		thrift_i32(meta, 6, PARQUET_CONVERTED_UINT_64);
		thrift_begin(meta, 10);
		thrift_begin(meta, PARQUET_LOGICAL_INTEGER);
		thrift_i8(meta, 1, 64);
		thrift_bool(meta, 2, false);
		break;
	case PARQUET_TIME:
		thrift_begin(meta, 10);
		thrift_begin(meta, PARQUET_LOGICAL_TIMESTAMP);
		thrift_bool(meta, 1, true);
		thrift_begin(meta, 2);
		thrift_begin(meta, PARQUET_UNIT_NANOS);
		thrift_end(meta);
		thrift_end(meta);
		break;
	default:
		return;
	}
	thrift_end(meta);
	thrift_end(meta);
}

static enum parquet_physical parquet_file_physical(enum parquet_type type)
{
	return type == PARQUET_TEXT     ? PARQUET_PHYSICAL_BYTES
	       : type == PARQUET_BOOL   ? PARQUET_PHYSICAL_BOOLEAN
	       : type == PARQUET_DOUBLE ? PARQUET_PHYSICAL_DOUBLE
					: PARQUET_PHYSICAL_INT64;
}

static void parquet_file_put_schema(const struct parquet_file *f, struct thrift *meta)
{
	const struct parquet_table *t = f->table;

	thrift_list(meta, 2, THRIFT_STRUCT, t->n_columns + 1);
	thrift_begin_element(meta);
	thrift_text(meta, 4, t->name);
	thrift_i32(meta, 5, (int32_t)t->n_columns);
	thrift_end(meta);
	for (size_t i = 0; i < t->n_columns; i++) {
		thrift_begin_element(meta);
		thrift_i32(meta, 1, (int32_t)parquet_file_physical(t->columns[i].type));
		thrift_i32(meta, 3, t->columns[i].optional ? PARQUET_OPTIONAL : PARQUET_REQUIRED);
		thrift_text(meta, 4, t->columns[i].name);
		parquet_file_put_type(&t->columns[i], meta);
		thrift_end(meta);
	}
}

/* Writes the order of each column. Readers ignore the statistics of a column without an order. */
static void parquet_file_put_orders(const struct parquet_file *f, struct thrift *meta)
{
	thrift_list(meta, 7, THRIFT_STRUCT, f->table->n_columns);
	for (size_t i = 0; i < f->table->n_columns; i++) {
		thrift_begin_element(meta);
		thrift_begin(meta, 1);
		thrift_end(meta);
		thrift_end(meta);
	}
}

static void parquet_file_put_notes(const struct parquet_note *notes, size_t n, struct thrift *meta)
{
	thrift_list(meta, 5, THRIFT_STRUCT, n);
	for (size_t i = 0; i < n; i++) {
		thrift_begin_element(meta);
		thrift_text(meta, 1, notes[i].key);
		thrift_text(meta, 2, notes[i].value);
		thrift_end(meta);
	}
}

int parquet_file_finish(struct parquet_file *f, const struct parquet_note *notes, size_t n)
{
	struct thrift meta = { .to = &f->out };
	uint32_t le;
	int r = parquet_file_end_group(f);

	if (r < 0)
		return r;
	thrift_i32(&meta, 1, VERSION);
	parquet_file_put_schema(f, &meta);
	thrift_i64(&meta, 3, (int64_t)f->n_written);
	thrift_list(&meta, 4, THRIFT_STRUCT, f->n_groups);
	outbuf_append(&f->out, f->groups.data, f->groups.size);
	if (n)
		parquet_file_put_notes(notes, n, &meta);
	thrift_text(&meta, 6, "kymo version " KYMO_VERSION);
	parquet_file_put_orders(f, &meta);
	thrift_end(&meta);
	le = htole32((uint32_t)f->out.size);
	outbuf_append(&f->out, &le, sizeof(le));
	outbuf_append(&f->out, PARQUET_MAGIC, strlen(PARQUET_MAGIC));
	return parquet_file_flush(f);
}
