/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the input as trace-db. The trace can be written again in the same layout; only bytes that
 * readers ignore can differ. The written file has the same points. All points can be kept in
 * memory.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "reader/tracedb/tracedb-store.h"
#include "writer/tracedb/tracedb-writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void touch(const struct tracedb_dictionary *d, const struct tracedb_entry *e)
{
	uint8_t seen = 0;

	if (e->tag != TRACEDB_VARIABLE)
		return;
	assert(e->variable.name < d->n_names && e->variable.type < d->n_types);
	if (d->types[e->variable.type].format == TRACEDB_BLOB)
		for (uint32_t i = 0; i < e->variable.size; i++)
			seen ^= e->variable.bytes[i];
	/* (the bytes are really read) */
	__asm__ volatile("" : : "r"(seen));
}

/* Reads all points, and writes them to W, if not NULL. Returns the number of points that were
 * written. */
static size_t read_all(struct tracedb_reader *r, struct tracedb_writer *w)
{
	const struct tracedb_dictionary *d = tracedb_reader_dictionary(r);
	const struct tracedb_point *point;
	size_t n = 0;
	int e;

	while ((e = tracedb_reader_next(r, &point)) == TRACEDB_POINT) {
		for (size_t i = 0; i < point->n_entries; i++)
			touch(d, &point->entries[i]);
		e = w ? tracedb_writer_point(w, point) : 0;
		/* (a point with statement 0 can be read, but cannot be written) */
		assert(e == 0 || e == -EINVAL);
		n += e == 0;
	}
	assert(e != TRACEDB_DAMAGE || tracedb_reader_damage(r)->what);
	return n;
}

/* Stores all points in memory, and visits them. */
static void store_all(const uint8_t *data, size_t size)
{
	_cleanup_(tracedb_reader_freep) struct tracedb_reader *r = NULL;
	_cleanup_(tracedb_store_freep) struct tracedb_store *s = NULL;
	_cleanup_(tracedb_cursor_deinit) struct tracedb_cursor c = { 0 };
	struct tracedb_stored_point p;
	size_t n = 0;

	assert(tracedb_reader_new_memory(&r, data, size) == 0);
	assert(tracedb_store_load(&s, r) >= 0);
	while (tracedb_store_next(s, &c, &p) > 0)
		n++;
	assert(n == tracedb_store_points(s));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(tracedb_reader_freep) struct tracedb_reader *r = NULL, *again = NULL;
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	struct tracedb_writer w;
	size_t n;

	if (tracedb_reader_new_memory(&r, data, size) != 0)
		return 0;
	assert(tracedb_writer_begin(&w, &b, tracedb_reader_layout(r),
				    tracedb_reader_dictionary(r)) == 0);
	n = read_all(r, &w);
	store_all(data, size);
	/* (without names, a file can be too small to be recognised as W16) */
	if (tracedb_reader_new_memory(&again, b.data, b.size) == 0 &&
	    tracedb_reader_layout(again) == tracedb_reader_layout(r))
		assert(read_all(again, NULL) == n);
	return 0;
}
