/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/symbols/module-file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "reader/symbols/minidebug.h"

/* 32-bit programs have addresses below this one, and another vdso. */
#define ADDRESS_32_BITS_END (UINT64_C(1) << 32)

enum { PAGE_BYTES = 4096, VDSO_BYTES_MAX = 1 << 20 };

struct module_file {
	struct found_file main;  /* elf = NULL if only the debug information was found */
	struct found_file debug; /* separate debug information; elf = NULL if there is none */
	struct found_file alternate;
	struct elf_segments segments;
	struct symbol_list symbols;
	struct dwarf_info *dwarf; /* borrows the files */
};

static void module_file_report(const struct module_file_options *options, const char *path,
			       const char *what)
{
	if (options->problem)
		options->problem(options->userdata, path, what);
}

/* ---- loading ---- */

static struct module_file *module_file_make(void)
{
	struct module_file *m = calloc(1, sizeof(*m));

	if (m)
		m->main.root_fd = m->debug.root_fd = m->alternate.root_fd = -1;
	return m;
}

/* Adds the symbols of ELF. Returns 1 if ELF has a full table, 0 if not, or -ENOMEM. */
static int module_file_add_symbols(struct module_file *m, const struct elf_file *elf,
				   const char *path, const struct module_file_options *options)
{
	const char *what = NULL;
	bool full = false;
	int r = elf_file_symbols(elf, &m->segments, options->memory_limit / 4, &m->symbols, &full,
				 &what);

	if (r == -EBADMSG)
		module_file_report(options, path, what);
	return r == -ENOMEM ? r : full;
}

static int module_file_add_minidebug(struct module_file *m,
				     const struct module_file_options *options)
{
	_cleanup_(elf_file_freep) struct elf_file *elf = NULL;
	const char *what = NULL;
	int r = minidebug_open(&elf, m->main.elf, options->memory_limit / 4, &what);

	if (r == -EBADMSG)
		module_file_report(options, m->main.path, what);
	if (r <= 0)
		return r == -ENOMEM ? r : 0;
	return module_file_add_symbols(m, elf, m->main.path, options);
}

/* Loads symbols from the file's table. If that is not complete, also from the table of its debug
 * information, and then from the compressed table. */
static int module_file_load_symbols(struct module_file *m,
				    const struct module_file_options *options)
{
	int r = 0;

	if (m->main.elf) {
		r = module_file_add_symbols(m, m->main.elf, m->main.path, options);
		if (r >= 0 &&
		    elf_file_plt_symbols(m->main.elf, options->memory_limit / 4, &m->symbols) < 0)
			r = -ENOMEM;
	}
	if (r == 0 && m->debug.elf)
		r = module_file_add_symbols(m, m->debug.elf, m->debug.path, options);
	if (r == 0 && m->main.elf)
		r = module_file_add_minidebug(m, options);
	return r < 0 ? r : symbol_list_finish(&m->symbols);
}

/* Loads the debug information. PLACES is where to search for data that debug files share; NULL =
 * nowhere. */
static int module_file_load_dwarf(struct module_file *m, const struct find_places *places,
				  const struct module_file_options *options)
{
	const struct found_file *file =
		m->debug.elf && dwarf_info_is_in(m->debug.elf) ? &m->debug : &m->main;
	const char *what = NULL;
	int r = 0;

	if (!options->lines || !file->elf || !dwarf_info_is_in(file->elf))
		return 0;
	if (places)
		r = find_alternate_file(places, file, &m->alternate);
	else if (elf_file_section(file->elf, ".gnu_debugaltlink", NULL))
		r = -ENOENT;
	if (r == -ENOENT)
		module_file_report(
			options, file->path,
			"it shares debug information with other files (dwz), which is not found");
	if (r >= 0)
		r = dwarf_info_open(&m->dwarf, file->elf, m->alternate.elf, &m->segments,
				    options->memory_limit / 2, &what);
	if (r == -EBADMSG)
		module_file_report(options, file->path, what);
	if (r == 0 && dwarf_info_is_split(m->dwarf))
		module_file_report(options, file->path,
				   "it has debug information in other files (.dwo or .dwp), which "
				   "kymo does not read: lines and inlined functions are unknown "
				   "there (build without -gsplit-dwarf)");
	return r == -ENOMEM ? r : 0;
}

/*
 * Closes the files if they were read completely. A mapped main file stays open, since later
 * look-ups read its code.
 */
