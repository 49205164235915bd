/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/places/place-usdt.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/usdt-note.h"
#include "base/value.h"
#include "reader/places/places-parts.h"

enum { NOTE_BYTES_MAX = 64 << 20 };

void place_usdts_deinit(struct place_usdts *u)
{
	for (size_t i = 0; i < u->n; i++) {
		free(u->list[i].provider);
		free(u->list[i].name);
		place_arguments_deinit(&u->list[i].arguments);
	}
	free(u->list);
	*u = (struct place_usdts){ 0 };
}

/* ---- arguments ---- */

/* Names of registers by DWARF's number. Each name refers to other bytes of the register. */
static const struct {
	const char *names[5]; /* names with 8, 4, 2 and 1 bytes, and of the second byte */
} usdt_registers[16] = {
	{ { "rax", "eax", "ax", "al", "ah" } }, { { "rdx", "edx", "dx", "dl", "dh" } },
	{ { "rcx", "ecx", "cx", "cl", "ch" } }, { { "rbx", "ebx", "bx", "bl", "bh" } },
	{ { "rsi", "esi", "si", "sil" } },      { { "rdi", "edi", "di", "dil" } },
	{ { "rbp", "ebp", "bp", "bpl" } },      { { "rsp", "esp", "sp", "spl" } },
	{ { "r8", "r8d", "r8w", "r8b" } },      { { "r9", "r9d", "r9w", "r9b" } },
	{ { "r10", "r10d", "r10w", "r10b" } },  { { "r11", "r11d", "r11w", "r11b" } },
	{ { "r12", "r12d", "r12w", "r12b" } },  { { "r13", "r13d", "r13w", "r13b" } },
	{ { "r14", "r14d", "r14w", "r14b" } },  { { "r15", "r15d", "r15w", "r15b" } },
};

/* Returns the number of the register NAME (N bytes, without '%'), or -1. */
static int usdt_register(const char *name, size_t n, uint8_t *ret_shift)
{
	for (int reg = 0; reg < (int)ARRAY_SIZE(usdt_registers); reg++)
		for (size_t i = 0; i < ARRAY_SIZE(usdt_registers[reg].names); i++) {
			const char *its = usdt_registers[reg].names[i];

			if (!its || strlen(its) != n || memcmp(its, name, n) != 0)
				continue;
			*ret_shift = i == 4 ? 8 : 0;
			return reg;
		}
	return -1;
}

/* Parses an operand: "%edi", "$5", "-16(%rbp)". */
static void usdt_operand(const char *p, struct place_argument *to)
{
	size_t n = strcspn(p, " ");
	char *end;
	int reg;

	to->load = (struct place_load){ .base = PLACE_REGISTER, .bytes = to->bytes };
	if (*p == '%') {
		reg = usdt_register(p + 1, n - 1, &to->shift);
		to->load.is_value = true;
		to->load.reg = (uint8_t)reg;
		if (reg < 0)
			to->reason = PLACE_REASON_VECTOR;
		return;
	}
	if (*p == '$') {
		to->load.base = PLACE_ZERO;
		to->load.is_value = true;
		to->load.offset = strtoll(p + 1, &end, 0);
		if (end != p + n)
			to->reason = PLACE_REASON_COMPLEX;
		return;
	}
	to->load.offset = *p == '(' ? 0 : strtoll(p, &end, 0);
	if (*p == '(')
		end = (char *)p;
	reg = end[0] == '(' && end[1] == '%'
		      ? usdt_register(end + 2, strcspn(end + 2, "),"), &(uint8_t){ 0 })
		      : -1;
	if (reg < 0 || strcspn(end, ")") + 1 != (size_t)(p + n - end) || memchr(p, ',', n))
		to->reason = PLACE_REASON_COMPLEX;
	else
		to->load.reg = (uint8_t)reg;
}

void place_usdt_arguments(const char *text, struct place_arguments *ret)
{
	const char *p = text + strspn(text, " ");

	*ret = (struct place_arguments){ 0 };
	for (; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
		struct place_argument *to;
		bool is_signed = *p == '-', is_float;
		char *end;
		long bytes = strtol(p + is_signed, &end, 10);

		if (ret->n == PLACE_ARGUMENTS_MAX) {
			ret->cut = true;
			return;
		}
		to = &ret->list[ret->n++];
		snprintf(to->name, sizeof(to->name), "arg%zu", ret->n);
		is_float = *end == 'f';
		end += is_float;
		/* An argument without a size has the size of a register. */
		if (end == p + is_signed || *end != '@') {
			bytes = 8;
			end = (char *)p - 1;
		}
		to->bytes =
			bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 ? (uint8_t)bytes : 0;
		to->kind = is_float ? 'f' : is_signed ? 'i' : 'u';
		if (to->bytes == 0)
			to->reason = PLACE_REASON_COMPLEX;
		else
			usdt_operand(end + 1, to);
	}
}

