/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/tracedb/tracedb-check.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/common/verb.h"
#include "cli/tracedb/tracedb-dump.h"
#include "reader/tracedb/tracedb-map.h"

const struct finding_kind tracedb_finding_kinds[TRACEDB_FINDING_MAX] = {
	[TRACEDB_FINDING_DAMAGED] = { FINDING_ERROR, "tracedb-damaged",
				      "the file cannot be read further",
				      "Points follow each other without a marker. So nothing shows where the next "
				      "point begins after damage. All points before it were read. Other readers read "
				      "none." },
	[TRACEDB_FINDING_CONTAINER] = { FINDING_ERROR, "tracedb-container",
					"the container of the file is damaged",
					"The file cannot be decompressed further, or it is truncated. The points before "
					"that were read." },
	[TRACEDB_FINDING_NO_STATEMENT] = { FINDING_WARNING, "tracedb-no-statement",
					   "a point has no statement",
					   "Other readers give it the statement of the point before it, or an undefined "
					   "one. For kymo it has statement 0." },
	[TRACEDB_FINDING_STATEMENTS] = { FINDING_WARNING, "tracedb-statements",
					 "a point has more than one statement",
					 "A point is one place in a program. The last statement counts." },
	[TRACEDB_FINDING_STATEMENT_0] = { FINDING_WARNING, "tracedb-statement-0",
					  "a point has statement 0",
					  "Writers do not write it, and a query cannot select it." },
	[TRACEDB_FINDING_LATE_BUFFER] = { FINDING_WARNING, "tracedb-late-buffer",
					  "a buffer follows a pointer into it",
					  "The size of a buffer applies to the pointers after it. A pointer before it, in "
					  "the same point, has an older size or none." },
	[TRACEDB_FINDING_FIXED_BLOB] = { FINDING_NOTE, "tracedb-fixed-blob",
					 "a type of blobs has a size",
					 "The library of the format's authors writes a size with such a blob, and does not "
					 "read it. kymo follows the specification: the blob has no size of its own." },
	[TRACEDB_FINDING_POINTER] = { FINDING_NOTE, "tracedb-pointer-size",
				      "a type of pointers has fewer than 8 bytes",
				      "The library of the format's authors writes each pointer with 8 bytes." },
};

_Static_assert(TRACEDB_FINDING_MAX <= FINDING_COUNTS_MAX, "each kind is counted");

/* The size with which a pointer is put into the map of pointers. The size that is left at an
 * address then gives the distance from the pointer to the address. */
#define POINTER_REACH (UINT64_MAX - 1)

static void tracedb_check_types(struct finding_counts *c, const struct tracedb_dictionary *d)
{
	for (size_t i = 0; i < d->n_types; i++) {
		if (d->types[i].format == TRACEDB_BLOB && d->types[i].size > 0)
			finding_counts_add(c, TRACEDB_FINDING_FIXED_BLOB, 0);
		if (d->types[i].format == TRACEDB_POINTER && d->types[i].size < 8)
			finding_counts_add(c, TRACEDB_FINDING_POINTER, 0);
	}
}

static bool tracedb_check_has_buffer(const struct tracedb_point *p)
{
	for (size_t i = 0; i < p->n_entries; i++)
		if (p->entries[i].tag == TRACEDB_BUFFER)
			return true;
	return false;
}

/* Returns true if one of the POINTERS, each of which reaches to the end of memory, is in BUFFER. */
static bool tracedb_check_is_late(struct tracedb_map *pointers, const struct tracedb_entry *buffer)
{
	uint64_t last = buffer->buffer.address + buffer->buffer.size - 1, left;

	if (buffer->buffer.size == 0)
		return false;
	if (last < buffer->buffer.address)
		last = UINT64_MAX;
	left = tracedb_map_size(pointers, last);
	return left != TRACEDB_NO_SIZE && POINTER_REACH - left <= last - buffer->buffer.address;
}

