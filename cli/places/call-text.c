/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/places/call-text.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "capture/options/call-spec.h"

/* Returns the word for REASON in specifications. There are fewer words than reasons. */
static const char *call_text_reason(enum place_reason reason)
{
	static const enum call_reason words[PLACE_REASON_MAX] = {
		[PLACE_REASON_VECTOR] = CALL_REASON_VECTOR,
		[PLACE_REASON_OPTIMISED] = CALL_REASON_OPTIMISED,
		[PLACE_REASON_NOT_KEPT] = CALL_REASON_NOT_KEPT,
		[PLACE_REASON_POINTS_NOWHERE] = CALL_REASON_OPTIMISED,
		[PLACE_REASON_NOT_WHOLE] = CALL_REASON_NO_NUMBER,
		[PLACE_REASON_WIDE] = CALL_REASON_WIDE,
	};

	return call_reason_name(words[reason] ?: CALL_REASON_COMPLEX);
}

/*
 * Writes the type of A in the syntax of specifications. WORDS = true: an enumeration is written
 * with its words.
 */
static void call_text_put_type(struct outbuf *to, const struct place_argument *a, bool words)
{
	unsigned bits = 8u * a->bytes;

	if (a->reason && a->kind != 'f') {
		outbuf_print(to, "uint64");
		return;
	}
	switch (a->kind) {
	case 'i':
	case 'c':
		outbuf_print(to, "int%u", bits);
		break;
	case 'b':
		outbuf_print(to, "bool");
		break;
	case 'f':
		outbuf_print(to, bits == 32 ? "float" : "double");
		break;
	case 'p':
		outbuf_print(to, "ptr");
		break;
	case 'S':
		outbuf_print(to, "str");
		break;
	case 'e':
		if (words && a->words)
			outbuf_print(to, bits == 32 ? "enum{%s}" : "enum%2$u{%1$s}", a->words,
				     bits);
		else
			outbuf_print(to, "int%u", bits);
		break;
	default:
		outbuf_print(to, "uint%u", bits);
		break;
	}
}

/* The DWARF numbers of the argument registers. */
static const uint8_t call_text_registers[CALL_ARG_REGISTERS] = { 5, 4, 1, 2, 8, 9 };

/* Writes the location of A. A is argument I of a function or point. */
static void call_text_put_location(struct outbuf *to, const struct place_argument *a, size_t i,
				   bool is_point)
{
	const struct place_load *l = &a->load;

	if (a->reason || l->base == PLACE_IMAGE ||
	    (l->base == PLACE_REGISTER && l->reg >= CALL_REGISTERS)) {
		outbuf_print(to, "@?%s", call_text_reason(a->reason));
		return;
	}
	if (l->base == PLACE_ZERO) {
		outbuf_print(to, "@=%" PRId64, l->offset);
		return;
	}
	if (!is_point && l->is_value && l->offset == 0 && a->shift == 0 && a->width == 0 &&
	    i < CALL_ARG_REGISTERS && l->reg == call_text_registers[i] && a->kind != 'f')
		return;
	outbuf_print(to, l->is_value ? "@r%u" : "@[r%u", l->reg);
	if (l->scale)
		outbuf_print(to, "+r%u*%u", l->index, l->scale);
	if (l->offset)
		outbuf_print(to, "%+" PRId64, l->offset);
	outbuf_print(to, "%s", l->is_value ? "" : "]");
	if (a->shift || a->width)
		outbuf_print(to, ">>%u", a->shift);
	if (a->width)
		outbuf_print(to, ":%u", a->width);
}

/*
 * Writes the name of element I of LIST, or, if specifications do not allow this name, WORD and the
 * number of the element.
 */
static void call_text_put_name(struct outbuf *to, const struct place_argument *list, size_t i,
			       const char *word)
{
	const char *name = list[i].name;
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
	bool unfit = false;

	for (size_t k = 0; k < i; k++)
		unfit |= strcmp(list[k].name, name) == 0;
	unfit |= *name == '.' || strstr(name, "..") || (n > 0 && name[n - 1] == '.');
	if (n == 0 || name[n] || n >= CALL_NAME_MAX || isdigit((unsigned char)*name) || unfit)
		outbuf_print(to, "%s%zu", word, i + 1);
	else
		outbuf_print(to, "%s", name);
}

/* Writes the members of a result of A, in braces. */
static void call_text_put_members(struct outbuf *to, const struct place_arguments *a, bool words)
{
	outbuf_print(to, "{");
	for (size_t i = 0; i < a->n_members && i < CALL_MEMBERS_MAX; i++) {
		const struct place_argument *m = &a->members[i];
		struct place_argument shown = *m;

		/* (only the address of a text is in the structure) */
		if (shown.kind == 'S')
			shown.kind = 'p';
		outbuf_print(to, "%s", i ? ", " : "");
		call_text_put_type(to, &shown, words);
		outbuf_print(to, " ");
		call_text_put_name(to, a->members, i, "member");
		if (m->reason)
			outbuf_print(to, "@?%s", call_text_reason(m->reason));
		else
			outbuf_print(to, "@%" PRId64, m->load.offset);
		if (!m->reason && m->width)
			outbuf_print(to, ">>%u:%u", m->shift, m->width);
	}
	outbuf_print(to, "%s}",
		     a->members_are_cut || a->n_members > CALL_MEMBERS_MAX ? ", ..." : "");
}

static void call_text_put_result(struct outbuf *to, const struct place_arguments *a, bool words)
{
	const struct place_argument *r = &a->result;

	if (r->reason) {
		call_text_put_type(to, r, words);
		outbuf_print(to, "@?%s", call_text_reason(r->reason));
		return;
	}
	switch (r->kind) {
	case 'R':
	case 'M':
		outbuf_print(to, "%s", r->kind == 'R' ? "struct" : "ptr");
		call_text_put_members(to, a, words);
		break;
	case 'L':
	case 'V':
		outbuf_print(to, "%s", r->kind == 'L' ? "slice" : "view");
		if (a->result_unit > 1)
			outbuf_print(to, "[%u]", a->result_unit);
		break;
	default:
		call_text_put_type(to, r, words);
		break;
	}
}

void call_text_put_arguments(struct outbuf *to, const struct place_arguments *a, bool is_point,
			     bool words)
{
	outbuf_print(to, "(");
	for (size_t i = 0; i < a->n && i < CALL_ARGS_MAX; i++) {
		outbuf_print(to, "%s", i ? ", " : "");
		call_text_put_type(to, &a->list[i], words);
		outbuf_print(to, " ");
		call_text_put_name(to, a->list, i, "arg");
		call_text_put_location(to, &a->list[i], i, is_point);
	}
	outbuf_print(to, ")");
	if (is_point || !a->result.kind)
		return;
	outbuf_print(to, " -> ");
	call_text_put_result(to, a, words);
}

void call_text_put_label(struct outbuf *to, const char *label)
{
	size_t n = text_cut(label, strlen(label), CALL_FUNCTION_MAX - 1);

	outbuf_print(to, "='");
	for (size_t i = 0; i < n; i++)
		outbuf_print(to, "%c",
			     label[i] == '\''                                    ? '"'
			     : (unsigned char)label[i] < ' ' || label[i] == 0x7f ? '?'
										 : label[i]);
	outbuf_print(to, "'");
}

void call_text_put_shown(struct outbuf *to, const char *name)
{
	outbuf_print(to, "'%.*s'", (int)text_cut(name, strlen(name), CALL_TEXT_SHOWN_MAX), name);
}
