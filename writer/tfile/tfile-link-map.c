/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/tfile/tfile-link-map.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

enum {
	PAGE = 4096,
	HEADERS_MAX = 128,      /* maximum number of program headers; usually about ten */
	DYNAMIC_MAX = 16 << 10, /* maximum size of .dynamic in bytes */
	NAMESPACES_MAX = 16,
	BLOCKS_MAX = 3 + 2 * TFILE_LINK_MAP_LIBRARIES_MAX + NAMESPACES_MAX,
};

/* The structures of <link.h>, with the layout of 64-bit programs. */
struct tfile_link_map_debug {
	uint32_t version, pad;
	uint64_t map, brk;
	uint32_t state, pad2;
	uint64_t base;
	uint64_t next; /* next namespace; since version 2 */
};

struct tfile_link_map_entry {
	uint64_t bias, name, dynamic, next, previous;
};

struct tfile_link_map_walk {
	struct tfile_link_map *map;
	tfile_link_map_read_fn read;
	void *userdata;
	size_t room;
	uint64_t bytes;
	uint64_t *seen; /* addresses of the entries so far; owned */
	size_t n_seen, seen_room;
};

void tfile_link_map_deinit(struct tfile_link_map *m)
{
	free(m->blocks);
	*m = (struct tfile_link_map){ 0 };
}

/* Notes the first reason why data is missing. Returns 0. */
static int tfile_link_map_lacks(struct tfile_link_map_walk *w, const char *what)
{
	if (!w->map->missing)
		w->map->missing = what;
	return 0;
}

static bool tfile_link_map_get(struct tfile_link_map_walk *w, uint64_t address, void *to, size_t n)
{
	return address + n >= address && w->read(w->userdata, address, to, n) == 0;
}

/* Adds N bytes of memory at ADDRESS to the blocks. Returns 1, 0 if there is no room, or -ENOMEM. */
static int tfile_link_map_add(struct tfile_link_map_walk *w, uint64_t address, uint64_t n)
{
	struct tfile_link_map *m = w->map;

	if (w->bytes + n > TFILE_LINK_MAP_BYTES_MAX || m->n_blocks >= BLOCKS_MAX)
		return tfile_link_map_lacks(w, "too much memory");
	if (GROW(m->blocks, w->room, m->n_blocks + 1) < 0)
		return -ENOMEM;
	m->blocks[m->n_blocks++] = (struct tfile_link_map_block){ address, (uint32_t)n };
	w->bytes += n;
	return 1;
}

/* ---- libraries ---- */

/* Returns the length of the text at ADDRESS with its NUL; 0 = it has no end. */
static size_t tfile_link_map_length(struct tfile_link_map_walk *w, uint64_t address)
{
	char text[256];

	for (size_t n = 0, chunk; n < TFILE_LINK_MAP_NAME_MAX; n += chunk) {
		const char *end;

		/* The next page may be unmapped. */
		chunk = PAGE - (address + n) % PAGE;
		if (chunk > sizeof(text))
			chunk = sizeof(text);
		if (!tfile_link_map_get(w, address + n, text, chunk))
			return 0;
		end = memchr(text, '\0', chunk);
		if (end && n + (size_t)(end - text) < TFILE_LINK_MAP_NAME_MAX)
			return n + (size_t)(end - text) + 1;
	}
	return 0;
}

static int tfile_link_map_name(struct tfile_link_map_walk *w, uint64_t address)
{
	size_t n = tfile_link_map_length(w, address), page;

	if (n == 0)
		return tfile_link_map_lacks(w, "the name of a library cannot be read");
	/* (GDB reads eight bytes at a time) */
	page = PAGE - (address + n) % PAGE;
	if (n % 8 && page >= 8 - n % 8)
		n += 8 - n % 8;
	return tfile_link_map_add(w, address, n);
}

/* Notes the library entry at ADDRESS. Returns 1, 0 if it was there before or is one too many, or
 * -ENOMEM. */
static int tfile_link_map_is_new(struct tfile_link_map_walk *w, uint64_t address)
{
	for (size_t i = 0; i < w->n_seen; i++)
		if (w->seen[i] == address)
			return tfile_link_map_lacks(w, "the list of libraries is a loop");
	if (w->n_seen >= TFILE_LINK_MAP_LIBRARIES_MAX)
		return tfile_link_map_lacks(w, "too many libraries");
	if (GROW(w->seen, w->seen_room, w->n_seen + 1) < 0)
		return -ENOMEM;
	w->seen[w->n_seen++] = address;
	return 1;
}

/* Adds the library at ADDRESS; *NEXT is the address of the next one. Returns 1, 0 if the list
 * cannot be followed further, or -ENOMEM. */
static int tfile_link_map_library(struct tfile_link_map_walk *w, uint64_t address, uint64_t *next)
{
	struct tfile_link_map_entry entry;
	int r = tfile_link_map_is_new(w, address);

	if (r <= 0)
		return r;
	if (!tfile_link_map_get(w, address, &entry, sizeof(entry)))
		return tfile_link_map_lacks(w, "the list of libraries cannot be read");
	r = tfile_link_map_add(w, address, sizeof(entry));
	if (r <= 0)
		return r;
	r = tfile_link_map_name(w, entry.name);
	if (r < 0)
		return r;
	w->map->n_libraries++;
	*next = entry.next;
	return 1;
}

