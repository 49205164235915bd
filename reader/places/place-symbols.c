/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/places/place-symbols.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"

enum { TABLE_MAX = 256 << 20 }; /* bytes */

struct place_symbol {
	const char *name; /* in the file */
	uint64_t address;
};

void place_symbols_deinit(struct place_symbols *s)
{
	free(s->list);
	*s = (struct place_symbols){ 0 };
}

static int place_symbols_read(struct place_symbols *s, const struct elf_file *f, uint32_t type)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_section_of(f, type, &header);
	Elf_Data *data;
	size_t n;

	if (!section || header.sh_entsize == 0 || header.sh_size > TABLE_MAX ||
	    !(data = elf_getdata(section, NULL)))
		return 0;
	n = data->d_size / header.sh_entsize;
	for (size_t i = 0; i < n && i < INT32_MAX; i++) {
		const char *name;
		GElf_Sym symbol;
		int kind;

		if (!gelf_getsym(data, (int)i, &symbol))
			continue;
		kind = GELF_ST_TYPE(symbol.st_info);
		if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS || kind == STT_TLS ||
		    kind == STT_SECTION || kind == STT_FILE ||
		    !(name = elf_strptr(f->elf, header.sh_link, symbol.st_name)) || !*name)
			continue;
		if (GROW(s->list, s->room, s->n + 1) < 0)
			return -ENOMEM;
		s->list[s->n++] = (struct place_symbol){ name, symbol.st_value };
	}
	return 0;
}

DEFINE_ORDER(compare_symbols, struct place_symbol, strcmp(x->name, y->name))

static int place_symbols_load(struct place_symbols *s, const struct elf_file *const files[2])
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < 2; i++)
		if (files[i])
			r = place_symbols_read(s, files[i], SHT_SYMTAB)
				    ?: place_symbols_read(s, files[i], SHT_DYNSYM);
	if (r < 0)
		return r;
	SORT(s->list, s->n, compare_symbols);
	s->loaded = true;
	return 0;
}

/* Compares the name of SYMBOL with the N bytes at NAME, as strcmp() does. */
static int place_symbols_compare(const struct place_symbol *symbol, const char *name, size_t n)
{
	int order = strncmp(symbol->name, name, n);

	return order ?: symbol->name[n] != '\0';
}

int place_symbols_address(struct place_symbols *s, const struct elf_file *const files[2],
			  const char *name, size_t n, uint64_t *ret)
{
	int r = s->loaded ? 0 : place_symbols_load(s, files);
	size_t i;

	if (r < 0) {
		place_symbols_deinit(s);
		return r;
	}
	i = ARRAY_FIRST(k, 0, s->n, place_symbols_compare(&s->list[k], name, n) >= 0);
	for (; i < s->n && place_symbols_compare(&s->list[i], name, n) == 0; i++) {
		if (r == 1 && *ret != s->list[i].address)
			return 0;
		*ret = s->list[i].address;
		r = 1;
	}
	return r;
}
