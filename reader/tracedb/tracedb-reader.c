/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/tracedb/tracedb-reader.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/outbuf.h"
#include "writer/tracedb/tracedb-wire.h"

struct tracedb_reader {
	struct input in;
	enum tracedb_layout layout;
	struct tracedb_dictionary dictionary;
	char *names_block;  /* NUL-terminated names, consecutive; owned */
	const char **names; /* owned, like the types */
	struct tracedb_type *types;
	struct tracedb_entry *entries; /* entries of the point; owned */
	size_t n_entries, room;
	struct outbuf blobs; /* all blobs of the point */
	bool has_blobs;      /* the point has blobs */
	struct tracedb_point point;
	struct tracedb_damage damage;
	bool ended;
};

/* Returns the number in the lowest WIDTH bytes at P. Common widths are loaded at once. */
static inline uint64_t tracedb_reader_number(const uint8_t *p, unsigned width)
{
	uint64_t value = 0;
	uint32_t half;

	if (width == sizeof(value)) {
		memcpy(&value, p, sizeof(value));
		return le64toh(value);
	}
	if (width == sizeof(half)) {
		memcpy(&half, p, sizeof(half));
		return le32toh(half);
	}
	for (unsigned i = 0; i < width; i++)
		value |= (uint64_t)p[i] << 8 * i;
	return value;
}

/* ---- dictionary ---- */

/* The positions of the parts of a dictionary, from its beginning. */
struct tracedb_extent {
	uint64_t names_bytes, names_at, n_types, types_at, end;
};

/*
 * Finds out whether the input can be a dictionary in LAYOUT, judging by its sizes. Returns 1, 0, or
 * a negative errno. After 1, the whole dictionary is in the input's buffer.
 */
static int tracedb_reader_measure(struct tracedb_reader *r, enum tracedb_layout layout,
				  struct tracedb_extent *ret)
{
	const struct tracedb_widths *w = &tracedb_widths[layout];
	int got = input_need(&r->in, w->names_bytes);

	if (got <= 0)
		return got;
	ret->names_bytes = tracedb_reader_number(input_peek(&r->in), w->names_bytes);
	ret->names_at = w->names_bytes;
	if (ret->names_bytes > TRACEDB_BYTES_MAX)
		return 0;
	ret->types_at = ret->names_at + ret->names_bytes + w->n_types;
	got = input_need(&r->in, ret->types_at);
	if (got <= 0)
		return got;
	ret->n_types =
		tracedb_reader_number(input_peek(&r->in) + ret->types_at - w->n_types, w->n_types);
	if (ret->n_types > TRACEDB_TYPES_MAX)
		return 0;
	ret->end = ret->types_at + ret->n_types * TRACEDB_TYPE_BYTES;
	return input_need(&r->in, ret->end);
}

/* Reads the names. Returns 1, 0 if they are not terminated properly, or -ENOMEM. */
static int tracedb_reader_read_names(struct tracedb_reader *r, const struct tracedb_extent *at)
{
	const char *from = (const char *)input_peek(&r->in) + at->names_at;
	size_t n = 0;

	if (at->names_bytes > 0 && from[at->names_bytes - 1] != '\0')
		return 0;
	for (uint64_t i = 0; i < at->names_bytes; i++)
		n += from[i] == '\0';
	r->names_block = malloc(at->names_bytes + 1);
	r->names = calloc(n + 1, sizeof(*r->names));
	if (!r->names_block || !r->names)
		return -ENOMEM;
	memcpy(r->names_block, from, at->names_bytes);
	for (size_t i = 0, offset = 0; i < n; i++) {
		r->names[i] = r->names_block + offset;
		offset += strlen(r->names[i]) + 1;
	}
	r->dictionary.names = r->names;
	r->dictionary.n_names = n;
	return 1;
}

static struct tracedb_type tracedb_reader_type(const uint8_t *p, const struct tracedb_widths *w)
{
	const uint8_t *format = p + w->type_name + w->type_name_pad;

