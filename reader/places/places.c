/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/places/places.h"

#include <dwarf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/function-clone.h"
#include "reader/places/places-parts.h"
#include "reader/symbols/minidebug.h"

enum {
	PLACES_MEMORY_MAX = 1 << 30, /* maximum size of decompressed debug information */
	PLACES_TABLE_MAX = PLACES_MEMORY_MAX / 4,
	PLACES_DIES_MAX = 4 * 1000 * 1000,
	PLACES_DEPTH_MAX = 64,
};

/* Stores the first error. */
struct places_trouble {
	char *why;
	size_t size;
};

static void places_note_trouble(void *userdata, const char *path, const char *what)
{
	struct places_trouble *t = userdata;

	if (*t->why == '\0')
		snprintf(t->why, t->size, "%s: %s", path, what);
}

/* ---- opening ---- */

static int places_find_main(struct places *p, const struct places_living *living,
			    struct places_trouble *trouble)
{
	_cleanup_free_ char *real = living ? strdup(living->path) : realpath(p->path, NULL);
	struct symbol_query query = { .mapping = { .path = real } };
	int error = errno, r;

	if (!real) {
		snprintf(trouble->why, trouble->size, "%s: %s", p->path, strerror(error));
		return -error;
	}
	if (living) {
		query.pid = living->pid;
		query.lives = true;
		query.mapping.start = living->start;
		query.mapping.size = living->size;
		query.mapping.device = living->device;
		query.mapping.inode = living->inode;
	}
	r = find_mapped_file(&p->where, &query, &p->main, places_note_trouble, trouble);
	if (r == 1)
		return 0;
	if (r == 0 && *trouble->why == '\0')
		snprintf(trouble->why, trouble->size, "%s: it cannot be opened as a program",
			 p->path);
	return r < 0 ? r : -ENOEXEC;
}

static int places_find_debug(struct places *p, struct places_trouble *trouble)
{
	if (elf_file_section(p->main.elf, ".symtab", NULL) && dwarf_info_is_in(p->main.elf))
		return 0;
	return find_debug_file(&p->where, &p->main, &p->debug, places_note_trouble, trouble);
}

static int places_load_indirect_of(struct places *p, const struct elf_file *elf, uint32_t type)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_section_of(elf, type, &header);
	Elf_Data *data;
	size_t n;

	if (!section || header.sh_entsize == 0 || header.sh_size > PLACES_TABLE_MAX ||
	    !(data = elf_getdata(section, NULL)))
		return 0;
	n = data->d_size / header.sh_entsize;
	for (size_t i = 0; i < n && i < INT32_MAX; i++) {
		GElf_Sym symbol;

		if (!gelf_getsym(data, (int)i, &symbol) ||
		    GELF_ST_TYPE(symbol.st_info) != STT_GNU_IFUNC || symbol.st_value == 0)
			continue;
		if (GROW(p->indirect, p->indirect_room, p->n_indirect + 1) < 0)
			return -ENOMEM;
		p->indirect[p->n_indirect++] = symbol.st_value;
	}
	return 0;
}

bool places_is_indirect(const struct places *p, uint64_t vaddr)
{
	for (size_t i = 0; i < p->n_indirect; i++)
		if (p->indirect[i] == vaddr)
			return true;
	return false;
}

static int places_load_symbols_of(struct places *p, const struct elf_file *elf)
{
	const char *what = NULL;
	bool full = false;

	if (elf_file_symbols(elf, &p->main.elf->segments, PLACES_TABLE_MAX, &p->symbols, &full,
			     &what) == -ENOMEM)
		return -ENOMEM;
	p->has_symbols |= full;
	return places_load_indirect_of(p, elf, SHT_SYMTAB)
		       ?: places_load_indirect_of(p, elf, SHT_DYNSYM);
}

/* Loads the compressed symbols of a stripped file. Notes damage in TROUBLE. Returns 0 or
 * -ENOMEM. */
static int places_load_minidebug(struct places *p, struct places_trouble *trouble)
{
	_cleanup_(elf_file_freep) struct elf_file *elf = NULL;
	const char *what = NULL;
	int r = minidebug_open(&elf, p->main.elf, PLACES_TABLE_MAX, &what);

	if (r == -EBADMSG)
		places_note_trouble(trouble, p->path, what);
	if (r <= 0)
		return r == -ENOMEM ? r : 0;
	p->has_packed_symbols = true;
	return places_load_symbols_of(p, elf);
}

static int places_load_symbols(struct places *p, struct places_trouble *trouble)
{
	int r = places_load_symbols_of(p, p->main.elf);

	if (r == 0 && p->debug.elf)
		r = places_load_symbols_of(p, p->debug.elf);
	return r == 0 && !p->has_symbols ? places_load_minidebug(p, trouble) : r;
}

