/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/tracedb/tracedb-store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"

/* A variable of a shape. */
struct tracedb_slot {
	uint32_t name, type;
};

struct tracedb_shape {
	size_t first, n_variables; /* among the slots */
	size_t n_auxiliary;
};

struct tracedb_store {
	const struct tracedb_dictionary *dictionary; /* the reader's */
	struct tracedb_slot *slots;                  /* owned, as are all lists here */
	size_t n_slots, slots_room;
	struct tracedb_shape *shapes;
	uint32_t n_shapes;
	size_t shapes_room;
	struct table by_hash; /* a shape's number and 1 */
	uint64_t *statements; /* by point */
	uint32_t *shape_of;   /* likewise */
	size_t n_points, statements_room, shape_of_room;
	uint64_t *words;
	size_t n_words, words_room;
	uint8_t *bytes; /* of blobs */
	size_t n_bytes, bytes_room;
	struct tracedb_map map; /* as it is at the last point */
};

struct tracedb_store *tracedb_store_free(struct tracedb_store *s)
{
	if (!s)
		return NULL;
	table_deinit(&s->by_hash);
	tracedb_map_deinit(&s->map);
	free(s->slots);
	free(s->shapes);
	free(s->statements);
	free(s->shape_of);
	free(s->words);
	free(s->bytes);
	free(s);
	return NULL;
}

size_t tracedb_store_points(const struct tracedb_store *s)
{
	return s->n_points;
}

/* ---- loading ---- */

static int tracedb_store_word(struct tracedb_store *s, uint64_t word)
{
	if (GROW(s->words, s->words_room, s->n_words + 1) < 0)
		return -ENOMEM;
	s->words[s->n_words++] = word;
	return 0;
}

static int tracedb_store_blob(struct tracedb_store *s, const struct tracedb_value *v)
{
	int e = tracedb_store_word(s, s->n_bytes) ?: tracedb_store_word(s, v->size);

	if (e < 0 || v->size == 0)
		return e;
	if (GROW(s->bytes, s->bytes_room, s->n_bytes + v->size) < 0)
		return -ENOMEM;
	memcpy(s->bytes + s->n_bytes, v->bytes, v->size);
	s->n_bytes += v->size;
	return 0;
}

static int tracedb_store_variable(struct tracedb_store *s, const struct tracedb_value *v)
{
	if (GROW(s->slots, s->slots_room, s->n_slots + 1) < 0)
		return -ENOMEM;
	s->slots[s->n_slots++] = (struct tracedb_slot){ v->name, v->type };
	switch (s->dictionary->types[v->type].format) {
	case TRACEDB_BLOB:
		return tracedb_store_blob(s, v);
	case TRACEDB_POINTER:
		return tracedb_store_word(s, v->u)
			       ?: tracedb_store_word(s, tracedb_map_size(&s->map, v->u));
	default:
		return tracedb_store_word(s, v->u);
	}
}

static bool tracedb_store_is_shape(const struct tracedb_store *s, uint32_t number,
				   const struct tracedb_shape *shape)
{
	const struct tracedb_shape *known = &s->shapes[number];

	return known->n_variables == shape->n_variables &&
	       known->n_auxiliary == shape->n_auxiliary &&
	       (shape->n_variables == 0 || memcmp(s->slots + known->first, s->slots + shape->first,
						  shape->n_variables * sizeof(*s->slots)) == 0);
}

static int tracedb_store_new_shape(struct tracedb_store *s, uint64_t key,
				   const struct tracedb_shape *shape, uint32_t *ret)
{
	if (s->n_shapes == UINT32_MAX ||
	    GROW(s->shapes, s->shapes_room, (size_t)s->n_shapes + 1) < 0 ||
	    table_set(&s->by_hash, key, (void *)((uintptr_t)s->n_shapes + 1)) < 0)
		return -ENOMEM;
	s->shapes[s->n_shapes] = *shape;
	*ret = s->n_shapes++;
	return 0;
}

/* The number of SHAPE, whose slots are the last ones; they go again if it is known. */
static int tracedb_store_shape(struct tracedb_store *s, const struct tracedb_shape *shape,
			       uint32_t *ret)
{
	uint64_t key;
	void *known;

	/* (points of one place in a program often follow each other) */
	if (s->n_points > 0 && tracedb_store_is_shape(s, s->shape_of[s->n_points - 1], shape)) {
		*ret = s->shape_of[s->n_points - 1];
		s->n_slots = shape->first;
		return 0;
	}
	/* (hashed with the address of the store's own memory, so that no file can make many
	 * alike) */
	key = table_hash_seeded((uintptr_t)s ^ shape->n_auxiliary,
				shape->n_variables ? (const void *)(s->slots + shape->first) : "",
				shape->n_variables * sizeof(*s->slots));
	while ((known = table_get(&s->by_hash, key))) {
		*ret = (uint32_t)((uintptr_t)known - 1);
		if (tracedb_store_is_shape(s, *ret, shape)) {
			s->n_slots = shape->first;
			return 0;
		}
		key = key == UINT64_MAX ? 1 : key + 1;
	}
	return tracedb_store_new_shape(s, key, shape, ret);
}

