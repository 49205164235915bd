/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/outbuf.h"
#include "libkymo/kymo.h"
#include "writer/tracedb/tracedb-writer.h"

struct kymo_writer {
	enum tracedb_layout layout;
	char **names; /* array and strings are owned */
	size_t n_names, names_room;
	struct tracedb_type *types; /* owned */
	size_t n_types, types_room;
	bool begun;
	struct tracedb_writer writer;
	struct outbuf out;
	/* The current point: */
	struct tracedb_entry *entries; /* owned */
	size_t n_entries, entries_room;
	int error; /* the first error */
};

int kymo_writer_new(kymo_writer **ret, enum kymo_layout layout)
{
	kymo_writer *w;

	if (layout != KYMO_LAYOUT_W16 && layout != KYMO_LAYOUT_W64)
		return -EINVAL;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->layout = (enum tracedb_layout)layout;
	*ret = w;
	return 0;
}

kymo_writer *kymo_writer_free(kymo_writer *w)
{
	if (!w)
		return NULL;
	for (size_t i = 0; i < w->n_names; i++)
		free(w->names[i]);
	free(w->names);
	free(w->types);
	free(w->entries);
	outbuf_deinit(&w->out);
	free(w);
	return NULL;
}

/* ---- names and types ---- */

int kymo_writer_add_name(kymo_writer *w, const char *name)
{
	char *copy;

	if (w->begun)
		return -EBUSY;
	if (w->n_names == TRACEDB_BYTES_MAX)
		return -EMSGSIZE;
	copy = GROW(w->names, w->names_room, w->n_names + 1) < 0 ? NULL : strdup(name);
	if (!copy)
		return -ENOMEM;
	w->names[w->n_names] = copy;
	return (int)w->n_names++;
}

int kymo_writer_add_type(kymo_writer *w, int name, enum kymo_format format, uint32_t size)
{
	if (w->begun)
		return -EBUSY;
	if (name < 0 || (size_t)name >= w->n_names || !tracedb_size_is_valid(format, size))
		return -EINVAL;
	if (w->n_types == TRACEDB_TYPES_MAX)
		return -EMSGSIZE;
	if (GROW(w->types, w->types_room, w->n_types + 1) < 0)
		return -ENOMEM;
	w->types[w->n_types] = (struct tracedb_type){ (uint32_t)name, format, size };
	return (int)w->n_types++;
}

int kymo_writer_begin(kymo_writer *w)
{
	const struct tracedb_dictionary dictionary = { (const char *const *)w->names, w->n_names,
						       w->types, w->n_types };
	int r;

	if (w->begun)
		return -EBUSY;
	r = tracedb_writer_begin(&w->writer, &w->out, w->layout, &dictionary);
	w->out.error = 0;
	w->begun = r == 0;
	return r;
}

/* ---- points ---- */

static int kymo_writer_fail(kymo_writer *w, int error)
{
	w->error = w->error ?: error;
	return error;
}

static int kymo_writer_entry(kymo_writer *w, const struct tracedb_entry *entry)
{
	if (w->n_entries == TRACEDB_ENTRIES_MAX)
		return kymo_writer_fail(w, -EMSGSIZE);
	if (GROW(w->entries, w->entries_room, w->n_entries + 1) < 0)
		return kymo_writer_fail(w, -ENOMEM);
	w->entries[w->n_entries++] = *entry;
	return 0;
}

int kymo_writer_statement(kymo_writer *w, uint64_t statement)
{
	return kymo_writer_entry(w, &(struct tracedb_entry){ .tag = TRACEDB_STATEMENT,
							     .statement = statement });
}

int kymo_writer_buffer(kymo_writer *w, uint64_t address, uint64_t size)
{
	return kymo_writer_entry(w, &(struct tracedb_entry){ .tag = TRACEDB_BUFFER,
							     .buffer = { address, size } });
}

int kymo_writer_auxiliary(kymo_writer *w, uint64_t value)
{
	return kymo_writer_entry(w, &(struct tracedb_entry){ .tag = TRACEDB_AUXILIARY,
							     .auxiliary = value });
}

/* Adds V, a value of FORMAT, with NAME and TYPE. Its size is that of the type, unless V is a blob.
 * Returns 0 or a negative errno. */
static int kymo_writer_variable(kymo_writer *w, int name, int type, enum tracedb_format format,
				struct tracedb_value v)
{
	if (name < 0 || (size_t)name >= w->n_names || type < 0 || (size_t)type >= w->n_types ||
	    w->types[type].format != format)
		return kymo_writer_fail(w, -EINVAL);
	v.name = (uint32_t)name;
	v.type = (uint32_t)type;
	if (format != TRACEDB_BLOB)
		v.size = w->types[type].size;
	return kymo_writer_entry(w,
				 &(struct tracedb_entry){ .tag = TRACEDB_VARIABLE, .variable = v });
}

int kymo_writer_unsigned(kymo_writer *w, int name, int type, uint64_t value)
{
	return kymo_writer_variable(w, name, type, TRACEDB_UNSIGNED,
				    (struct tracedb_value){ .u = value });
}

int kymo_writer_signed(kymo_writer *w, int name, int type, int64_t value)
{
	return kymo_writer_variable(w, name, type, TRACEDB_SIGNED,
				    (struct tracedb_value){ .s = value });
}

int kymo_writer_float(kymo_writer *w, int name, int type, double value)
{
	return kymo_writer_variable(w, name, type, TRACEDB_FLOAT,
				    (struct tracedb_value){ .f = value });
}

int kymo_writer_pointer(kymo_writer *w, int name, int type, uint64_t value)
{
	return kymo_writer_variable(w, name, type, TRACEDB_POINTER,
				    (struct tracedb_value){ .u = value });
}

int kymo_writer_blob(kymo_writer *w, int name, int type, const void *p, size_t n)
{
	if (n > TRACEDB_BYTES_MAX)
		return kymo_writer_fail(w, -EINVAL);
	return kymo_writer_variable(w, name, type, TRACEDB_BLOB,
				    (struct tracedb_value){ .size = (uint32_t)n,
							    .bytes = n > 0 ? p : "" });
}

int kymo_writer_end_point(kymo_writer *w)
{
	const struct tracedb_point point = { w->entries, w->n_entries };
	int r = w->error;

	if (r == 0)
		r = w->begun ? tracedb_writer_point(&w->writer, &point) : -EINVAL;
	/* (once the caller has taken bytes, there is room again) */
	w->out.error = 0;
	w->n_entries = 0;
	w->error = 0;
	return r;
}

/* ---- bytes ---- */

const void *kymo_writer_bytes(const kymo_writer *w, size_t *ret_size)
{
	*ret_size = w->out.size;
	return w->out.data;
}

void kymo_writer_take(kymo_writer *w)
{
	outbuf_reset(&w->out);
}

int kymo_writer_flush(kymo_writer *w, int fd)
{
	size_t done = 0;
	int r = 0;

	while (done < w->out.size && r == 0) {
		ssize_t n = write(fd, w->out.data + done, w->out.size - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			r = -errno;
	}
	/* The next call writes the remaining data. */
	if (done > 0)
		memmove(w->out.data, w->out.data + done, w->out.size - done);
	w->out.size -= done;
	return r;
}
