/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/tracedb/tracedb-store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"

/* The maximum number of shapes that a store keeps when it is cleared. */
enum { SHAPES_LIVE_MAX = 1 << 16 };

struct tracedb_store {
	const struct tracedb_dictionary *dictionary; /* owned by the reader */
	/* Slots of the point that is added; owned, like all lists here. */
	struct tracedb_slot *slots;
	size_t slots_room;
	struct tracedb_shape *shapes;
	uint32_t n_shapes;
	size_t shapes_room;
	struct table by_hash; /* hash -> number of the shape + 1 */
	uint64_t *statements; /* statement of each point */
	uint32_t *shape_of;   /* shape of each point */
	size_t n_points, statements_room, shape_of_room;
	size_t n_cleared; /* number of points that were removed */
	uint64_t *words;
	size_t n_words, words_room;
	uint8_t *bytes; /* bytes of blobs */
	size_t n_bytes, bytes_room;
	struct tracedb_map map; /* buffers at the last point */
	bool keeps_parts;
	struct tracedb_part *parts; /* parts of all points, if they are kept */
	size_t *parts_end;          /* number of parts up to and including each point */
	size_t n_parts, parts_room, parts_end_room;
};

static void tracedb_store_drop_shapes(struct tracedb_store *s)
{
	for (uint32_t i = 0; i < s->n_shapes; i++)
		free(s->shapes[i].slots);
	s->n_shapes = 0;
}

struct tracedb_store *tracedb_store_free(struct tracedb_store *s)
{
	if (!s)
		return NULL;
	table_deinit(&s->by_hash);
	tracedb_map_deinit(&s->map);
	tracedb_store_drop_shapes(s);
	free(s->slots);
	free(s->shapes);
	free(s->statements);
	free(s->shape_of);
	free(s->words);
	free(s->bytes);
	free(s->parts);
	free(s->parts_end);
	free(s);
	return NULL;
}

void tracedb_store_keep_parts(struct tracedb_store *s)
{
	s->keeps_parts = true;
}

size_t tracedb_store_points(const struct tracedb_store *s)
{
	return s->n_points;
}

/* ---- loading ---- */

/* Returns the number of words of a value of FORMAT. */
static inline uint32_t tracedb_store_words(uint32_t format)
{
	return format == TRACEDB_POINTER || format == TRACEDB_BLOB ? 2 : 1;
}

/* Adds a blob to `words` (which has room for two words) and to `bytes`. */
static int tracedb_store_blob(struct tracedb_store *s, const struct tracedb_value *v)
{
	s->words[s->n_words++] = s->n_bytes;
	s->words[s->n_words++] = v->size;
	if (v->size == 0)
		return 0;
	if (GROW(s->bytes, s->bytes_room, s->n_bytes + v->size) < 0)
		return -ENOMEM;
	memcpy(s->bytes + s->n_bytes, v->bytes, v->size);
	s->n_bytes += v->size;
	return 0;
}

static inline int tracedb_store_variable(struct tracedb_store *s, const struct tracedb_value *v,
					 uint32_t format)
{
	if (format == TRACEDB_BLOB)
		return tracedb_store_blob(s, v);
	s->words[s->n_words++] = v->u;
	if (format == TRACEDB_POINTER)
		s->words[s->n_words++] = tracedb_map_size(&s->map, v->u);
	return 0;
}

/* ---- shapes ---- */

static bool tracedb_store_is_shape(const struct tracedb_shape *known,
				   const struct tracedb_shape *shape)
{
	return known->n_variables == shape->n_variables &&
	       known->n_auxiliary == shape->n_auxiliary &&
	       (shape->n_variables == 0 || memcmp(known->slots, shape->slots,
						  shape->n_variables * sizeof(*shape->slots)) == 0);
}

static int tracedb_store_new_shape(struct tracedb_store *s, uint64_t key,
				   const struct tracedb_shape *shape, uint32_t *ret)
{
	size_t bytes = shape->n_variables * sizeof(*shape->slots);
	_cleanup_free_ struct tracedb_slot *slots = malloc(bytes + 1);

	if (!slots || s->n_shapes == UINT32_MAX ||
	    GROW(s->shapes, s->shapes_room, (size_t)s->n_shapes + 1) < 0 ||
	    table_set(&s->by_hash, key, (void *)((uintptr_t)s->n_shapes + 1)) < 0)
		return -ENOMEM;
	if (bytes > 0)
		memcpy(slots, shape->slots, bytes);
	s->shapes[s->n_shapes] = *shape;
	s->shapes[s->n_shapes].slots = TAKE_PTR(slots);
	*ret = s->n_shapes++;
	return 0;
}

/* Fills the slots of POINT. SHAPE has the number of its variables and the number of its auxiliary
 * data. */
static int tracedb_store_slots(struct tracedb_store *s, const struct tracedb_point *point,
			       struct tracedb_shape *shape)
{
	uint32_t n = 0, word = 0;

