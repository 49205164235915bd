/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/symbols/symbol-list.h"

#include <errno.h>
#include <string.h>

#include "reader/symbols/symbol-types.h"

/* Bits of a rank, the most significant criterion first. The name with the lowest rank is used. */
enum {
	RANK_UNSIZED = 1 << 30,
	RANK_NO_FUNCTION = 1 << 29,
	RANK_PLT = 1 << 28,
	RANK_LOCAL = 1 << 27,
	RANK_UNDERSCORES_SHIFT = 19, /* 8 bits */
	RANK_WEAK = 1 << 18,
	RANK_LENGTH_MAX = (1 << 16) - 1,
};

void symbol_list_deinit(struct symbol_list *l)
{
	range_list_deinit(&l->ranges);
	outbuf_deinit(&l->names);
}

int symbol_list_add_names(struct symbol_list *l, const char *names, size_t n, uint32_t *ret_base)
{
	size_t base = l->names.size;
	char *to;

	if (n >= UINT32_MAX - base)
		return -EFBIG;
	if (l->names.limit == 0)
		l->names.limit = UINT32_MAX;
	to = outbuf_reserve(&l->names, n + 1);
	if (!to)
		return -ENOMEM;
	memcpy(to, names, n);
	to[n] = '\0';
	*ret_base = (uint32_t)base;
	return 0;
}

static const char *symbol_list_name_of(const struct symbol_list *l, uint32_t offset)
{
	return (const char *)l->names.data + offset;
}

/* Returns the length of NAME without its version, such as "@@GLIBC_2.14". */
static size_t symbol_list_name_length(const char *name)
{
	size_t n = strnlen(name, SYMBOL_NAME_MAX);
	const char *at = n > 1 ? memchr(name + 1, '@', n - 1) : NULL;

	return at ? (size_t)(at - name) : n;
}

static uint32_t symbol_list_rank_of(const struct symbol *symbol, const char *name)
{
	size_t underscores = 0;
	uint32_t rank = (uint32_t)strnlen(name, RANK_LENGTH_MAX);

	/* The underscore of a mangled name does not count. */
	while (name[underscores] == '_' && underscores < 255)
		underscores++;
	if (underscores == 1 && (name[1] == 'Z' || name[1] == 'R'))
		underscores = 0;
	rank |= (uint32_t)underscores << RANK_UNDERSCORES_SHIFT;
	if (symbol->size == 0)
		rank |= RANK_UNSIZED;
	if (!symbol->function)
		rank |= RANK_NO_FUNCTION;
	if (symbol->plt)
		rank |= RANK_PLT;
	if (symbol->local)
		rank |= RANK_LOCAL;
	if (symbol->weak)
		rank |= RANK_WEAK;
	return rank;
}

int symbol_list_add(struct symbol_list *l, const struct symbol *symbol)
{
	uint64_t end = symbol->size ? symbol->start + symbol->size : symbol->bound;

	if (symbol->name >= l->names.size || end <= symbol->start)
		return 0;
	return range_list_add(&l->ranges, symbol->start, end, symbol->name,
			      symbol_list_rank_of(symbol, symbol_list_name_of(l, symbol->name)));
}

static bool symbol_list_is_unsized(const struct range *range)
{
	return range->rank & RANK_UNSIZED;
}

/* Keeps the best name of each address. Gives a size to symbols without one, or drops them if they
 * are in a function with a size. Returns 0 or -ENOMEM. */
int symbol_list_finish(struct symbol_list *l)
{
	struct range_list *ranges = &l->ranges;
	struct range *items;
	uint64_t sized_to = 0;
	size_t n = 0;
	int r = range_list_sort(ranges);

	if (r < 0)
		return r;
	items = ranges->items;
	for (size_t i = 0; i < ranges->n; i++) {
		/* Of items with equal starts, the best one is the last one. */
		if (i + 1 < ranges->n && items[i + 1].start == items[i].start)
			continue;
		if (symbol_list_is_unsized(&items[i]) && items[i].start < sized_to)
			continue;
		if (!symbol_list_is_unsized(&items[i]) && items[i].end > sized_to)
			sized_to = items[i].end;
		items[n++] = items[i];
	}
	ranges->n = n;
	for (size_t i = 0; i + 1 < n; i++)
		if (symbol_list_is_unsized(&items[i]) && items[i].end > items[i + 1].start)
			items[i].end = items[i + 1].start;
	return range_list_sort(ranges);
}

bool symbol_list_find(const struct symbol_list *l, uint64_t address, struct symbol_found *ret)
{
	const struct range *range = range_list_find(&l->ranges, address);

	if (!range)
		return false;
	ret->name = symbol_list_name_of(l, range->value);
	ret->n = symbol_list_name_length(ret->name);
	ret->offset = address - range->start;
	ret->function = !(range->rank & RANK_NO_FUNCTION);
	ret->plt = range->rank & RANK_PLT;
	return true;
}

size_t symbol_list_bytes(const struct symbol_list *l)
{
	return range_list_bytes(&l->ranges) + l->names.room;
}