static void module_file_release(struct module_file *m)
{
	if (m->dwarf)
		return;
	elf_file_free(m->debug.elf);
	m->debug.elf = NULL;
	if (m->main.elf && !m->main.elf->mapped)
		m->main.elf = elf_file_free(m->main.elf);
}

static void module_file_close_descriptors(struct found_file *f)
{
	f->root_fd = close_fd(f->root_fd);
	if (!f->elf || f->elf->fd < 0)
		return;
	/* libdw has read all other sections that it needs into memory. */
	elf_cntl(f->elf->elf, ELF_C_FDDONE);
	f->elf->fd = close_fd(f->elf->fd);
}

static int module_file_load(struct module_file *m, const struct find_places *places,
			    const struct module_file_options *options)
{
	int r;

	m->segments = m->main.elf ? m->main.elf->segments : m->debug.elf->segments;
	r = module_file_load_symbols(m, options) ?: module_file_load_dwarf(m, places, options);
	module_file_release(m);
	module_file_close_descriptors(&m->main);
	module_file_close_descriptors(&m->debug);
	module_file_close_descriptors(&m->alternate);
	return r;
}

/* Returns true if the file itself lacks a full symbol table, or lines that were requested. */
static bool module_file_needs_debug(const struct module_file *m,
				    const struct module_file_options *options)
{
	return !elf_file_section(m->main.elf, ".symtab", NULL) ||
	       (options->lines && !dwarf_info_is_in(m->main.elf));
}

int module_file_open(struct module_file **ret, const struct find_places *places,
		     const struct symbol_query *query, const struct module_file_options *options)
{
	_cleanup_(module_file_freep) struct module_file *m = module_file_make();
	const struct symbol_mapping *mapping = &query->mapping;
	int r;

	if (!m)
		return -ENOMEM;
	r = find_mapped_file(places, query, &m->main, options->problem, options->userdata);
	if (r < 0)
		return r;
	if (r == 1 && module_file_needs_debug(m, options))
		r = find_debug_file(places, &m->main, &m->debug, options->problem,
				    options->userdata);
	else if (r == 0)
		r = find_debug_by_build_id(places, mapping->build_id, mapping->n_build_id,
					   &m->debug);
	if (r < 0)
		return r;
	if (!m->main.elf && !m->debug.elf)
		return 0;
	r = module_file_load(m, places, options);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(m);
	return 1;
}

int module_file_open_elf(struct module_file **ret, struct elf_file *elf, const char *name,
			 const struct module_file_options *options)
{
	_cleanup_(module_file_freep) struct module_file *m = module_file_make();
	int r;

	if (!m) {
		elf_file_free(elf);
		return -ENOMEM;
	}
	m->main.elf = elf;
	m->main.path = strdup(name);
	if (!m->main.path)
		return -ENOMEM;
	r = module_file_load(m, NULL, options);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(m);
	return 1;
}

struct module_file *module_file_free(struct module_file *m)
{
	if (!m)
		return NULL;
	dwarf_info_free(m->dwarf);
	found_file_deinit(&m->main);
	found_file_deinit(&m->debug);
	found_file_deinit(&m->alternate);
	symbol_list_deinit(&m->symbols);
	return free_ptr(m);
}

/* ---- vdso ---- */

/* Returns the size of this process's vdso. */
static size_t module_file_vdso_size(uint64_t address)
{
	_cleanup_free_ char *line = NULL;
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long long start, end;
	size_t room = 0, size = 0;

	while (f && size == 0 && getline(&line, &room, f) > 0)
		if (sscanf(line, "%llx-%llx", &start, &end) == 2 && start == address)
			size = end - start;
	if (f)
		fclose(f);
	return size <= VDSO_BYTES_MAX ? size : 0;
}

int module_file_open_vdso(struct module_file **ret, const struct symbol_query *query,
			  const struct module_file_options *options)
{
	const struct symbol_mapping *mapping = &query->mapping;
	unsigned long address = getauxval(AT_SYSINFO_EHDR);
	size_t size = address ? module_file_vdso_size(address) : 0;
	const char *what = NULL;
	struct elf_file *elf;
	char *copy;
	int r;

	if (size == 0 || query->address < ADDRESS_32_BITS_END)
		return 0;
	copy = malloc(size);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, (const void *)address, size);
	r = elf_file_open_memory(&elf, copy, size, &what);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (mapping->n_build_id > 0 &&
	    !elf_file_has_build_id(elf, mapping->build_id, mapping->n_build_id)) {
		module_file_report(options, "[vdso]",
				   "another kernel was running when it was recorded");
		elf_file_free(elf);
		return 0;
	}
	r = module_file_open_elf(ret, elf, "[vdso]", options);
	/* The vdso of a running process is this kernel's. An ended process can have run under
	 * another kernel. */
	if (r == 1)
		(*ret)->main.unsure = mapping->n_build_id == 0 && !query->lives;
	return r;
}

