/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/calls/call-sets.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "model/calls/call-print.h"
#include "model/calls/call-set-words.h"

/* ---- look-up ---- */

const char *call_set_prefix(const struct call_set *set)
{
	return set->kind == CALL_SET_FLAGS || set->kind == CALL_SET_MODE ? "flags" : "enum";
}

static bool call_set_is(const struct call_set *set, const char *name, size_t n)
{
	const char *prefix = call_set_prefix(set);
	size_t n_prefix = strlen(prefix);

	return n == n_prefix + 1 + strlen(set->name) && memcmp(name, prefix, n_prefix) == 0 &&
	       name[n_prefix] == ':' &&
	       memcmp(name + n_prefix + 1, set->name, n - n_prefix - 1) == 0;
}

const struct call_set *call_set_by_number(unsigned number)
{
	if (number == CALL_SET_NONE)
		return NULL;
	if (--number < call_set_n_rows_a_to_l)
		return &call_set_rows_a_to_l[number];
	number -= (unsigned)call_set_n_rows_a_to_l;
	return number < call_set_n_rows_m_to_z ? &call_set_rows_m_to_z[number] : NULL;
}

unsigned call_set_find(const char *name, size_t n)
{
	const struct call_set *set;

	for (unsigned number = 1; (set = call_set_by_number(number)); number++)
		if (call_set_is(set, name, n))
			return number;
	return CALL_SET_NONE;
}

/* ---- text ---- */

/* Writes a number, signed and in decimal, unless it is too large to be useful in decimal. */
static void call_set_number(struct call_print *text, const struct call_set *set, uint64_t value)
{
	unsigned unused = 64 - set->bits;
	int64_t number = (int64_t)(value << unused) >> unused;

	if (set->kind == CALL_SET_ID)
		call_print_add(text, "%" PRIu64, value);
	else if (number >= -UINT16_MAX && number <= UINT16_MAX)
		call_print_add(text, "%" PRId64, number);
	else
		call_print_add(text, "%#" PRIx64, value);
}

static void call_set_enum(struct call_print *text, const struct call_set *set, uint64_t value)
{
	for (size_t i = 0; i < set->n_words; i++) {
		if (set->words[i].value != value)
			continue;
		call_print_add(text, "%s", set->words[i].name);
		return;
	}
	if (set->unknown)
		call_print_add(text, "%#" PRIx64 " /* %s */", value, set->unknown);
	else
		call_set_number(text, set, value);
}

static void call_set_flags(struct call_print *text, const struct call_set *set, uint64_t value)
{
	uint64_t rest = value;

	for (size_t i = 0; i < set->n_words; i++) {
		const struct call_set_word *word = &set->words[i];

		/* Bits that a larger word covers are not repeated. */
		if ((value & word->mask) != word->value || (rest & word->value) != word->value)
			continue;
		call_print_add(text, "%s%s", text->used ? "|" : "", word->name);
		rest &= ~word->value;
	}
	/* A mode is always written with its number. */
	if (rest == 0 && text->used > 0 && set->kind != CALL_SET_MODE)
		return;
	call_print_add(text, "%s", text->used ? "|" : "");
	call_print_add(text, set->kind == CALL_SET_MODE ? "%#03" PRIo64 : "%#" PRIx64, rest);
}

size_t call_set_format(unsigned number, uint64_t value, char *to, size_t size)
{
	const struct call_set *set = call_set_by_number(number);
	struct call_print text = call_print_begin(to, size);
	unsigned unused = set ? 64U - set->bits : 0;

	value = value << unused >> unused;
	if (!set)
		call_print_add(&text, "%#" PRIx64, value);
	else if (set->kind == CALL_SET_ENUM || set->kind == CALL_SET_ID)
		call_set_enum(&text, set, value);
	else
		call_set_flags(&text, set, value);
	return text.used;
}