	if (GROW(s->slots, s->slots_room, (size_t)shape->n_variables + 1) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < point->n_entries; i++) {
		const struct tracedb_value *v = &point->entries[i].variable;
		uint32_t format;

		if (point->entries[i].tag != TRACEDB_VARIABLE)
			continue;
		format = s->dictionary->types[v->type].format;
		s->slots[n++] = (struct tracedb_slot){ v->name, v->type, format, word };
		word += tracedb_store_words(format);
	}
	shape->slots = s->slots;
	shape->n_words = word + shape->n_auxiliary;
	return 0;
}

static int tracedb_store_find_shape(struct tracedb_store *s, const struct tracedb_point *point,
				    struct tracedb_shape *shape, uint32_t *ret)
{
	uint64_t key;
	void *known;

	if (tracedb_store_slots(s, point, shape) < 0)
		return -ENOMEM;
	/* The address of the store seeds the hash, so that no file can cause many collisions. */
	key = table_hash_seeded((uintptr_t)s ^ shape->n_auxiliary,
				shape->n_variables ? (const void *)shape->slots : "",
				shape->n_variables * sizeof(*shape->slots));
	while ((known = table_get(&s->by_hash, key))) {
		*ret = (uint32_t)((uintptr_t)known - 1);
		if (tracedb_store_is_shape(&s->shapes[*ret], shape))
			return 0;
		key = key == UINT64_MAX ? 1 : key + 1;
	}
	return tracedb_store_new_shape(s, key, shape, ret);
}

/* ---- points ---- */

/*
 * Writes the words of POINT, variables before auxiliary data, and their numbers to SHAPE. Returns 1
 * if they fit the shape GUESS, 0 if not, or -ENOMEM.
 */
static int tracedb_store_entries(struct tracedb_store *s, const struct tracedb_point *point,
				 const struct tracedb_shape *guess, struct tracedb_shape *shape,
				 uint64_t *statement)
{
	const struct tracedb_type *types = s->dictionary->types;
	bool guessed = guess != NULL;
	int e = 0;

	for (size_t i = 0; e == 0 && i < point->n_entries; i++) {
		const struct tracedb_entry *entry = &point->entries[i];
		uint32_t n = shape->n_variables;

		switch (entry->tag) {
		case TRACEDB_STATEMENT:
			*statement = entry->statement;
			break;
		case TRACEDB_BUFFER:
			e = tracedb_map_set(&s->map, entry->buffer.address, entry->buffer.size);
			break;
		case TRACEDB_VARIABLE:
			guessed = guessed && n < guess->n_variables &&
				  guess->slots[n].name == entry->variable.name &&
				  guess->slots[n].type == entry->variable.type;
			e = tracedb_store_variable(s, &entry->variable,
						   types[entry->variable.type].format);
			shape->n_variables++;
			break;
		default:
			shape->n_auxiliary++;
		}
	}
	if (e < 0)
		return e;
	for (size_t i = point->n_entries, n = shape->n_auxiliary; n > 0; i--)
		if (point->entries[i - 1].tag == TRACEDB_AUXILIARY)
			s->words[s->n_words + --n] = point->entries[i - 1].auxiliary;
	s->n_words += shape->n_auxiliary;
	return guessed && guess->n_variables == shape->n_variables &&
	       guess->n_auxiliary == shape->n_auxiliary;
}

/* Stores the parts of POINT, the next point. */
static int tracedb_store_put_parts(struct tracedb_store *s, const struct tracedb_point *point)
{
	int r = GROW(s->parts_end, s->parts_end_room, s->n_points + 1)
			?: GROW(s->parts, s->parts_room, s->n_parts + point->n_entries + 1);

	if (r < 0)
		return r;
	for (size_t i = 0; i < point->n_entries; i++) {
		const struct tracedb_entry *entry = &point->entries[i];
		struct tracedb_part *part = &s->parts[s->n_parts + i];

		*part = (struct tracedb_part){ .tag = entry->tag };
		if (entry->tag == TRACEDB_BUFFER) {
			part->address = entry->buffer.address;
			part->size = entry->buffer.size;
		}
	}
	s->parts_end[s->n_points] = s->n_parts + point->n_entries;
	return 0;
}

static int tracedb_store_put(struct tracedb_store *s, const struct tracedb_point *point)
{
	/* Consecutive points often come from one place in a program, so they have the same
	 * shape. */
	uint32_t number = s->n_points > 0 ? s->shape_of[s->n_points - 1] : 0;
	const struct tracedb_shape *guess = s->n_points > 0 ? &s->shapes[number] : NULL;
	struct tracedb_shape shape = { 0 };
	uint64_t statement = 0;
	int r = GROW(s->words, s->words_room, s->n_words + 2 * point->n_entries + 1)
			?: GROW(s->statements, s->statements_room, s->n_points + 1)
				?: GROW(s->shape_of, s->shape_of_room, s->n_points + 1);

	if (r == 0 && s->keeps_parts)
		r = tracedb_store_put_parts(s, point);
	if (r == 0)
		r = tracedb_store_entries(s, point, guess, &shape, &statement);
	if (r == 0)
		r = tracedb_store_find_shape(s, point, &shape, &number);
	if (r < 0)
		return r;
	s->statements[s->n_points] = statement;
	s->n_parts = s->keeps_parts ? s->parts_end[s->n_points] : 0;
	s->shape_of[s->n_points++] = number;
	return 0;
}

