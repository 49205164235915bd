/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "base/outbuf.h"
#include "reader/places/place-arguments-parts.h"
#include "reader/places/place-types.h"
#include "reader/places/places-parts.h"

enum { ARGUMENT_DEPTH_MAX = 4 };

void place_leaves_deinit(struct place_leaves *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->list[i].words);
}

char *place_leaves_words(const char *shape)
{
	const char *open = strchr(shape, '{'), *close = strrchr(shape, '}');

	return open && close > open ? strndup(open + 1, (size_t)(close - open - 1)) : NULL;
}

/* Splits the last leaf, a number of two words, into two leaves of a word. */
static void arguments_leaves_split(struct place_leaves *l)
{
	struct place_leaf *low = &l->list[l->n - 1], *high = low + 1;
	char name[PLACE_ARGUMENT_NAME_MAX];

	low->is_half = true;
	if (l->n == PLACE_ARGUMENTS_MAX ||
	    strlen(low->name) + sizeof(".high") > PLACE_ARGUMENT_NAME_MAX)
		return;
	memcpy(name, low->name, sizeof(name));
	*high = (struct place_leaf){
		.at = low->at + PLACE_WORD, .kind = low->kind, .bytes = PLACE_WORD, .is_half = true
	};
	*low = (struct place_leaf){
		.at = low->at, .kind = 'u', .bytes = PLACE_WORD, .is_half = true
	};
	snprintf(high->name, sizeof(high->name), "%.*s.high", (int)sizeof(name) - 7, name);
	snprintf(low->name, sizeof(low->name), "%.*s.low", (int)sizeof(name) - 7, name);
	l->n++;
}

/* Adds a leaf of TYPE, called NAME, at AT. Returns NULL if there are too many leaves. */
static struct place_leaf *arguments_leaves_add(struct place_leaves *l, Dwarf_Die *type,
					       const char *name, uint64_t at)
{
	uint64_t bytes = place_type_bytes(type);
	struct outbuf shape = { 0 };
	struct place_leaf *leaf;

	if (l->n == PLACE_ARGUMENTS_MAX) {
		l->cut = true;
		return NULL;
	}
	leaf = &l->list[l->n++];
	*leaf = (struct place_leaf){ .at = at,
				     .kind = 'x',
				     .bytes = bytes <= 2 * PLACE_WORD ? (uint8_t)bytes : 0 };
	snprintf(leaf->name, sizeof(leaf->name), "%s", name);
	if (place_type_shape(type, &shape) == 0 && outbuf_append(&shape, "", 1) == 0) {
		const char *text = (const char *)shape.data;

		leaf->kind = *text;
		if (*text == 'p') {
			leaf->bytes = PLACE_WORD;
			if (strcmp(text, "p8c1") == 0 || strcmp(text, "p8h1") == 0)
				leaf->kind = 'S';
		}
		if (*text == 'e')
			leaf->words = place_leaves_words(text);
	}
	outbuf_deinit(&shape);
	return leaf;
}

bool place_leaves_is_structure(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
}

/*
 * Adds a bit field of TYPE. It is read from a unit of memory that has the size of TYPE, or of a
 * word if TYPE is larger, and is aligned to that size. If a bit field spans two units (in a packed
 * structure, or with a type of two words), it is no number.
 */
static void arguments_leaves_bits(struct place_leaves *l, Dwarf_Die *type, const char *name,
				  uint64_t bit, uint64_t bits)
{
	uint64_t bytes = place_type_bytes(type),
		 room = 8 * (bytes < PLACE_WORD ? bytes : PLACE_WORD);
	struct place_leaf *leaf;

	if (room == 0)
		return;
	leaf = arguments_leaves_add(l, type, name, bit / room * (room / 8));
	if (!leaf)
		return;
	leaf->bytes = (uint8_t)(room / 8);
	/* (written so that numbers from the file cannot overflow in a sum) */
	if (bits > room || bit % room > room - bits) {
		leaf->kind = 'x';
		return;
	}
	leaf->bit = (uint8_t)(bit % room);
	leaf->width = (uint8_t)bits;
}

static void arguments_leaves_member(struct place_leaves *l, Dwarf_Die *member, const char *name,
				    uint64_t at, unsigned depth)
{
	const char *its = dwarf_tag(member) == DW_TAG_inheritance ? NULL : place_die_name(member);
	char whole[PLACE_ARGUMENT_NAME_MAX];
	uint64_t bit, bits;
	Dwarf_Die type;

	if (!place_type_of(member, &type) ||
	    (!place_type_member(member, place_type_bytes(&type), &bit, &bits) && bits == 0) ||
	    snprintf(whole, sizeof(whole), "%s%s%s", name, its && *name ? "." : "", its ?: "") >=
		    (int)sizeof(whole)) {
		l->has_left_out = true;
		return;
	}
	if (bits)
		arguments_leaves_bits(l, &type, whole, at * 8 + bit, bits);
	else
		place_leaves_collect(l, &type, whole, at + bit / 8, depth + 1);
}

void place_leaves_collect(struct place_leaves *l, Dwarf_Die *type, const char *name, uint64_t at,
			  unsigned depth)
{
	Dwarf_Die member;

	if (!place_leaves_is_structure(type)) {
		const struct place_leaf *leaf = arguments_leaves_add(l, type, name, at);

		if (leaf && strchr("iu", leaf->kind) && leaf->bytes == 2 * PLACE_WORD)
			arguments_leaves_split(l);
		return;
	}
	if (dwarf_child(type, &member) != 0)
		return;
	do {
		/* (an enumeration of Rust with data: its variants are left out) */
		if (dwarf_tag(&member) == DW_TAG_variant_part)
			l->has_left_out = true;
		if (!place_type_is_member(&member))
			continue;
		if (depth == ARGUMENT_DEPTH_MAX)
			l->has_left_out = true;
		else
			arguments_leaves_member(l, &member, name, at, depth);
	} while (!l->cut && ++l->n_visited < PLACE_PARTS_MAX && places_next(&member));
}
