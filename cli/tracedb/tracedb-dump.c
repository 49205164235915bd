/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/tracedb/tracedb-dump.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/common/verb.h"
#include "cli/tracedb/tracedb-text.h"

const char *tracedb_dump_layout(const struct open_trace *t)
{
	return tracedb_reader_layout(t->points) == TRACEDB_W64 ? "W64" : "W16";
}

/* ---- the dictionary ---- */

static void tracedb_dump_head(const struct open_trace *t, const struct tracedb_dictionary *d)
{
	printf("layout %s, %zu name%s, %zu type%s\n", tracedb_dump_layout(t), d->n_names,
	       text_s(d->n_names), d->n_types, text_s(d->n_types));
	for (uint32_t i = 0; i < d->n_types; i++) {
		printf("type %" PRIu32 " %s %s ", i, tracedb_text_type(d, i),
		       tracedb_text_format(d->types[i].format));
		if (d->types[i].size == 0)
			printf("of any size\n");
		else
			printf("%" PRIu32 " byte%s\n", d->types[i].size, text_s(d->types[i].size));
	}
}

static void tracedb_dump_head_json(const struct open_trace *t, const struct tracedb_dictionary *d)
{
	json_print_line(JSON_OBJECT(
		JSON("type", "head"), JSON("layout", tracedb_dump_layout(t)),
		JSON("names", JSON_LIST(name, d->names, d->n_names, json_from_text(*name)))));
	for (uint32_t i = 0; i < d->n_types; i++)
		json_print_line(
			JSON_OBJECT(JSON("type", "type"), JSON("number", i),
				    JSON("name", json_from_text(d->names[d->types[i].name])),
				    JSON("format", tracedb_text_format(d->types[i].format)),
				    JSON_IF(d->types[i].size, "bytes", d->types[i].size)));
}

/* ---- points ---- */

static void tracedb_dump_entry(const struct tracedb_dictionary *d, const struct tracedb_entry *e)
{
	switch (e->tag) {
	case TRACEDB_STATEMENT:
		printf("    statement 0x%" PRIx64 "\n", e->statement);
		return;
	case TRACEDB_BUFFER:
		printf("    buffer 0x%" PRIx64, e->buffer.address);
		if (e->buffer.size > 0)
			printf(" of %" PRIu64 " byte%s\n", e->buffer.size, text_s(e->buffer.size));
		else
			printf(" removed\n");
		return;
	case TRACEDB_VARIABLE:
		printf("    %s %s = ", tracedb_text_type(d, e->variable.type),
		       tracedb_text_name(d, e->variable.name));
		tracedb_text_print_value(d, &e->variable);
		putchar('\n');
		return;
	default:
		printf("    auxiliary 0x%" PRIx64 "\n", e->auxiliary);
	}
}

static struct json_object *tracedb_dump_entry_json(const struct tracedb_dictionary *d,
						   const struct tracedb_entry *e)
{
	switch (e->tag) {
	case TRACEDB_STATEMENT:
		return JSON_OBJECT(JSON("statement", e->statement));
	case TRACEDB_BUFFER:
		return JSON_OBJECT(JSON("buffer", e->buffer.address),
				   JSON("bytes", e->buffer.size));
	case TRACEDB_VARIABLE:
		return JSON_OBJECT(JSON("variable", tracedb_text_json(d, &e->variable)));
	default:
		return JSON_OBJECT(JSON("auxiliary", e->auxiliary));
	}
}

static void tracedb_dump_point(const struct tracedb_dictionary *d, uint64_t no, uint64_t offset,
			       const struct tracedb_point *p, bool json)
{
	if (json) {
		json_print_line(JSON_OBJECT(
			JSON("type", "point"), JSON("point", no), JSON("offset", offset),
			JSON("entries", JSON_LIST(e, p->entries, p->n_entries,
						  tracedb_dump_entry_json(d, e)))));
		return;
	}
	printf("point %" PRIu64 "\n", no);
	for (size_t i = 0; i < p->n_entries; i++)
		tracedb_dump_entry(d, &p->entries[i]);
}

int tracedb_dump(struct open_trace *t, bool json)
{
	const struct tracedb_dictionary *d = tracedb_reader_dictionary(t->points);
	const struct tracedb_point *point;
	uint64_t offset = tracedb_reader_offset(t->points);
	int r;

	if (json)
		tracedb_dump_head_json(t, d);
	else
		tracedb_dump_head(t, d);
	for (uint64_t no = 0; (r = open_trace_next_point(t, &point)) > 0; no++) {
		tracedb_dump_point(d, no, offset, point, json);
		offset = tracedb_reader_offset(t->points);
		/* If the reader of standard output has closed it, this is no failure. */
		if (ferror(stdout))
			return CLI_OK;
	}
	return r < 0 ? CLI_FAILED : open_trace_finish(t);
}
