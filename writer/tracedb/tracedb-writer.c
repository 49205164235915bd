/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/tracedb/tracedb-writer.h"

#include <errno.h>
#include <string.h>

#include "writer/tracedb/tracedb-wire.h"

/* Removes the output since BEGIN. */
static int tracedb_writer_undo(struct tracedb_writer *w, size_t begin, int error)
{
	w->out->size = begin;
	return error;
}

/* Writes VALUE in its lowest WIDTH bytes; WIDTH is 0 to 8. */
static int tracedb_writer_put(struct tracedb_writer *w, uint64_t value, unsigned width)
{
	uint8_t *to = outbuf_reserve(w->out, width);

	if (!to)
		return w->out->error;
	for (unsigned i = 0; i < width; i++)
		to[i] = (uint8_t)(value >> 8 * i);
	return 0;
}

/* Like tracedb_writer_put(), but fails if the number does not fit. */
static int tracedb_writer_number(struct tracedb_writer *w, uint64_t value, unsigned width)
{
	if (width < 8 && value >> 8 * width)
		return -EOVERFLOW;
	return tracedb_writer_put(w, value, width);
}

/* ---- the dictionary ---- */

static int tracedb_writer_names(struct tracedb_writer *w)
{
	const struct tracedb_dictionary *d = &w->dictionary;
	uint64_t bytes = 0;
	int r;

	for (size_t i = 0; i < d->n_names; i++)
		bytes += strlen(d->names[i]) + 1;
	if (bytes > TRACEDB_BYTES_MAX)
		return -EOVERFLOW;
	r = tracedb_writer_number(w, bytes, tracedb_widths[w->layout].names_bytes);
	for (size_t i = 0; r == 0 && i < d->n_names; i++)
		r = outbuf_append(w->out, d->names[i], strlen(d->names[i]) + 1);
	return r;
}

static int tracedb_writer_type(struct tracedb_writer *w, const struct tracedb_type *type)
{
	const struct tracedb_widths *widths = &tracedb_widths[w->layout];
	int r;

	if (type->name >= w->dictionary.n_names || !tracedb_size_is_valid(type->format, type->size))
		return -EINVAL;
	r = tracedb_writer_number(w, type->name, widths->type_name)
		    ?: tracedb_writer_put(w, 0, widths->type_name_pad)
			    ?: tracedb_writer_put(w, type->format, 4);
	return r ?: tracedb_writer_number(w, type->size, widths->type_size)
			    ?: tracedb_writer_put(w, 0, widths->type_size_pad);
}

int tracedb_writer_begin(struct tracedb_writer *w, struct outbuf *out, enum tracedb_layout layout,
			 const struct tracedb_dictionary *dictionary)
{
	size_t begin = out->size;
	int r;

	*w = (struct tracedb_writer){ out, layout, *dictionary };
	if (dictionary->n_types > TRACEDB_TYPES_MAX)
		return -EOVERFLOW;
	r = tracedb_writer_names(w)
		    ?: tracedb_writer_number(w, dictionary->n_types,
					     tracedb_widths[layout].n_types);
	for (size_t i = 0; r == 0 && i < dictionary->n_types; i++)
		r = tracedb_writer_type(w, &dictionary->types[i]);
	return r < 0 ? tracedb_writer_undo(w, begin, r) : 0;
}

/* ---- points ---- */

static int tracedb_writer_float(struct tracedb_writer *w, const struct tracedb_value *v)
{
	float narrow = (float)v->f;

	return v->size == sizeof(narrow) ? outbuf_append(w->out, &narrow, sizeof(narrow))
					 : outbuf_append(w->out, &v->f, sizeof(v->f));
}

/* Writes the bytes of a value that has the size of its type. */
static int tracedb_writer_value(struct tracedb_writer *w, const struct tracedb_value *v,
				uint32_t format)
{
	switch (format) {
	case TRACEDB_BLOB:
		return outbuf_append(w->out, v->bytes, v->size);
	case TRACEDB_FLOAT:
		return tracedb_writer_float(w, v);
	case TRACEDB_SIGNED:
		if (v->size < 8 &&
		    v->s != (int64_t)((uint64_t)v->s << (64 - 8 * v->size)) >> (64 - 8 * v->size))
			return -EOVERFLOW;
		return tracedb_writer_put(w, (uint64_t)v->s, v->size);
	default:
		return tracedb_writer_number(w, v->u, v->size);
	}
}

static int tracedb_writer_variable(struct tracedb_writer *w, const struct tracedb_value *v)
{
	const struct tracedb_widths *widths = &tracedb_widths[w->layout];
	const struct tracedb_type *type;
	int r;

	if (v->name >= w->dictionary.n_names || v->type >= w->dictionary.n_types)
		return -EINVAL;
	type = &w->dictionary.types[v->type];
	if ((type->size != 0 && v->size != type->size) || v->size > TRACEDB_BYTES_MAX)
		return -EINVAL;
	r = tracedb_writer_number(w, v->name, widths->number)
		    ?: tracedb_writer_number(w, v->type, widths->number);
	if (r == 0 && type->size == 0)
		r = tracedb_writer_number(w, v->size, widths->size);
	return r ?: tracedb_writer_value(w, v, type->format);
}

static int tracedb_writer_entry(struct tracedb_writer *w, const struct tracedb_entry *e)
{
	int r = tracedb_writer_put(w, e->tag, 1);

	if (r < 0)
		return r;
	switch (e->tag) {
	case TRACEDB_STATEMENT:
		/* (other writers refuse 0, too) */
		return e->statement == 0
			       ? -EINVAL
			       : tracedb_writer_number(w, e->statement,
						       tracedb_widths[w->layout].statement);
	case TRACEDB_VARIABLE:
		return tracedb_writer_variable(w, &e->variable);
	case TRACEDB_BUFFER:
		return tracedb_writer_put(w, e->buffer.address, 8)
			       ?: tracedb_writer_put(w, e->buffer.size, 8);
	case TRACEDB_AUXILIARY:
		return tracedb_writer_put(w, e->auxiliary, 8);
	default:
		return -EINVAL;
	}
}

int tracedb_writer_point(struct tracedb_writer *w, const struct tracedb_point *point)
{
	size_t begin = w->out->size;
	int r = point->n_entries > TRACEDB_ENTRIES_MAX ? -EINVAL : 0;

	for (size_t i = 0; r == 0 && i < point->n_entries; i++)
		r = tracedb_writer_entry(w, &point->entries[i]);
	r = r ?: tracedb_writer_put(w, TRACEDB_END, 1);
	return r < 0 ? tracedb_writer_undo(w, begin, r) : 0;
}
