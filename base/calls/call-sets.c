/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/calls/call-sets.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/calls/call-set-words.h"

/* What has been written of a text. */
struct set_text {
	char *to;
	size_t size, used;
};

/* ---- which set ---- */

const char *call_set_prefix(const struct call_set *set)
{
	return set->kind == CALL_SET_ENUM ? "enum" : "flags";
}

static bool call_set_is(const struct call_set *set, const char *name, size_t n)
{
	const char *prefix = call_set_prefix(set);
	size_t n_prefix = strlen(prefix);

	return n == n_prefix + 1 + strlen(set->name) && memcmp(name, prefix, n_prefix) == 0 &&
	       name[n_prefix] == ':' &&
	       memcmp(name + n_prefix + 1, set->name, n - n_prefix - 1) == 0;
}

unsigned call_set_find(const char *name, size_t n)
{
	for (size_t i = 0; i < call_set_n_rows; i++)
		if (call_set_is(&call_set_rows[i], name, n))
			return (unsigned)i + 1;
	return CALL_SET_NONE;
}

const struct call_set *call_set_by_number(unsigned number)
{
	return number == CALL_SET_NONE || number > call_set_n_rows ? NULL
								   : &call_set_rows[number - 1];
}

/* ---- text ---- */

static void call_set_append(struct set_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void call_set_append(struct set_text *text, const char *format, ...)
{
	size_t room = text->size - text->used;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text->to + text->used, room, format, args);
	va_end(args);
	if (n > 0)
		text->used += (size_t)n < room ? (size_t)n : room - 1;
}

/* Signed and decimal, unless it is larger than what people count with. */
static void call_set_number(struct set_text *text, const struct call_set *set, uint64_t value)
{
	unsigned unused = 64 - set->bits;
	int64_t number = (int64_t)(value << unused) >> unused;

	if (number >= -UINT16_MAX && number <= UINT16_MAX)
		call_set_append(text, "%" PRId64, number);
	else
		call_set_append(text, "%#" PRIx64, value);
}

static void call_set_enum(struct set_text *text, const struct call_set *set, uint64_t value)
{
	for (size_t i = 0; i < set->n_words; i++) {
		if (set->words[i].value != value)
			continue;
		call_set_append(text, "%s", set->words[i].name);
		return;
	}
	call_set_number(text, set, value);
}

static void call_set_flags(struct set_text *text, const struct call_set *set, uint64_t value)
{
	uint64_t rest = value;

	for (size_t i = 0; i < set->n_words; i++) {
		const struct call_set_word *word = &set->words[i];

		/* (bits that a larger word has said are not said again) */
		if ((value & word->mask) != word->value || (rest & word->value) != word->value)
			continue;
		call_set_append(text, "%s%s", text->used ? "|" : "", word->name);
		rest &= ~word->value;
	}
	if (rest == 0 && text->used > 0)
		return;
	call_set_append(text, "%s", text->used ? "|" : "");
	call_set_append(text, set->kind == CALL_SET_MODE ? "%#" PRIo64 : "%#" PRIx64, rest);
}

size_t call_set_format(unsigned number, uint64_t value, char *to, size_t size)
{
	const struct call_set *set = call_set_by_number(number);
	struct set_text text = { .to = to, .size = size };
	unsigned unused = set ? 64U - set->bits : 0;

	*to = '\0';
	value = value << unused >> unused;
	if (!set)
		call_set_append(&text, "%#" PRIx64, value);
	else if (set->kind == CALL_SET_ENUM)
		call_set_enum(&text, set, value);
	else
		call_set_flags(&text, set, value);
	return text.used;
}
