/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The string table and the thread table of an FXT provider, as kept by its writer.
 *
 * A table assigns indexes from `first` to `last` ("String references", "Thread references"). When
 * all are used, the least recently used entry loses its index. The caller then writes a record that
 * replaces the registration for all later records, so earlier references stay correct. A record
 * never refers to so many strings that it could replace one of its own.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

struct fxt_table_entry {
	uint64_t key;
	char *text; /* owned; of a thread: its two koids */
	uint32_t length;
	uint16_t older, newer; /* by last use; 0 = none */
};

struct fxt_table {
	struct table by_key; /* to the numbers of entries */
	struct fxt_table_entry
		*entries; /* [index - first + 1]; 0 is no entry. Grows as it is used */
	size_t n_entries;
	uint16_t first, last;
	uint16_t n_used;
	uint16_t oldest, newest; /* entry numbers; 0 = none */
};

/* The positive results of the look-ups. */
enum {
	FXT_TABLE_KNOWN = 1, /* registered before */
	FXT_TABLE_NEW = 2,   /* the caller must now write the record that registers it */
};

/* Makes an empty table with the indexes FIRST..LAST. Returns 0 or -ENOMEM. */
int fxt_table_init(struct fxt_table *t, uint16_t first, uint16_t last);
void fxt_table_deinit(struct fxt_table *t);

/* The index of the N bytes at TEXT (N > 0). Returns FXT_TABLE_KNOWN, FXT_TABLE_NEW or -ENOMEM. */
int fxt_table_string(struct fxt_table *t, const char *text, size_t n, uint16_t *ret_index);

/* The index of a thread. Returns as above. */
int fxt_table_thread(struct fxt_table *t, uint64_t pid, uint64_t tid, uint16_t *ret_index);