/* Variables first, then auxiliary data. */
static int tracedb_store_entries(struct tracedb_store *s, const struct tracedb_point *point,
				 struct tracedb_shape *shape, uint64_t *statement)
{
	int e = 0;

	for (size_t i = 0; e == 0 && i < point->n_entries; i++) {
		const struct tracedb_entry *entry = &point->entries[i];

		if (entry->tag == TRACEDB_STATEMENT)
			*statement = entry->statement;
		else if (entry->tag == TRACEDB_BUFFER)
			e = tracedb_map_set(&s->map, entry->buffer.address, entry->buffer.size);
		else if (entry->tag == TRACEDB_VARIABLE)
			e = tracedb_store_variable(s, &entry->variable);
	}
	shape->n_variables = s->n_slots - shape->first;
	for (size_t i = 0; e == 0 && i < point->n_entries; i++) {
		if (point->entries[i].tag != TRACEDB_AUXILIARY)
			continue;
		e = tracedb_store_word(s, point->entries[i].auxiliary);
		shape->n_auxiliary++;
	}
	return e;
}

static int tracedb_store_add(struct tracedb_store *s, const struct tracedb_point *point)
{
	struct tracedb_shape shape = { .first = s->n_slots };
	uint64_t statement = 0;
	uint32_t number = 0;
	int e = tracedb_store_entries(s, point, &shape, &statement)
			?: tracedb_store_shape(s, &shape, &number)
			?: GROW(s->statements, s->statements_room, s->n_points + 1)
			?: GROW(s->shape_of, s->shape_of_room, s->n_points + 1);

	if (e < 0)
		return e;
	s->statements[s->n_points] = statement;
	s->shape_of[s->n_points++] = number;
	return 0;
}

int tracedb_store_load(struct tracedb_store **ret, struct tracedb_reader *r)
{
	_cleanup_(tracedb_store_freep) struct tracedb_store *s = calloc(1, sizeof(*s));
	const struct tracedb_point *point;
	int e;

	if (!s)
		return -ENOMEM;
	s->dictionary = tracedb_reader_dictionary(r);
	while ((e = tracedb_reader_next(r, &point)) == TRACEDB_POINT) {
		e = tracedb_store_add(s, point);
		if (e < 0)
			return e;
	}
	if (e >= 0)
		*ret = TAKE_PTR(s);
	return e;
}

/* ---- walking ---- */

void tracedb_cursor_deinit(struct tracedb_cursor *c)
{
	free(c->variables);
	*c = (struct tracedb_cursor){ 0 };
}

/* A value from its words at P. Returns how many there are. */
static size_t tracedb_store_value(const struct tracedb_store *s, const struct tracedb_slot *slot,
				  const uint64_t *p, struct tracedb_variable *ret)
{
	const struct tracedb_type *type = &s->dictionary->types[slot->type];

	ret->value = (struct tracedb_value){ slot->name, slot->type, type->size, { p[0] } };
	ret->buffer_size = TRACEDB_NO_SIZE;
	if (type->format == TRACEDB_POINTER)
		ret->buffer_size = p[1];
	if (type->format == TRACEDB_BLOB) {
		ret->value.size = (uint32_t)p[1];
		ret->value.bytes = p[1] > 0 ? s->bytes + p[0] : (const uint8_t *)"";
	}
	return type->format == TRACEDB_POINTER || type->format == TRACEDB_BLOB ? 2 : 1;
}

int tracedb_store_next(const struct tracedb_store *s, struct tracedb_cursor *c,
		       struct tracedb_stored_point *ret)
{
	const struct tracedb_shape *shape;

	if (c->point == s->n_points)
		return 0;
	shape = &s->shapes[s->shape_of[c->point]];
	if (GROW(c->variables, c->room, shape->n_variables + 1) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < shape->n_variables; i++)
		c->word += tracedb_store_value(s, &s->slots[shape->first + i], s->words + c->word,
					       &c->variables[i]);
	*ret = (struct tracedb_stored_point){
		.statement = s->statements[c->point++],
		.variables = c->variables,
		.n_variables = shape->n_variables,
		.auxiliary = s->words ? s->words + c->word : NULL,
		.n_auxiliary = shape->n_auxiliary,
	};
	c->word += shape->n_auxiliary;
	return 1;
}
