/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/cold-parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/function-clone.h"
#include "base/table.h"

enum {
	COLD_NAME_MAX = 4096, /* bytes of a symbol */
	COLD_PARTS_MAX = 65536,
};

/* A symbol of a cold part. */
struct cold_symbol {
	struct cold_symbol *next; /* another one with the same hash */
	const char *name;         /* in the file */
	size_t n;                 /* bytes of the name of its function */
	uint64_t vaddr, bytes;
};

struct cold_search {
	struct table symbols; /* the hash of the function's name -> struct cold_symbol, owned */
	size_t n_symbols;
	struct cold_parts *parts;
	int error;
};

/* The bytes of NAME before the mark of a cold part; 0 = it is no cold part. */
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

static int cold_parts_on_symbol(const char *name, size_t n, uint64_t vaddr, uint64_t bytes,
				void *userdata)
{
	struct cold_search *s = userdata;
	size_t base = cold_parts_base(name, n);
	struct cold_symbol *symbol;
	uint64_t key;

	if (base == 0 || bytes == 0)
		return 0;
	if (++s->n_symbols > COLD_PARTS_MAX) {
		s->parts->is_full = true;
		return 1;
	}
	symbol = malloc(sizeof(*symbol));
	key = table_hash(name, base);
	if (symbol)
		*symbol = (struct cold_symbol){ table_get(&s->symbols, key), name, base, vaddr,
						bytes };
	if (!symbol || table_set(&s->symbols, key, symbol) < 0) {
		free(symbol);
		s->error = -ENOMEM;
	}
	return s->error;
}

static int cold_parts_on_function(const char *name, size_t n, uint64_t vaddr, uint64_t bytes,
				  void *userdata)
{
	struct cold_search *s = userdata;
	struct cold_parts *parts = s->parts;
	const struct cold_symbol *symbol =
		n > 0 ? table_get(&s->symbols, table_hash(name, n)) : NULL;

	(void)bytes;
	for (; symbol; symbol = symbol->next) {
		if (symbol->n != n || memcmp(symbol->name, name, n) != 0)
			continue;
		if (parts->n == COLD_PARTS_MAX) {
			parts->is_full = true;
			return 1;
		}
		if (GROW(parts->list, parts->room, parts->n + 1) < 0)
			return s->error = -ENOMEM;
		parts->list[parts->n++] = (struct cold_part){ vaddr, symbol->vaddr, symbol->bytes };
	}
	return 0;
}

int cold_parts_find(const struct elf_image *image, struct cold_parts *ret)
{
	struct cold_search s = { .parts = ret };
	struct cold_symbol *symbol;
	size_t n;

	*ret = (struct cold_parts){ 0 };
	elf_image_functions(image, cold_parts_on_symbol, &s, &n);
	if (s.error == 0 && s.n_symbols > 0)
		elf_image_functions(image, cold_parts_on_function, &s, &n);
	for (size_t pos = 0; (symbol = table_next(&s.symbols, &pos));)
		while (symbol) {
			struct cold_symbol *next = symbol->next;

			free(symbol);
			symbol = next;
		}
	table_deinit(&s.symbols);
	if (s.error < 0)
		cold_parts_deinit(ret);
	return s.error;
}

void cold_parts_deinit(struct cold_parts *parts)
{
	free(parts->list);
	*parts = (struct cold_parts){ 0 };
}