/* Adds the libraries of one namespace. Returns as tfile_link_map_library(). */
static int tfile_link_map_libraries(struct tfile_link_map_walk *w, uint64_t address)
{
	while (address) {
		int r = tfile_link_map_library(w, address, &address);

		if (r <= 0)
			return r;
	}
	return 1;
}

static int tfile_link_map_debug(struct tfile_link_map_walk *w, uint64_t address)
{
	for (unsigned i = 0; address && i < NAMESPACES_MAX; i++) {
		struct tfile_link_map_debug debug = { 0 };
		size_t n = offsetof(struct tfile_link_map_debug, next);
		int r;

		if (!tfile_link_map_get(w, address, &debug, n))
			return tfile_link_map_lacks(w, "struct r_debug cannot be read");
		if (debug.version >= 2 && tfile_link_map_get(w, address, &debug, sizeof(debug)))
			n = sizeof(debug);
		r = tfile_link_map_add(w, address, n);
		if (r > 0)
			r = tfile_link_map_libraries(w, debug.map);
		if (r <= 0)
			return r;
		address = debug.next;
	}
	return 0;
}

/* ---- the program ---- */

static int tfile_link_map_dynamic(struct tfile_link_map_walk *w, const Elf64_Phdr *header)
{
	uint64_t address = w->map->bias + header->p_vaddr, n = header->p_memsz;
	_cleanup_free_ Elf64_Dyn *entries = NULL;
	int r;

	if (n > DYNAMIC_MAX)
		return tfile_link_map_lacks(w, "the program's .dynamic is too large");
	n -= n % sizeof(*entries);
	entries = malloc(n + 1);
	if (!entries)
		return -ENOMEM;
	if (!tfile_link_map_get(w, address, entries, n))
		return tfile_link_map_lacks(w, "the program's .dynamic cannot be read");
	r = tfile_link_map_add(w, address, n);
	for (size_t i = 0; r > 0 && i < n / sizeof(*entries); i++) {
		if (entries[i].d_tag == DT_NULL)
			break;
		if (entries[i].d_tag == DT_DEBUG && entries[i].d_un.d_ptr)
			return tfile_link_map_debug(w, entries[i].d_un.d_ptr);
	}
	return r < 0 ? r : tfile_link_map_lacks(w, "the dynamic linker has not started");
}

/* Finds the list of libraries by the N program headers at H. Returns 0, -ENOEXEC, or -ENOMEM. */
static int tfile_link_map_headers(struct tfile_link_map_walk *w, uint64_t base, const Elf64_Phdr *h,
				  unsigned n)
{
	const Elf64_Phdr *dynamic = NULL;
	bool loaded = false;

	for (unsigned i = 0; i < n; i++) {
		if (h[i].p_type == PT_LOAD && !loaded && h[i].p_offset < PAGE) {
			w->map->bias = base - h[i].p_vaddr + h[i].p_offset;
			loaded = true;
		}
		if (h[i].p_type == PT_DYNAMIC)
			dynamic = &h[i];
	}
	if (!loaded)
		return -ENOEXEC;
	return dynamic ? tfile_link_map_dynamic(w, dynamic)
		       : tfile_link_map_lacks(w, "the program has no shared libraries");
}

static int tfile_link_map_program(struct tfile_link_map_walk *w, uint64_t base)
{
	Elf64_Phdr headers[HEADERS_MAX];
	Elf64_Ehdr e;
	int r;

	if (!tfile_link_map_get(w, base, &e, sizeof(e)) ||
	    memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_ident[EI_CLASS] != ELFCLASS64 ||
	    e.e_ident[EI_DATA] != ELFDATA2LSB || e.e_phentsize != sizeof(headers[0]) ||
	    e.e_phnum > HEADERS_MAX ||
	    !tfile_link_map_get(w, base + e.e_phoff, headers, e.e_phnum * sizeof(headers[0])))
		return -ENOEXEC;
	/*
	 * GDB does not read the headers, but other programs need them to find the list of
	 * libraries.
	 */
	r = tfile_link_map_add(w, base, sizeof(e));
	if (r > 0)
		r = tfile_link_map_add(w, base + e.e_phoff, e.e_phnum * sizeof(headers[0]));
	return r < 0 ? r : tfile_link_map_headers(w, base, headers, e.e_phnum);
}

/* ---- public functions ---- */

DEFINE_ORDER(tfile_link_map_compare, struct tfile_link_map_block, COMPARE(x->address, y->address))

static void tfile_link_map_join(struct tfile_link_map *m)
{
	size_t n = 0;

	if (m->n_blocks == 0)
		return;
	SORT(m->blocks, m->n_blocks, tfile_link_map_compare);
	for (size_t i = 1; i < m->n_blocks; i++) {
		struct tfile_link_map_block *last = &m->blocks[n], *b = &m->blocks[i];

		if (b->address - last->address > last->bytes)
			m->blocks[++n] = *b;
		else if (b->address + b->bytes > last->address + last->bytes)
			last->bytes = (uint32_t)(b->address + b->bytes - last->address);
	}
	m->n_blocks = n + 1;
}

int tfile_link_map_find(struct tfile_link_map *ret, tfile_link_map_read_fn read, void *userdata,
			uint64_t base)
{
	struct tfile_link_map map = { 0 };
	struct tfile_link_map_walk w = { .map = &map, .read = read, .userdata = userdata };
	int r = tfile_link_map_program(&w, base);

	free(w.seen);
	if (r < 0) {
		tfile_link_map_deinit(&map);
		return r;
	}
	tfile_link_map_join(&map);
	*ret = map;
	return 0;
}
