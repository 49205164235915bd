/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The string table or the thread table of an FXT provider, as its writer keeps it.
 *
 * A table assigns indexes from `first` to `last` ("String references", "Thread references"). When
 * all indexes are used, the least recently used entry loses its index to the new one. The caller
 * then writes a record that registers the new entry, for all later records, so earlier references
 * stay correct. No record refers to so many strings that one of them could replace another one of
 * the same record.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

struct fxt_table_entry {
	uint64_t key;
	char *text; /* owned; the text, or the two koids of a thread */
	uint32_t length;
	uint16_t older, newer; /* neighbours by the time of last use; 0 = none */
};

struct fxt_table {
	struct table by_key; /* key -> number of the entry */
	struct fxt_table_entry
		*entries; /* owned; grows; by index - first + 1; element 0 is unused */
	size_t n_entries;
	uint16_t first, last;
	uint16_t n_used;
	uint16_t oldest, newest; /* numbers of entries; 0 = none */
};

/* The positive results of the look-ups. */
enum {
	FXT_TABLE_KNOWN = 1, /* the string or thread was registered before */
	FXT_TABLE_NEW = 2,   /* new: the caller must write a record that registers it */
};

/* Makes an empty table with the indexes FIRST..LAST. Returns 0 or -ENOMEM. */
int fxt_table_init(struct fxt_table *t, uint16_t first, uint16_t last);
void fxt_table_deinit(struct fxt_table *t);

/*
 * Finds or assigns the index of the N bytes (N > 0) at TEXT. Returns FXT_TABLE_KNOWN, FXT_TABLE_NEW
 * or -ENOMEM.
 */
int fxt_table_string(struct fxt_table *t, const char *text, size_t n, uint16_t *ret_index);

/* Finds or assigns the index of a thread. Returns as fxt_table_string() does. */
int fxt_table_thread(struct fxt_table *t, uint64_t pid, uint64_t tid, uint16_t *ret_index);