/* Finds out whether a buffer of P comes after a pointer into this buffer. Returns 1, 0 or -ENOMEM.
 */
static int tracedb_check_late(const struct tracedb_dictionary *d, const struct tracedb_point *p)
{
	_cleanup_(tracedb_map_deinit) struct tracedb_map pointers = { 0 };
	int r = 0;

	if (!tracedb_check_has_buffer(p))
		return 0;
	for (size_t i = 0; r == 0 && i < p->n_entries; i++) {
		const struct tracedb_entry *e = &p->entries[i];

		if (e->tag == TRACEDB_BUFFER)
			r = tracedb_check_is_late(&pointers, e);
		else if (e->tag == TRACEDB_VARIABLE &&
			 d->types[e->variable.type].format == TRACEDB_POINTER)
			r = tracedb_map_set(&pointers, e->variable.u, POINTER_REACH);
	}
	return r;
}

/* Checks a point. Returns 0 or -ENOMEM. */
static int tracedb_check_point(struct finding_counts *c, const struct tracedb_dictionary *d,
			       const struct tracedb_point *p, uint64_t offset)
{
	unsigned statements = 0;
	bool zero = false;
	int late = tracedb_check_late(d, p);

	for (size_t i = 0; i < p->n_entries; i++) {
		const struct tracedb_entry *e = &p->entries[i];

		statements += e->tag == TRACEDB_STATEMENT;
		zero |= e->tag == TRACEDB_STATEMENT && e->statement == 0;
	}
	if (statements != 1)
		finding_counts_add(
			c, statements ? TRACEDB_FINDING_STATEMENTS : TRACEDB_FINDING_NO_STATEMENT,
			offset);
	if (zero)
		finding_counts_add(c, TRACEDB_FINDING_STATEMENT_0, offset);
	if (late > 0)
		finding_counts_add(c, TRACEDB_FINDING_LATE_BUFFER, offset);
	return late < 0 ? late : 0;
}

static void tracedb_check_print(const struct finding_counts *c, const struct open_trace *t,
				uint64_t points)
{
	uint64_t errors = finding_counts_of(c, FINDING_ERROR);
	uint64_t warnings = finding_counts_of(c, FINDING_WARNING);
	const char *packed = open_trace_packed(t);

	if (c->json) {
		finding_counts_print_json(
			c, JSON_OBJECT(JSON("format", "tracedb"),
				       JSON("layout", tracedb_dump_layout(t)),
				       JSON("compression", *packed ? packed : "none"),
				       JSON("bytes", tracedb_reader_offset(t->points)),
				       JSON("points", points)));
		return;
	}
	finding_counts_print(c);
	printf("%s: trace points (trace-db, %s), %s, %s, %" PRIu64 " point%s, %" PRIu64
	       " error%s, %" PRIu64 " warning%s\n",
	       t->name, tracedb_dump_layout(t), *packed ? packed : "not packed",
	       TEXT_SIZE(tracedb_reader_offset(t->points)), points, text_s(points), errors,
	       text_s(errors), warnings, text_s(warnings));
}

int tracedb_check(struct finding_counts *c, struct open_trace *t)
{
	const struct tracedb_dictionary *d = tracedb_reader_dictionary(t->points);
	uint64_t points = 0, offset = tracedb_reader_offset(t->points);
	const struct tracedb_point *point;
	int r;

	tracedb_check_types(c, d);
	for (; (r = open_trace_next_point(t, &point)) > 0; points++) {
		if (tracedb_check_point(c, d, point, offset) < 0)
			return cli_failed("out of memory");
		offset = tracedb_reader_offset(t->points);
	}
	if (t->n_damages > 0)
		finding_counts_add(c,
				   t->container_damaged ? TRACEDB_FINDING_CONTAINER
							: TRACEDB_FINDING_DAMAGED,
				   tracedb_reader_offset(t->points));
	tracedb_check_print(c, t, points);
	return r < 0 ? CLI_FAILED : finding_counts_exit(c);
}
