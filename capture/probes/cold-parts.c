/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/cold-parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/function-clone.h"

enum {
	COLD_NAME_MAX = 4096, /* bytes of a symbol */
	COLD_PARTS_MAX = 65536,
	COLD_OWNERS_MAX = 65536,
	COLD_SEARCHED_MAX = 16 << 20, /* bytes of a file that are searched for jumps */
};

struct cold_search {
	struct cold_parts *parts;
	int error;
};

/*
 * Returns the number of bytes of NAME before the suffix of a cold part; 0 = NAME is not the name of
 * a cold part.
 */
static size_t cold_parts_base(const char *name, size_t n)
{
	char text[COLD_NAME_MAX];
	char *mark = NULL;

	if (n >= sizeof(text) || !memmem(name, n, ".cold", 5))
		return 0;
	memcpy(text, name, n);
	text[n] = '\0';
	if (!function_clone_is_cold(text))
		return 0;
	for (char *p = strstr(text, ".cold"); p; p = strstr(p + 1, ".cold"))
		mark = p;
	return mark ? (size_t)(mark - text) : 0;
}

static int cold_parts_compare_names(const char *a, size_t n_a, const char *b, size_t n_b)
{
	return COMPARE(n_a, n_b) ?: memcmp(a, b, n_a);
}

DEFINE_ORDER(cold_parts_compare, struct cold_part,
	     cold_parts_compare_names(x->name, x->n, y->name, y->n) ?: COMPARE(x->vaddr, y->vaddr))

DEFINE_ORDER(cold_parts_compare_owners, struct cold_owner,
	     COMPARE(x->first, y->first) ?: COMPARE(x->vaddr, y->vaddr))

static bool cold_parts_has_name(const struct cold_part *part, const char *name, size_t n)
{
	return cold_parts_compare_names(part->name, part->n, name, n) == 0;
}

/* ---- the search ---- */

static int cold_parts_on_symbol(const char *name, size_t n, uint64_t vaddr, uint64_t bytes,
				void *userdata)
{
	struct cold_search *s = userdata;
	struct cold_parts *parts = s->parts;
	size_t base = cold_parts_base(name, n);

	if (base == 0 || bytes == 0)
		return 0;
	if (parts->n_parts == COLD_PARTS_MAX) {
		parts->is_full = true;
		return 1;
	}
	if (GROW(parts->parts, parts->parts_room, parts->n_parts + 1) < 0)
		return s->error = -ENOMEM;
	parts->parts[parts->n_parts++] =
		(struct cold_part){ .name = name, .n = base, .vaddr = vaddr, .bytes = bytes };
	return 0;
}

static int cold_parts_on_function(const char *name, size_t n, uint64_t vaddr, uint64_t bytes,
				  void *userdata)
{
	struct cold_search *s = userdata;
	struct cold_parts *parts = s->parts;
	size_t first = ARRAY_FIRST(i, 0, parts->n_parts,
				   cold_parts_compare_names(parts->parts[i].name, parts->parts[i].n,
							    name, n) >= 0);
	size_t end = first;

	while (end < parts->n_parts && cold_parts_has_name(&parts->parts[end], name, n))
		end++;
	if (end == first)
		return 0;
	if (parts->n_owners == COLD_OWNERS_MAX) {
		parts->is_full = true;
		return 1;
	}
	if (GROW(parts->owners, parts->owners_room, parts->n_owners + 1) < 0)
		return s->error = -ENOMEM;
	parts->owners[parts->n_owners++] = (struct cold_owner){
		.first = first, .n = end - first, .vaddr = vaddr, .bytes = bytes
	};
	return 0;
}

/* Sorts the parts and removes duplicates: a symbol can be in both symbol tables of the file. */
static void cold_parts_sort(struct cold_parts *parts)
{
	size_t n = 0;

	SORT(parts->parts, parts->n_parts, cold_parts_compare);
	for (size_t i = 0; i < parts->n_parts; i++)
		if (n == 0 || cold_parts_compare(&parts->parts[n - 1], &parts->parts[i]) != 0)
			parts->parts[n++] = parts->parts[i];
	parts->n_parts = n;
}

static void cold_parts_sort_owners(struct cold_parts *parts)
{
	size_t n = 0;

	SORT(parts->owners, parts->n_owners, cold_parts_compare_owners);
	for (size_t i = 0; i < parts->n_owners; i++)
		if (n == 0 ||
		    cold_parts_compare_owners(&parts->owners[n - 1], &parts->owners[i]) != 0)
			parts->owners[n++] = parts->owners[i];
	parts->n_owners = n;
}