	return (struct tracedb_type){
		.name = (uint32_t)tracedb_reader_number(p, w->type_name),
		.format = (uint32_t)tracedb_reader_number(format, 4),
		.size = (uint32_t)tracedb_reader_number(format + 4, w->type_size),
	};
}

/* Reads the types. Returns 1, 0 if one of them is invalid, or -ENOMEM. */
static int tracedb_reader_read_types(struct tracedb_reader *r, enum tracedb_layout layout,
				     const struct tracedb_extent *at)
{
	const uint8_t *from = input_peek(&r->in) + at->types_at;

	r->types = calloc(at->n_types + 1, sizeof(*r->types));
	if (!r->types)
		return -ENOMEM;
	for (size_t i = 0; i < at->n_types; i++) {
		struct tracedb_type *type = &r->types[i];

		*type = tracedb_reader_type(from + i * TRACEDB_TYPE_BYTES, &tracedb_widths[layout]);
		if (type->name >= r->dictionary.n_names ||
		    !tracedb_size_is_valid(type->format, type->size))
			return 0;
	}
	r->dictionary.types = r->types;
	r->dictionary.n_types = at->n_types;
	return 1;
}

static void tracedb_reader_drop_dictionary(struct tracedb_reader *r)
{
	free(r->names_block);
	free(r->names);
	free(r->types);
	r->names_block = NULL;
	r->names = NULL;
	r->types = NULL;
	r->dictionary = (struct tracedb_dictionary){ 0 };
}

/*
 * Copies the dictionary in LAYOUT. Returns 1, 0 if the input has no such dictionary, or a negative
 * errno.
 */
static int tracedb_reader_try(struct tracedb_reader *r, enum tracedb_layout layout,
			      struct tracedb_extent *at)
{
	int got = tracedb_reader_measure(r, layout, at);

	if (got > 0)
		got = tracedb_reader_read_names(r, at);
	if (got > 0)
		got = tracedb_reader_read_types(r, layout, at);
	if (got <= 0)
		tracedb_reader_drop_dictionary(r);
	r->layout = layout;
	return got;
}

/*
 * Tries both layouts. No dictionary fits both: in W16, the first eight bytes contain letters, which
 * would be an invalid size in W64.
 */
static int tracedb_reader_try_both(struct tracedb_reader *r, struct tracedb_extent *at)
{
	return tracedb_reader_try(r, TRACEDB_W64, at) ?: tracedb_reader_try(r, TRACEDB_W16, at);
}

static int tracedb_reader_begin(struct tracedb_reader *r)
{
	struct tracedb_extent at;
	int got = tracedb_reader_try_both(r, &at);

	if (got > 0)
		input_consume(&r->in, at.end);
	return got < 0 ? got : got > 0 ? 0 : TRACEDB_ALIEN;
}

int tracedb_reader_is_trace(struct input *in)
{
	struct tracedb_reader r = { .in = *in };
	struct tracedb_extent at;
	int got = tracedb_reader_try_both(&r, &at), more;

	if (got > 0 && r.dictionary.n_names == 0) {
		more = input_need(&r.in, at.end + 1);
		if (more < 0)
			got = more;
		else if (more > 0)
			got = input_peek(&r.in)[at.end] != TRACEDB_END &&
			      input_peek(&r.in)[at.end] < TRACEDB_TAGS;
	}
	tracedb_reader_drop_dictionary(&r);
	*in = r.in;
	return got;
}

/* ---- object ---- */

static int tracedb_reader_start(struct tracedb_reader **ret, struct tracedb_reader *r, int error)
{
	if (error == 0)
		error = tracedb_reader_begin(r);
	if (error != 0)
		tracedb_reader_free(r);
	else
		*ret = r;
	return error;
}

int tracedb_reader_new_source(struct tracedb_reader **ret, input_read_fn read, void *source)
{
	struct tracedb_reader *r = calloc(1, sizeof(*r));

	return r ? tracedb_reader_start(ret, r, input_init_source(&r->in, read, source)) : -ENOMEM;
}