/* ---- notes ---- */

struct usdt_search {
	struct places *places;
	const char *provider, *name;
	uint64_t base; /* the current address of .stapsdt.base */
	struct place_usdts found;
	size_t room;
	struct value_nearest nearest;
};

static void usdt_compare_near(struct usdt_search *s, const char *provider, const char *name)
{
	if (value_nearest_try(&s->nearest, name))
		snprintf(s->found.nearest, sizeof(s->found.nearest), "%s:%s", provider, name);
}

static int usdt_on_note(struct usdt_search *s, const struct usdt_note *note)
{
	struct place_usdt *to;

	s->found.n_all++;
	if ((*s->provider && fnmatch(s->provider, note->provider, 0) != 0) ||
	    fnmatch(s->name, note->name, 0) != 0) {
		usdt_compare_near(s, note->provider, note->name);
		return 0;
	}
	if (s->found.n == PLACES_FOUND_MAX)
		return 0;
	if (GROW_ZERO(s->found.list, s->room, s->found.n + 1) < 0)
		return -ENOMEM;
	to = &s->found.list[s->found.n++];
	*to = (struct place_usdt){ .provider = strdup(note->provider), .name = strdup(note->name) };
	to->vaddr = usdt_note_vaddr(note, note->vaddr, s->base);
	place_usdt_arguments(note->arguments, &to->arguments);
	return to->provider && to->name ? 0 : -ENOMEM;
}

static int usdt_read(struct usdt_search *s, const char *notes, size_t n)
{
	struct usdt_note note;
	size_t at = 0;
	int r;

	while ((r = usdt_note_next(notes, n, &at, &note)) > 0) {
		r = usdt_on_note(s, &note);
		if (r < 0)
			return r;
	}
	return r;
}

DEFINE_ORDER(usdt_compare, struct place_usdt, COMPARE(x->vaddr, y->vaddr))

int place_usdts_find(struct places *p, const char *provider, const char *name,
		     struct place_usdts *ret)
{
	struct usdt_search s = {
		.places = p,
		.provider = provider,
		.name = name,
		.nearest = { .text = name, .distance = VALUE_NEAR },
	};
	GElf_Shdr base;
	size_t n = 0;
	const char *notes = elf_file_content(p->main.elf, ".note.stapsdt", NOTE_BYTES_MAX, &n);
	int r = 0;

	if (elf_file_section(p->main.elf, ".stapsdt.base", &base))
		s.base = base.sh_addr;
	if (notes)
		r = usdt_read(&s, notes, n);
	if (r < 0) {
		place_usdts_deinit(&s.found);
		return r;
	}
	SORT(s.found.list, s.found.n, usdt_compare);
	*ret = s.found;
	return 0;
}

static void usdt_explain_none(const char *file, const char *text, const struct place_usdts *u,
			      char why[static PLACES_WHY_MAX])
{
	if (u->n_all == 0)
		snprintf(why, PLACES_WHY_MAX, "%s has no static probes", file);
	else
		snprintf(why, PLACES_WHY_MAX, "%s has no static probe '%s'%s%.200s%s", file, text,
			 *u->nearest ? "; did you mean '" : "", u->nearest,
			 *u->nearest ? "'?" : "");
}

int place_usdts_named(struct places *p, const char *file, const char *text, struct place_usdts *ret,
		      char why[static PLACES_WHY_MAX])
{
	char provider[PLACES_NAME_MAX];
	const char *colon = strchr(text, ':');
	int r;

	snprintf(provider, sizeof(provider), "%.*s", (int)(colon ? colon - text : 0), text);
	r = place_usdts_find(p, provider, colon ? colon + 1 : text, ret);
	if (r == -EBADMSG)
		snprintf(why, PLACES_WHY_MAX, "the notes of static probes in %s are damaged", file);
	if (r < 0 || ret->n > 0)
		return r;
	usdt_explain_none(file, text, ret, why);
	place_usdts_deinit(ret);
	return -ENOENT;
}