int cold_parts_find(const struct elf_image *image, struct cold_parts *ret)
{
	struct cold_search s = { .parts = ret };
	size_t n;

	*ret = (struct cold_parts){ 0 };
	elf_image_functions(image, cold_parts_on_symbol, &s, &n);
	cold_parts_sort(ret);
	if (s.error == 0 && ret->n_parts > 0)
		elf_image_functions(image, cold_parts_on_function, &s, &n);
	cold_parts_sort_owners(ret);
	if (s.error < 0)
		cold_parts_deinit(ret);
	return s.error;
}

void cold_parts_deinit(struct cold_parts *parts)
{
	free(parts->parts);
	free(parts->owners);
	*parts = (struct cold_parts){ 0 };
}

/* ---- owners ---- */

/* The functions with one name, and the cold parts with this name; both are sorted by address. */
struct cold_group {
	const struct cold_owner *owners;
	struct cold_part *parts;
	size_t n_owners, n_parts;
};

static struct cold_group cold_parts_group(const struct cold_parts *parts,
					  const struct cold_owner *owner)
{
	const struct cold_owner *first = owner, *end = owner + 1;

	while (first > parts->owners && first[-1].first == owner->first)
		first--;
	while (end < parts->owners + parts->n_owners && end->first == owner->first)
		end++;
	return (struct cold_group){ .owners = first,
				    .n_owners = (size_t)(end - first),
				    .parts = parts->parts + owner->first,
				    .n_parts = owner->n };
}

/* The part of G that contains VADDR, or NULL. */
static struct cold_part *cold_parts_at(const struct cold_group *g, uint64_t vaddr)
{
	size_t i = ARRAY_FIRST(k, 0, g->n_parts, g->parts[k].vaddr > vaddr);

	return i > 0 && vaddr - g->parts[i - 1].vaddr < g->parts[i - 1].bytes ? &g->parts[i - 1]
									      : NULL;
}

/* The function of G that contains VADDR, or NULL. */
static const struct cold_owner *cold_parts_owner_at(const struct cold_group *g, uint64_t vaddr)
{
	size_t i = ARRAY_FIRST(k, 0, g->n_owners, g->owners[k].vaddr > vaddr);

	return i > 0 && vaddr - g->owners[i - 1].vaddr < g->owners[i - 1].bytes ? &g->owners[i - 1]
										: NULL;
}

/*
 * Follows the jumps in the BYTES of code at FROM, a function of G or one of its parts: FROM_OWNER
 * or FROM_PART is set. A part belongs to the first function that is found for it.
 */
static void cold_parts_join(struct cold_parts *parts, const struct elf_image *image,
			    struct disassembler *disassembler, const struct cold_group *g,
			    const struct cold_owner *from_owner, struct cold_part *from_part)
{
	uint64_t from = from_owner ? from_owner->vaddr : from_part->vaddr, offset;
	uint64_t bytes = from_owner ? from_owner->bytes : from_part->bytes;
	struct instruction i;
	size_t n;
	const uint8_t *p = elf_image_code(image, from, &n, &offset);

	if (!p)
		return;
	if (n > bytes)
		n = bytes;
	for (size_t at = 0; at < n && parts->n_searched < COLD_SEARCHED_MAX; at += i.length) {
		struct cold_part *part = from_part;
		const struct cold_owner *owner = from_owner;

		if (!disassembler_read(disassembler, p + at, n - at, from + at, &i))
			return;
		parts->n_searched += i.length;
		if ((i.kind != INSTRUCTION_BRANCH && i.kind != INSTRUCTION_JUMP) || !i.target)
			continue;
		part = part ?: cold_parts_at(g, i.target);
		owner = owner ?: cold_parts_owner_at(g, i.target);
		if (part && owner && !part->owner)
			part->owner = owner->vaddr;
	}
}

/* Finds the functions of the parts with the name of OWNER. */
static void cold_parts_join_all(struct cold_parts *parts, const struct elf_image *image,
				struct disassembler *disassembler, const struct cold_owner *owner)
{
	struct cold_group g = cold_parts_group(parts, owner);

	if (g.parts[0].is_judged)
		return;
	g.parts[0].is_judged = true;
	for (size_t i = 0; g.n_owners > 1 && i < g.n_owners; i++)
		cold_parts_join(parts, image, disassembler, &g, &g.owners[i], NULL);
	for (size_t i = 0; i < g.n_parts; i++)
		if (g.n_owners == 1)
			g.parts[i].owner = owner->vaddr;
		else if (!g.parts[i].owner)
			cold_parts_join(parts, image, disassembler, &g, NULL, &g.parts[i]);
}

enum cold_claim cold_parts_claim(struct cold_parts *parts, const struct elf_image *image,
				 struct disassembler *disassembler, const struct cold_owner *owner,
				 size_t i)
{
	const struct cold_part *part = &parts->parts[owner->first + i];

	cold_parts_join_all(parts, image, disassembler, owner);
	if (!part->owner)
		return COLD_CLAIM_UNSURE;
	return part->owner == owner->vaddr ? COLD_CLAIM_OWN : COLD_CLAIM_NONE;
}
