/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes a table as a Parquet file: row by row, in row groups of a limited size. So memory does not
 * grow with the number of rows. The rows of a group are sorted by one column.
 */
#pragma once

#include "base/cleanup.h"
#include "writer/parquet/parquet-column.h"

struct parquet_table {
	const char *name;
	const struct parquet_column_spec *columns;
	size_t n_columns;
	size_t sorted_by; /* index of a column of numbers that are never null */
};

/* Writes N bytes to the file. Returns 0 or a negative errno. After a failure, all later calls for
 * the file fail with the same errno. */
typedef int (*parquet_write_fn)(void *userdata, const void *data, size_t n);

/* A text about the whole file. */
struct parquet_note {
	const char *key, *value;
};

struct parquet_file;

/* TABLE must live as long as the file. Returns 0 or a negative errno. */
int parquet_file_new(struct parquet_file **ret, const struct parquet_table *table,
		     parquet_write_fn write, void *userdata);
struct parquet_file *parquet_file_free(struct parquet_file *f);
DEFINE_CLEANUP(struct parquet_file *, parquet_file_free)

/*
 * Set the value of COLUMN in the present row. A column that is not set is null. Failures are
 * returned by parquet_end_row().
 */
void parquet_set(struct parquet_file *f, size_t column, uint64_t value);
void parquet_set_double(struct parquet_file *f, size_t column, double value);
void parquet_set_text(struct parquet_file *f, size_t column, const char *text);

/* Ends the row. Returns 0, -EINVAL if a column that cannot be null is not set, or another errno. */
int parquet_end_row(struct parquet_file *f);

/* The number of rows so far. */
uint64_t parquet_n_rows(const struct parquet_file *f);

/* Writes the rest, and the N notes. Returns 0 or a negative errno. */
int parquet_file_finish(struct parquet_file *f, const struct parquet_note *notes, size_t n);