static int places_load_debug(struct places *p, struct places_trouble *trouble)
{
	const struct found_file *file =
		p->debug.elf && dwarf_info_is_in(p->debug.elf) ? &p->debug : &p->main;
	const char *what = NULL;
	int r;

	if (!dwarf_info_is_in(file->elf))
		return 0;
	r = find_alternate_file(&p->where, file, &p->alternate);
	if (r == -ENOENT)
		what = "it shares debug information with other files (dwz), which was not found";
	if (r >= 0)
		r = dwarf_info_open(&p->info, file->elf, p->alternate.elf, &p->main.elf->segments,
				    PLACES_MEMORY_MAX, &what);
	if (r == 0)
		p->dwarf = dwarf_info_handle(p->info);
	else if (what)
		places_note_trouble(trouble, file->path, what);
	return r == -ENOMEM ? r : 0;
}

int places_open(struct places **ret, const char *path, const struct places_options *options,
		char *why, size_t size)
{
	const struct symbols_options where = {
		.debug_dirs = options->debug_dirs,
		.n_debug_dirs = options->n_debug_dirs,
		.debuginfod = options->debuginfod,
	};
	_cleanup_(places_freep) struct places *p = calloc(1, sizeof(*p));
	struct places_trouble trouble = { why, size };
	int r;

	*why = '\0';
	if (!p)
		return -ENOMEM;
	p->main.root_fd = p->debug.root_fd = p->alternate.root_fd = -1;
	p->where = (struct find_places){ .root_fd = -1, .sysroot_fd = -1 };
	p->path = strdup(path);
	if (!p->path)
		return -ENOMEM;
	r = find_places_init(&p->where, &where);
	if (r < 0)
		snprintf(why, size, "cannot look for debug information: %s", strerror(-r));
	r = r ?: places_find_main(p, options->living, &trouble) ?: places_find_debug(p, &trouble);
	if (r >= 0)
		r = places_load_symbols(p, &trouble);
	/* (a problem noted so far is one with a file that can have symbols) */
	p->symbols_are_partial = r == 0 && *why && !elf_file_section(p->main.elf, ".symtab", NULL);
	r = r ?: places_load_debug(p, &trouble);
	if (r < 0)
		return r;
	/* (by damaged numbers, libdw can read any part of the file into memory, unless it is
	 * mapped) */
	if (p->main.elf->mapped || p->main.size <= PLACES_MEMORY_MAX)
		p->frames = dwarf_getcfi_elf(p->main.elf->elf);
	if (*why && !(p->problem = strdup(why)))
		return -ENOMEM;
	*ret = TAKE_PTR(p);
	return 0;
}

struct places *places_free(struct places *p)
{
	if (!p)
		return NULL;
	if (p->frames)
		dwarf_cfi_end(p->frames);
	dwarf_info_free(p->info);
	found_file_deinit(&p->main);
	found_file_deinit(&p->debug);
	found_file_deinit(&p->alternate);
	find_places_deinit(&p->where);
	symbol_list_deinit(&p->symbols);
	place_symbols_deinit(&p->data_symbols);
	free(p->indirect);
	free(p->problem);
	free(p->path);
	return free_ptr(p);
}

/* ---- properties ---- */

const char *places_path(const struct places *p)
{
	return p->path;
}

bool places_have_debug(const struct places *p)
{
	return p->dwarf != NULL;
}

bool places_have_symbols(const struct places *p)
{
	return p->has_symbols;
}

bool places_have_own_symbols(const struct places *p)
{
	return (!p->debug.elf && !p->has_packed_symbols) ||
	       elf_file_section(p->main.elf, ".symtab", NULL) != NULL;
}

const char *places_problem(const struct places *p)
{
	return p->problem ?: "";
}

const char *places_symbols_problem(const struct places *p)
{
	return p->symbols_are_partial ? places_problem(p) : "";
}

bool places_offset(const struct places *p, uint64_t vaddr, uint64_t *ret_offset)
{
	const struct elf_segments *segments = &p->main.elf->segments;

	for (size_t i = 0; i < segments->n; i++) {
		const struct elf_segment *s = &segments->items[i];

		if (!s->executable || vaddr < s->vaddr || vaddr - s->vaddr >= s->file_size)
			continue;
		*ret_offset = vaddr - s->vaddr + s->offset;
		return true;
	}
	return false;
}

bool places_address(const struct places *p, uint64_t offset, uint64_t *ret_vaddr)
{
	return elf_segments_address(&p->main.elf->segments, offset, ret_vaddr);
}