int tracedb_reader_new_memory(struct tracedb_reader **ret, const void *p, size_t n)
{
	struct tracedb_reader *r = calloc(1, sizeof(*r));

	return r ? tracedb_reader_start(ret, r, input_init_memory(&r->in, p, n)) : -ENOMEM;
}

struct tracedb_reader *tracedb_reader_free(struct tracedb_reader *r)
{
	if (!r)
		return NULL;
	tracedb_reader_drop_dictionary(r);
	input_deinit(&r->in);
	outbuf_deinit(&r->blobs);
	free(r->entries);
	free(r);
	return NULL;
}

/* ---- points ---- */

static int tracedb_reader_bad(struct tracedb_reader *r, uint64_t offset, const char *what,
			      bool truncated)
{
	r->damage = (struct tracedb_damage){ offset, what, truncated };
	r->ended = true;
	return TRACEDB_DAMAGE;
}

static int tracedb_reader_fill(struct tracedb_reader *r, size_t n, uint64_t offset)
{
	int got = input_fill(&r->in, n);

	if (got == 0)
		return tracedb_reader_bad(r, offset, "the trace ends within a point", true);
	return got < 0 ? got : 0;
}

/* Makes N bytes available. Returns 0, TRACEDB_DAMAGE if the stream ends earlier, or a negative
 * errno. */
static inline int tracedb_reader_need(struct tracedb_reader *r, size_t n, uint64_t offset)
{
	return input_ready(&r->in) >= n ? 0 : tracedb_reader_fill(r, n, offset);
}

/* Consumes the next WIDTH bytes as a number. Returns as tracedb_reader_need(). */
static inline int tracedb_reader_read_number(struct tracedb_reader *r, unsigned width,
					     uint64_t offset, uint64_t *ret)
{
	int e = tracedb_reader_need(r, width, offset);

	if (e == 0)
		*ret = tracedb_reader_number(input_consume(&r->in, width), width);
	return e;
}