/* ---- look-up ---- */

/*
 * Finds the address by the size of the mapping: if only debug information exists, the position of
 * the code in the file is unknown. But if the mapping is as large as the only executable segment,
 * it is that segment.
 */
static bool module_file_address_by_size(const struct module_file *m,
					const struct symbol_mapping *mapping, uint64_t address,
					uint64_t *ret_vaddr)
{
	const struct elf_segment *code = NULL;
	uint64_t start, end;

	for (size_t i = 0; i < m->segments.n; i++) {
		if (!m->segments.items[i].executable)
			continue;
		if (code)
			return false;
		code = &m->segments.items[i];
	}
	if (!code || code->vaddr + code->memory_size > UINT64_MAX - PAGE_BYTES)
		return false;
	start = code->vaddr & ~(uint64_t)(PAGE_BYTES - 1);
	end = (code->vaddr + code->memory_size + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
	if (end - start != mapping->size)
		return false;
	*ret_vaddr = address - mapping->start + start;
	return true;
}

/*
 * Finds the address in a mapping that contains the whole file: only the load address is unknown,
 * and MAPPING's start is the load address of the lowest segment.
 */
static bool module_file_address_in_whole(const struct module_file *m,
					 const struct symbol_mapping *mapping, uint64_t address,
					 uint64_t *ret_vaddr)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < m->segments.n; i++)
		if (m->segments.items[i].vaddr < first)
			first = m->segments.items[i].vaddr;
	if (first == UINT64_MAX)
		return false;
	*ret_vaddr = address - mapping->start + (first & ~(uint64_t)(PAGE_BYTES - 1));
	return true;
}

bool module_file_address(const struct module_file *m, const struct symbol_mapping *mapping,
			 uint64_t address, uint64_t *ret_vaddr)
{
	uint64_t offset;

	if (address < mapping->start || address - mapping->start >= mapping->size)
		return false;
	if (mapping->whole)
		return module_file_address_by_size(m, mapping, address, ret_vaddr) ||
		       module_file_address_in_whole(m, mapping, address, ret_vaddr);
	offset = address - mapping->start;
	if (!m->main.path)
		return module_file_address_by_size(m, mapping, address, ret_vaddr);
	if (offset > UINT64_MAX - mapping->file_offset)
		return false;
	return elf_segments_address(&m->segments, offset + mapping->file_offset, ret_vaddr);
}

bool module_file_symbol(const struct module_file *m, uint64_t vaddr, struct symbol_found *ret)
{
	return symbol_list_find(&m->symbols, vaddr, ret);
}

bool module_file_call(const struct module_file *m, uint64_t vaddr, uint64_t *ret_target)
{
	return m->main.elf && elf_file_call(m->main.elf, vaddr, ret_target);
}

bool module_file_can_follow_call(const struct module_file *m, uint64_t vaddr)
{
	return !m->main.elf || elf_file_can_follow_call(m->main.elf, vaddr);
}

bool module_file_is_sigreturn(const struct module_file *m, uint64_t vaddr)
{
	return m->main.elf && elf_file_is_sigreturn(m->main.elf, vaddr);
}

int module_file_begins(const struct module_file *m, uint64_t vaddr)
{
	return m->main.elf ? elf_file_begins(m->main.elf, vaddr) : -ENOENT;
}

size_t module_file_frames(struct module_file *m, uint64_t vaddr, struct dwarf_frame *frames,
			  size_t n, const char **reterr_what)
{
	return m->dwarf ? dwarf_info_find(m->dwarf, vaddr, frames, n, reterr_what) : 0;
}

const char *module_file_is_later(const struct module_file *m, uint64_t mapped_ns)
{
	return found_file_is_later(&m->main, mapped_ns);
}

bool module_file_is_unsure(const struct module_file *m)
{
	return m->main.unsure;
}

uint64_t module_file_bytes(const struct module_file *m)
{
	uint64_t bytes = sizeof(*m) + symbol_list_bytes(&m->symbols);

	return m->dwarf ? bytes + dwarf_info_bytes(m->dwarf) : bytes;
}