bool places_symbol(struct places *p, size_t i, struct places_symbol *ret,
		   char name[static PLACES_NAME_MAX])
{
	const struct range *range;
	const char *text, *version;
	size_t n;

	if (i >= p->symbols.ranges.n)
		return false;
	range = &p->symbols.ranges.items[i];
	text = (const char *)p->symbols.names.data + range->value;
	n = strnlen(text, PLACES_NAME_MAX - 1);
	version = n > 1 ? memchr(text + 1, '@', n - 1) : NULL;
	if (version)
		n = (size_t)(version - text);
	memcpy(name, text, n);
	name[n] = '\0';
	*ret = (struct places_symbol){ name, range->start, range->end - range->start };
	return true;
}

/* ---- units and functions ---- */

bool places_next(Dwarf_Die *die)
{
	Dwarf_Off before = dwarf_dieoffset(die);

	return dwarf_siblingof(die, die) == 0 && dwarf_dieoffset(die) > before;
}

bool places_has_code(Dwarf_Die *die, uint64_t vaddr)
{
	return vaddr != 0 && dwarf_haspc(die, vaddr) == 1;
}

bool places_unit(struct places *p, uint64_t vaddr, Dwarf_Die *ret)
{
	Dwarf_CU *unit = NULL;
	uint8_t type;
	Dwarf_Die die;

	if (!p->dwarf)
		return false;
	while (dwarf_get_units(p->dwarf, unit, &unit, NULL, &type, &die, NULL) == 0) {
		if (type != DW_UT_compile || !places_has_code(&die, vaddr))
			continue;
		*ret = die;
		return true;
	}
	return false;
}

const char *places_split_file(const struct places *p, uint64_t vaddr)
{
	static const unsigned names[] = { DW_AT_dwo_name, DW_AT_GNU_dwo_name };
	Dwarf_CU *unit = NULL;
	Dwarf_Attribute name;
	uint8_t type;
	Dwarf_Die die;

	if (!p->dwarf)
		return NULL;
	while (dwarf_get_units(p->dwarf, unit, &unit, NULL, &type, &die, NULL) == 0) {
		if (type != DW_UT_skeleton || (vaddr && !places_has_code(&die, vaddr)))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (dwarf_attr(&die, names[i], &name) && dwarf_formstring(&name))
				return dwarf_formstring(&name);
	}
	return NULL;
}

static bool places_is_scope(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type || tag == DW_TAG_union_type || tag == DW_TAG_subprogram ||
	       tag == DW_TAG_lexical_block;
}

static bool places_find_function(Dwarf_Die *parent, uint64_t vaddr, Dwarf_Die *ret, size_t *left,
				 unsigned depth)
{
	Dwarf_Die die;

	if (depth == PLACES_DEPTH_MAX || dwarf_child(parent, &die) != 0)
		return false;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram && places_has_code(&die, vaddr)) {
			/* (a function that is nested in this one can contain the address) */
			if (!places_find_function(&die, vaddr, ret, left, depth + 1))
				*ret = die;
			return true;
		}
		if (places_is_scope(tag) && tag != DW_TAG_lexical_block &&
		    places_find_function(&die, vaddr, ret, left, depth + 1))
			return true;
	} while (*left > 0 && --*left > 0 && places_next(&die));
	return false;
}

/* Returns true if the symbol at VADDR is that of a function, and not that of its cold part. */
static bool places_begins_function(struct places *p, uint64_t vaddr)
{
	char name[PLACES_NAME_MAX];
	struct places_symbol symbol;

	for (size_t i = 0; i < p->symbols.ranges.n; i++)
		if (p->symbols.ranges.items[i].start == vaddr &&
		    places_symbol(p, i, &symbol, name) && !function_clone_is_cold(name))
			return true;
	return false;
}

bool places_entry(struct places *p, Dwarf_Die *function, Dwarf_Addr *ret)
{
	enum { PARTS_MAX = 8 };
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;
	int i = 0;

	if (dwarf_entrypc(function, ret) == 0)
		return true;
	for (; i < PARTS_MAX && (at = dwarf_ranges(function, at, &base, &begin, &end)) > 0; i++) {
		if (i == 0)
			*ret = begin;
		if (places_begins_function(p, begin)) {
			*ret = begin;
			return true;
		}
	}
	return i > 0;
}

bool places_function(struct places *p, uint64_t vaddr, Dwarf_Die *ret)
{
	size_t left = PLACES_DIES_MAX;
	Dwarf_Die unit;

	return places_unit(p, vaddr, &unit) && places_find_function(&unit, vaddr, ret, &left, 0);
}