static double tracedb_reader_float(const uint8_t *p, uint32_t size)
{
	double wide;
	float narrow;

	if (size == sizeof(wide)) {
		memcpy(&wide, p, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, p, sizeof(narrow));
	return (double)narrow;
}

/*
 * Consumes the SIZE available bytes as a value of FORMAT. The pointer to a blob's bytes is set at
 * the end of the point, since the buffer of blobs can move until then.
 */
static int tracedb_reader_value(struct tracedb_reader *r, uint32_t format, struct tracedb_value *v)
{
	const uint8_t *p = input_consume(&r->in, v->size);
	unsigned unused = 64 - 8 * v->size;

	switch (format) {
	case TRACEDB_BLOB:
		v->u = r->blobs.size;
		r->has_blobs = true;
		return outbuf_append(&r->blobs, p, v->size);
	case TRACEDB_FLOAT:
		v->f = tracedb_reader_float(p, v->size);
		return 0;
	case TRACEDB_SIGNED:
		v->s = (int64_t)(tracedb_reader_number(p, v->size) << unused) >> unused;
		return 0;
	default:
		v->u = tracedb_reader_number(p, v->size);
		return 0;
	}
}

/* Consumes the name, the type and the size of a variable. */
static int tracedb_reader_variable_head(struct tracedb_reader *r, uint64_t offset,
					struct tracedb_value *v)
{
	const struct tracedb_widths *w = &tracedb_widths[r->layout];
	uint64_t name, type, size;
	int e = tracedb_reader_read_number(r, w->number, offset, &name)
			?: tracedb_reader_read_number(r, w->number, offset, &type);

	if (e != 0)
		return e;
	if (name >= r->dictionary.n_names)
		return tracedb_reader_bad(r, offset,
					  "a variable whose name is not in the dictionary", false);
	if (type >= r->dictionary.n_types)
		return tracedb_reader_bad(r, offset,
					  "a variable whose type is not in the dictionary", false);
	size = r->types[type].size;
	if (size == 0)
		e = tracedb_reader_read_number(r, w->size, offset, &size);
	if (e == 0 && size + r->blobs.size > TRACEDB_BYTES_MAX)
		return tracedb_reader_bad(r, offset, "a point of more than 64 MiB", false);
	v->name = (uint32_t)name;
	v->type = (uint32_t)type;
	v->size = (uint32_t)size;
	return e;
}

static int tracedb_reader_variable(struct tracedb_reader *r, uint64_t offset,
				   struct tracedb_value *v)
{
	int e = tracedb_reader_variable_head(r, offset, v)
			?: tracedb_reader_need(r, v->size, offset);

	return e ?: tracedb_reader_value(r, r->types[v->type].format, v);
}

/* Consumes the part of an entry after its tag. Returns 0, TRACEDB_DAMAGE or a negative errno. */
static int tracedb_reader_entry(struct tracedb_reader *r, uint64_t offset, struct tracedb_entry *e)
{
	switch (e->tag) {
	case TRACEDB_STATEMENT:
		return tracedb_reader_read_number(r, tracedb_widths[r->layout].statement, offset,
						  &e->statement);
	case TRACEDB_VARIABLE:
		return tracedb_reader_variable(r, offset, &e->variable);
	case TRACEDB_BUFFER:
		return tracedb_reader_read_number(r, 8, offset, &e->buffer.address)
			       ?: tracedb_reader_read_number(r, 8, offset, &e->buffer.size);
	case TRACEDB_AUXILIARY:
		return tracedb_reader_read_number(r, 8, offset, &e->auxiliary);
	default:
		return tracedb_reader_bad(r, offset, "an entry of no known kind", false);
	}
}

/* ---- entries that are complete in the buffer ---- */

/* The maximum size of an entry without a blob. */
enum { TRACEDB_READER_QUICK = 32 };

static inline size_t tracedb_reader_quick_variable(const struct tracedb_reader *r,
						   const struct tracedb_widths *w, const uint8_t *p,
						   struct tracedb_value *v)
{
	uint64_t name = tracedb_reader_number(p, w->number);
	uint64_t type = tracedb_reader_number(p + w->number, w->number), bits;
	const struct tracedb_type *t;

	if (name >= r->dictionary.n_names || type >= r->dictionary.n_types)
		return 0;
	t = &r->types[type];
	if (t->format == TRACEDB_BLOB)
		return 0;
	p += 2 * w->number;
	bits = tracedb_reader_number(p, sizeof(bits)) << (64 - 8 * t->size);
	v->name = (uint32_t)name;
	v->type = (uint32_t)type;
	v->size = t->size;
	if (t->format == TRACEDB_FLOAT)
		v->f = tracedb_reader_float(p, t->size);
	else if (t->format == TRACEDB_SIGNED)
		v->s = (int64_t)bits >> (64 - 8 * t->size);
	else
		v->u = bits >> (64 - 8 * t->size);
	return 2 * (size_t)w->number + t->size;
}

/*
 * Parses the entry at P, where TRACEDB_READER_QUICK bytes are available, if it is a common one.
 * Returns the entry's size, or 0 for invalid entries and for entries that tracedb_reader_entry()
 * must parse. Callers pass a constant W, so the compiler makes a copy for each layout.
 */
__attribute__((always_inline)) static inline size_t
tracedb_reader_quick_entry(const struct tracedb_reader *r, const struct tracedb_widths *w,
			   const uint8_t *p, struct tracedb_entry *e)
{
	size_t n;

	e->tag = (enum tracedb_tag) * p;
	switch (*p++) {
	case TRACEDB_STATEMENT:
		e->statement = tracedb_reader_number(p, w->statement);
		return 1 + (size_t)w->statement;
	case TRACEDB_VARIABLE:
		n = tracedb_reader_quick_variable(r, w, p, &e->variable);
		return n > 0 ? 1 + n : 0;
	case TRACEDB_BUFFER:
		e->buffer.address = tracedb_reader_number(p, 8);
		e->buffer.size = tracedb_reader_number(p + 8, 8);
		return 1 + 8 + 8;
	case TRACEDB_AUXILIARY:
		e->auxiliary = tracedb_reader_number(p, 8);
		return 1 + 8;
	default:
		return 0;
	}
}

/* Consumes common entries as long as there are bytes of entries in the buffer, and room in
 * r->entries. */
__attribute__((always_inline)) static inline void
tracedb_reader_read_quick_entries(struct tracedb_reader *r, const struct tracedb_widths *w)
{
	const uint8_t *begin = input_peek(&r->in), *p = begin;
	size_t ready = input_ready(&r->in), n = 1;

	/* tracedb_reader_add_entry() handles the end, and reports too many entries. */
	while (n > 0 && r->n_entries < r->room && r->n_entries < TRACEDB_ENTRIES_MAX &&
	       ready - (size_t)(p - begin) >= TRACEDB_READER_QUICK) {
		n = tracedb_reader_quick_entry(r, w, p, &r->entries[r->n_entries]);
		r->n_entries += n > 0;
		p += n;
	}
	input_consume(&r->in, (size_t)(p - begin));
}

static void tracedb_reader_read_quick(struct tracedb_reader *r)
{
	if (r->layout == TRACEDB_W64)
		tracedb_reader_read_quick_entries(r, &tracedb_widths[TRACEDB_W64]);
	else
		tracedb_reader_read_quick_entries(r, &tracedb_widths[TRACEDB_W16]);
}

static int tracedb_reader_add_entry(struct tracedb_reader *r)
{
	uint64_t offset = r->in.offset, tag;
	struct tracedb_entry *e;
	int error = tracedb_reader_read_number(r, 1, offset, &tag);

	if (error != 0 || tag == TRACEDB_END)
		return error ?: TRACEDB_POINT;
	if (r->n_entries == TRACEDB_ENTRIES_MAX)
		return tracedb_reader_bad(r, offset, "a point of more than a million entries",
					  false);
	if (GROW(r->entries, r->room, r->n_entries + 1) < 0)
		return -ENOMEM;
	/* The entry is parsed in place: copying it directly after writing its fields would stall
	 * the processor. */
	e = &r->entries[r->n_entries];
	e->tag = (enum tracedb_tag)tag;
	error = tracedb_reader_entry(r, offset, e);
	r->n_entries += error == 0;
	return error;
}

/* Sets the pointers to blobs. From now on, r->blobs does not grow, so the bytes do not move. */
static void tracedb_reader_place_blobs(struct tracedb_reader *r)
{
	for (size_t i = 0; i < r->n_entries; i++) {
		struct tracedb_value *v = &r->entries[i].variable;

		if (r->entries[i].tag == TRACEDB_VARIABLE &&
		    r->types[v->type].format == TRACEDB_BLOB)
			v->bytes = v->size > 0 ? r->blobs.data + v->u : (const uint8_t *)"";
	}
}

int tracedb_reader_next(struct tracedb_reader *r, const struct tracedb_point **ret)
{
	int e = r->ended ? 0 : input_need(&r->in, 1);

	if (e <= 0) {
		r->ended = true;
		return e < 0 ? e : TRACEDB_TRACE_END;
	}
	r->n_entries = 0;
	outbuf_reset(&r->blobs);
	r->has_blobs = false;
	do {
		tracedb_reader_read_quick(r);
		e = tracedb_reader_add_entry(r);
	} while (e == 0);
	if (e != TRACEDB_POINT)
		return e;
	if (r->has_blobs)
		tracedb_reader_place_blobs(r);
	r->point = (struct tracedb_point){ r->entries, r->n_entries };
	*ret = &r->point;
	return TRACEDB_POINT;
}

const struct tracedb_damage *tracedb_reader_damage(const struct tracedb_reader *r)
{
	return &r->damage;
}

uint64_t tracedb_reader_offset(const struct tracedb_reader *r)
{
	return r->in.offset;
}

enum tracedb_layout tracedb_reader_layout(const struct tracedb_reader *r)
{
	return r->layout;
}

const struct tracedb_dictionary *tracedb_reader_dictionary(const struct tracedb_reader *r)
{
	return &r->dictionary;
}