int tracedb_store_add(struct tracedb_store *s, const struct tracedb_point *point)
{
	size_t n_words = s->n_words, n_bytes = s->n_bytes;
	int r = tracedb_store_put(s, point);

	if (r < 0) {
		s->n_words = n_words;
		s->n_bytes = n_bytes;
	}
	return r;
}

bool tracedb_store_clear(struct tracedb_store *s)
{
	s->n_cleared += s->n_points;
	s->n_points = s->n_words = s->n_bytes = s->n_parts = 0;
	if (s->n_shapes <= SHAPES_LIVE_MAX)
		return false;
	tracedb_store_drop_shapes(s);
	table_clear(&s->by_hash);
	return true;
}

int tracedb_store_new(struct tracedb_store **ret, const struct tracedb_dictionary *dictionary)
{
	struct tracedb_store *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->dictionary = dictionary;
	*ret = s;
	return 0;
}

int tracedb_store_read(struct tracedb_store *s, struct tracedb_reader *r)
{
	const struct tracedb_point *point;
	int e;

	while ((e = tracedb_reader_next(r, &point)) == TRACEDB_POINT) {
		e = tracedb_store_add(s, point);
		if (e < 0)
			return e;
	}
	return e;
}

int tracedb_store_load(struct tracedb_store **ret, struct tracedb_reader *r)
{
	_cleanup_(tracedb_store_freep) struct tracedb_store *s = NULL;
	int e = tracedb_store_new(&s, tracedb_reader_dictionary(r));

	if (e < 0)
		return e;
	e = tracedb_store_read(s, r);
	if (e >= 0)
		*ret = TAKE_PTR(s);
	return e;
}

/* ---- iteration ---- */

void tracedb_cursor_deinit(struct tracedb_cursor *c)
{
	free(c->variables);
	*c = (struct tracedb_cursor){ 0 };
}

bool tracedb_store_next_row(const struct tracedb_store *s, struct tracedb_cursor *c,
			    struct tracedb_row *ret)
{
	if (c->point == s->n_points)
		return false;
	*ret = (struct tracedb_row){
		.point = s->n_cleared + c->point,
		.statement = s->statements[c->point],
		.shape = s->shape_of[c->point],
		.words = s->words + c->word,
		.word = c->word,
	};
	c->point++;
	c->word += s->shapes[ret->shape].n_words;
	return true;
}

const uint8_t *tracedb_store_bytes(const struct tracedb_store *s, const uint64_t *p)
{
	return p[1] > 0 ? s->bytes + p[0] : (const uint8_t *)"";
}

static struct tracedb_variable tracedb_store_value(const struct tracedb_store *s,
						   const struct tracedb_slot *slot,
						   const uint64_t *p)
{
	struct tracedb_variable v = {
		.value = { slot->name,
			   slot->type,
			   s->dictionary->types[slot->type].size,
			   { p[0] } },
		.buffer_size = slot->format == TRACEDB_POINTER ? p[1] : TRACEDB_NO_SIZE,
		.is_pointer = slot->format == TRACEDB_POINTER,
	};

	if (slot->format == TRACEDB_BLOB) {
		v.value.size = (uint32_t)p[1];
		v.value.bytes = tracedb_store_bytes(s, p);
	}
	return v;
}

int tracedb_store_point(const struct tracedb_store *s, struct tracedb_cursor *c,
			const struct tracedb_row *row, struct tracedb_stored_point *ret)
{
	const struct tracedb_shape *shape = &s->shapes[row->shape];

	if (GROW(c->variables, c->room, (size_t)shape->n_variables + 1) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < shape->n_variables; i++)
		c->variables[i] =
			tracedb_store_value(s, &shape->slots[i], row->words + shape->slots[i].word);
	*ret = (struct tracedb_stored_point){
		.statement = row->statement,
		.variables = c->variables,
		.n_variables = shape->n_variables,
		.auxiliary = row->words + shape->n_words - shape->n_auxiliary,
		.n_auxiliary = shape->n_auxiliary,
	};
	if (s->keeps_parts) {
		size_t i = row->point - s->n_cleared, begin = i > 0 ? s->parts_end[i - 1] : 0;

		ret->parts = s->parts + begin;
		ret->n_parts = s->parts_end[i] - begin;
	}
	return 0;
}

int tracedb_store_next(const struct tracedb_store *s, struct tracedb_cursor *c,
		       struct tracedb_stored_point *ret)
{
	struct tracedb_row row;

	if (!tracedb_store_next_row(s, c, &row))
		return 0;
	return tracedb_store_point(s, c, &row, ret) < 0 ? -ENOMEM : 1;
}

uint32_t tracedb_store_shapes(const struct tracedb_store *s)
{
	return s->n_shapes;
}

const struct tracedb_shape *tracedb_store_shape(const struct tracedb_store *s, uint32_t number)
{
	return &s->shapes[number];
}
