/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The open tables of one archive, each a Parquet file in the same directory.
 */
#pragma once

#include "cli/common/output-file.h"
#include "cli/tables/table-columns.h"
#include "model/event.h"
#include "reader/views/summary.h"
#include "writer/parquet/parquet-file.h"

/* Order of the columns of THREAD_COLUMNS. */
enum {
	TABLE_THREAD_THREAD,
	TABLE_THREAD_PROCESS,
	TABLE_THREAD_TID,
	TABLE_THREAD_PID,
	TABLE_THREAD_THREAD_NAME,
	TABLE_THREAD_PROCESS_NAME,
	TABLE_THREAD_UNIT,
	TABLE_THREAD_CONTAINER,
};

struct table_file {
	struct output_file output;
	struct parquet_file *rows;
	uint64_t bytes;
};

struct table_set {
	struct table_file files[TABLES_MAX];
	const struct summary *summary; /* borrowed; names of threads and processes */
	struct table cgroups;          /* hash of a path -> struct table_cgroup, owned */
	/*
	 * Wall clock minus CLOCK_BOOTTIME. Fixed (fixed_clock) when the first time has been
	 * written.
	 */
	int64_t offset_ns;
	bool has_clock, fixed_clock;
};

/* Returns the columns of TABLE. */
const struct parquet_table *table_set_columns(enum table_number table);

/*
 * Writes to the file of a table: the write function of struct parquet_file. USERDATA is a struct
 * table_file.
 */
int table_set_write(void *userdata, const void *data, size_t n);

/* Initializes the files of S, whose other members are zero. */
void table_set_init(struct table_set *s);

/*
 * Creates DIRECTORY, if needed, and opens all files in it. Without FORCE, the directory must not
 * have files. Returns CLI_OK or CLI_FAILED; prints errors.
 */
int table_set_open(struct table_set *s, const char *directory, bool force);

/* Writes the ends of all files. Returns CLI_OK or CLI_FAILED; prints errors. */
int table_set_finish(struct table_set *s);

/* Removes the files that are not finished. */
void table_set_deinit(struct table_set *s);

/* Set a value of the present row of TABLE. */
void table_put(struct table_set *s, enum table_number table, size_t column, uint64_t value);
void table_put_time(struct table_set *s, enum table_number table, size_t column, uint64_t ts_ns);

/* Sets the value if TEXT is neither NULL nor "". */
void table_put_text(struct table_set *s, enum table_number table, size_t column, const char *text);

/*
 * Sets the columns of THREAD_COLUMNS, from FIRST on, for thread TID of process PID; 0 = unknown.
 * PID is used for threads whose process is unknown. Returns 0 or -ENOMEM.
 */
int table_put_thread(struct table_set *s, enum table_number table, size_t first, uint32_t tid,
		     uint32_t pid);

/* Sets the columns UNIT and CONTAINER from the path of a cgroup; NULL = unknown. */
int table_put_cgroup(struct table_set *s, enum table_number table, size_t unit, size_t container,
		     const char *path);

/* Ends the row. Returns 0 or a negative errno. */
int table_end_row(struct table_set *s, enum table_number table);
