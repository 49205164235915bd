/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The string table and the thread table of an FXT provider, as kept by its writer.
 *
 * A table assigns indexes from `first` to `last` ("String references", "Thread references"). When
 * all are used, the least recently used entry loses its index. The caller then writes a record that
 * replaces the registration for all later records, so earlier references stay correct. No record
 * refers to so many strings that one of them could replace another.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

struct fxt_table_entry {
	uint64_t key;
	char *text; /* the text; for a thread, its two koids; owned */
	uint32_t length;
	uint16_t older, newer; /* neighbours by last use; 0 = no neighbour */
};

struct fxt_table {
	struct table by_key; /* key -> number of the entry */
	struct fxt_table_entry
		*entries; /* indexed by index - first + 1; element 0 is unused. Grows with use */
	size_t n_entries;
	uint16_t first, last;
	uint16_t n_used;
	uint16_t oldest, newest; /* numbers of entries; 0 = none */
};

/* The positive results of the look-ups. */
enum {
	FXT_TABLE_KNOWN = 1, /* the string or thread was registered before */
	FXT_TABLE_NEW = 2,   /* new: the caller must now write the record that registers it */
};

/* Makes an empty table with the indexes FIRST..LAST. Returns 0 or -ENOMEM. */
int fxt_table_init(struct fxt_table *t, uint16_t first, uint16_t last);
void fxt_table_deinit(struct fxt_table *t);

/*
 * Finds or assigns the index of the N bytes at TEXT (N > 0). Returns FXT_TABLE_KNOWN, FXT_TABLE_NEW
 * or -ENOMEM.
 */
int fxt_table_string(struct fxt_table *t, const char *text, size_t n, uint16_t *ret_index);

/* Finds or assigns the index of a thread. Returns like fxt_table_string(). */
int fxt_table_thread(struct fxt_table *t, uint64_t pid, uint64_t tid, uint16_t *ret_index);
