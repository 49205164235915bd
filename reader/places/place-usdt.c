/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/places/place-usdt.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/usdt-note.h"
#include "base/value.h"
#include "reader/places/places-parts.h"

enum { NOTE_BYTES_MAX = 64 << 20, REGISTER_IP = 16 };

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

/* The names of registers, by DWARF's number. Each name of a register stands for other bytes of
 * it. */
static const struct {
	const char *names[5]; /* its 8, 4, 2 and 1 low bytes, and its second byte */
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

/* Returns the number of the register NAME (N bytes, without '%'); -1 = none. *RET_SHIFT is the
 * number of bits below the named bytes. */
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

/* The probe whose arguments are parsed. */
struct usdt_probe {
	struct places *places; /* NULL = no symbols */
	uint64_t vaddr;
	int error; /* 0 or -ENOMEM */
};

/* Returns true if the file is loaded at fixed addresses: those of its symbols. */
static bool usdt_is_fixed(const struct usdt_probe *probe)
{
	GElf_Ehdr header;

	return probe->places && gelf_getehdr(probe->places->main.elf->elf, &header) &&
	       header.e_type == ET_EXEC;
}

/* Finds the address of the symbol whose name is the N bytes at NAME. Returns false if there is
 * none. */
static bool usdt_symbol(struct usdt_probe *probe, const char *name, size_t n, uint64_t *ret)
{
	struct places *p = probe->places;
	int r = 0;

	*ret = 0;
	if (p)
		r = place_symbols_address(&p->data_symbols,
					  (const struct elf_file *[]){ p->main.elf, p->debug.elf },
					  name, n, ret);
	if (r < 0)
		probe->error = r;
	return r > 0;
}

/* An operand in memory: SYMBOL + DISPLACEMENT (%BASE, %INDEX, SCALE). */
struct usdt_memory {
	bool has_symbol;
	uint64_t offset; /* displacement, and the address of the symbol */
	int base, index; /* registers; -1 = none */
	uint8_t scale;
};

/* Parses a sum of numbers and symbols ("-16", "table+8", or ""), up to a parenthesis or END. */
static enum place_reason usdt_displacement(struct usdt_probe *probe, const char **p,
					   const char *end, struct usdt_memory *to)
{
	while (*p < end && **p != '(') {
		bool minus = **p == '-';
		const char *term = *p + (minus || **p == '+');
		size_t n = strspn(term, "0123456789abcdefghijklmnopqrstuvwxyz"
					"ABCDEFGHIJKLMNOPQRSTUVWXYZ_.$");
		uint64_t value;
		char *stop;

		if (n == 0 || n > (size_t)(end - term))
			return PLACE_REASON_COMPLEX;
		if (isdigit((unsigned char)*term)) {
			value = strtoull(term, &stop, 0);
			if (stop != term + n)
				return PLACE_REASON_COMPLEX;
		} else if (minus || to->has_symbol) {
			return PLACE_REASON_COMPLEX;
		} else if (!usdt_symbol(probe, term, n, &value)) {
			return PLACE_REASON_NO_SYMBOL;
		} else {
			to->has_symbol = true;
		}
		to->offset += minus ? -value : value;
		*p = term + n;
	}
	return PLACE_REASON_NONE;
}

/* Parses a register with all 64 bits at *P. Returns its number; -1 = there is none. */
static int usdt_address_register(const char **p)
{
	size_t n = **p == '%' ? strcspn(*p + 1, ",) ") : 0;
	const char *name = *p + 1;

	*p += n + (n > 0);
	if (n == 3 && memcmp(name, "rip", n) == 0)
		return REGISTER_IP;
	for (int reg = 0; reg < (int)ARRAY_SIZE(usdt_registers); reg++)
		if (n > 0 && strlen(usdt_registers[reg].names[0]) == n &&
		    memcmp(usdt_registers[reg].names[0], name, n) == 0)
			return reg;
	return -1;
}

/* Parses "(%rbp)", "(%rax,%rdx,8)" or "(,%rdx,4)" from P to END. Returns false if it is something
 * else. */
static bool usdt_registers_of(const char *p, const char *end, struct usdt_memory *to)
{
	if (p == end)
		return true;
	p++;
	if (*p == '%') {
		to->base = usdt_address_register(&p);
		if (to->base < 0)
			return false;
	}
	if (*p == ',') {
		p++;
		to->index = usdt_address_register(&p);
		if (to->index < 0 || to->index == REGISTER_IP)
			return false;
		to->scale = 1;
		if (*p == ',') {
			if (!memchr("1248", p[1], 4))
				return false;
			to->scale = (uint8_t)(p[1] - '0');
			p += 2;
		}
	}
	return *p == ')' && p + 1 == end && (to->base >= 0 || to->index >= 0);
}

/*
 * Parses an operand in memory, which ends at END. A symbol without %rip is possible only in a
 * program with fixed addresses: then the address is expressed by its distance to the probe.
 */
static enum place_reason usdt_memory(struct usdt_probe *probe, const char *p, const char *end,
				     struct place_load *to)
{
	struct usdt_memory m = { .base = -1, .index = -1 };
	enum place_reason reason = usdt_displacement(probe, &p, end, &m);

	if (reason)
		return reason;
	if (!usdt_registers_of(p, end, &m))
		return PLACE_REASON_COMPLEX;
	if (m.base == REGISTER_IP) {
		m.offset -= m.has_symbol ? probe->vaddr : 0;
	} else if ((m.has_symbol || m.base < 0) && !usdt_is_fixed(probe)) {
		return PLACE_REASON_COMPLEX;
	} else if (m.base < 0) {
		m.base = REGISTER_IP;
		m.offset -= probe->vaddr;
	}
	to->reg = (uint8_t)m.base;
	to->offset = (int64_t)m.offset;
	to->scale = m.scale;
	to->index = m.scale ? (uint8_t)m.index : 0;
	return PLACE_REASON_NONE;
}

/* Parses an operand: "%edi", "$5", "-16(%rbp)". */
static void usdt_operand(struct usdt_probe *probe, const char *p, struct place_argument *to)
{
	size_t n = strcspn(p, " ");
	char *end;
	int reg;

	to->load = (struct place_load){ .base = PLACE_REGISTER, .bytes = to->bytes };
	if (*p == '%' && !memchr(p, ':', n)) {
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
	to->reason = n > 0 ? usdt_memory(probe, p, p + n, &to->load) : PLACE_REASON_COMPLEX;
}

int place_usdt_arguments(struct places *places, uint64_t vaddr, const char *text,
			 struct place_arguments *ret)
{
	struct usdt_probe probe = { .places = places, .vaddr = vaddr };
	const char *p = text + strspn(text, " ");

	*ret = (struct place_arguments){ 0 };
	for (; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
		struct place_argument *to;
		bool is_signed = *p == '-', is_float;
		char *end;
		long bytes = strtol(p + is_signed, &end, 10);

		if (ret->n == PLACE_ARGUMENTS_MAX) {
			ret->cut = true;
			break;
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
			usdt_operand(&probe, end + 1, to);
	}
	return probe.error;
}

/* ---- notes ---- */

struct usdt_search {
	struct places *places;
	const char *provider, *name;
	uint64_t base; /* the current address of .stapsdt.base */
	struct place_usdts found;
	size_t room;
	struct value_nearest nearest, nearest_provider;
};

/* Notes the nearest probe: one with a near name, or if there is none, the name itself of a near
 * provider. */
static void usdt_compare_near(struct usdt_search *s, const char *provider, const char *name)
{
	char *to = s->found.nearest;

	if (value_nearest_try(&s->nearest, name))
		snprintf(to, sizeof(s->found.nearest), "%s:%s", provider, name);
	else if (!s->nearest.nearest && fnmatch(s->name, name, 0) == 0 &&
		 value_nearest_try(&s->nearest_provider, provider))
		snprintf(to, sizeof(s->found.nearest), "%s:%s", provider, s->name);
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
	if (!to->provider || !to->name)
		return -ENOMEM;
	return place_usdt_arguments(s->places, to->vaddr, note->arguments, &to->arguments);
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
		.nearest_provider = { .text = provider, .distance = VALUE_NEAR },
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
