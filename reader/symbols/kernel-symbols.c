/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/symbols/kernel-symbols.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "reader/symbols/unusable.h"

#define KERNEL_FIRST (UINT64_C(1) << 63)

enum {
	NOTES_MAX = 64 * 1024,
	MODULE_NAME_MAX = 64,
	/* maximum size of a region's last symbol */
	BOUND_BYTES = 64 * 1024,
};

struct build_id {
	uint8_t bytes[SYMBOL_BUILD_ID_MAX];
	size_t n; /* size in bytes; 0 = unknown */
};

struct kernel_module {
	char name[MODULE_NAME_MAX];
	uint64_t start;
	struct build_id build_id;
};

struct kernel_symbols {
	struct symbol_list list; /* after each name, the names have the name of its module */
	struct build_id build_id;
	uint64_t text; /* address of _stext */
	struct kernel_module *modules;
	size_t n_modules;
};

/* ---- notes ---- */

static size_t kernel_symbols_align4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* Finds the build id in NOTES, ELF notes of N bytes. If there is none, RET is unchanged. */
static void kernel_symbols_find_build_id(const uint8_t *notes, size_t n, struct build_id *ret)
{
	size_t at = 0;

	while (n - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		size_t name, content;

		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		if (note.n_namesz > n || note.n_descsz > n)
			return;
		content = name + kernel_symbols_align4(note.n_namesz);
		at = content + kernel_symbols_align4(note.n_descsz);
		if (content + note.n_descsz > n)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(notes + name, "GNU", 4) == 0 && note.n_descsz <= sizeof(ret->bytes)) {
			memcpy(ret->bytes, notes + content, note.n_descsz);
			ret->n = note.n_descsz;
			return;
		}
		if (at > n)
			return;
	}
}

static void kernel_symbols_read_build_id(const char *path, struct build_id *ret)
{
	_cleanup_free_ uint8_t *notes = malloc(NOTES_MAX);
	FILE *f = fopen(path, "re");

	*ret = (struct build_id){ 0 };
	if (f && notes)
		kernel_symbols_find_build_id(notes, fread(notes, 1, NOTES_MAX, f), ret);
	if (f)
		fclose(f);
}

/* ---- modules ---- */

/* Parses "nf_tables 372736 81 nft_compat, Live 0xffffffffc0a00000". */
static bool kernel_symbols_parse_module(const char *line, struct kernel_module *ret)
{
	const char *address = strstr(line, " 0x");
	unsigned long long start;

	*ret = (struct kernel_module){ 0 };
	if (sscanf(line, "%63s", ret->name) != 1 || strchr(ret->name, '/') || !address ||
	    sscanf(address, " %llx", &start) != 1)
		return false;
	ret->start = start;
	return true;
}

static int kernel_symbols_read_modules(struct kernel_symbols *k, const char *list, const char *dir)
{
	_cleanup_free_ char *line = NULL;
	FILE *f = fopen(list, "re");
	size_t room = 0, room_modules = 0;
	int r = 0;

	while (f && r == 0 && getline(&line, &room, f) > 0) {
		struct kernel_module module;
		char path[PATH_MAX];

		if (!kernel_symbols_parse_module(line, &module))
			continue;
		snprintf(path, sizeof(path), "%s/%s/notes/.note.gnu.build-id", dir, module.name);
		kernel_symbols_read_build_id(path, &module.build_id);
		r = GROW(k->modules, room_modules, k->n_modules + 1);
		if (r == 0)
			k->modules[k->n_modules++] = module;
	}
	if (f)
		fclose(f);
	return r;
}

/* ---- symbols ---- */

/* Returns true if NAME marks the end of the kernel's text. */
static bool kernel_symbols_is_end(const char *name)
{
	return strcmp(name, "_etext") == 0 || strcmp(name, "_einittext") == 0;
}

/* Parses "ffffffff81000000 T _stext", optionally with "\t[module]". */
static int kernel_symbols_add_line(struct kernel_symbols *k, char *line)
{
	char *end, *name, *module = NULL;
	uint64_t address = strtoull(line, &end, 16);
	struct symbol symbol;
	uint32_t base, ignored;
	char type;
	int r;

	if (end == line || end[0] != ' ' || end[1] == '\0' || end[2] != ' ')
		return 0;
	type = end[1];
	name = strtok_r(end + 3, " \t\n", &end);
	if (name)
		module = strtok_r(NULL, " \t\n[]", &end);
	/* Lower addresses are offsets in per-CPU data. */
	if (!name || address < KERNEL_FIRST)
		return 0;
	if (strcmp(name, "_stext") == 0)
		k->text = address;
	symbol = (struct symbol){
		.start = address,
		.bound = address > UINT64_MAX - BOUND_BYTES ? UINT64_MAX : address + BOUND_BYTES,
		.function = strchr("tTwW", type) && !kernel_symbols_is_end(name),
		.local = type >= 'a' && type != 'w',
		.weak = type == 'w' || type == 'W',
	};
	r = symbol_list_add_names(&k->list, name, strlen(name), &base)
		    ?: symbol_list_add_names(&k->list, module ? module : "",
					     module ? strlen(module) : 0, &ignored);
	if (r < 0)
		return r;
	symbol.name = base;
	return symbol_list_add(&k->list, &symbol);
}

static int kernel_symbols_read_symbols(struct kernel_symbols *k, const char *path,
				       const char **reterr_what)
{
	_cleanup_free_ char *line = NULL;
	FILE *f = fopen(path, "re");
	size_t room = 0;
	int r = 0;

	if (!f)
		return unusable(
			reterr_what,
			"the symbols of this kernel are unavailable: /proc/kallsyms cannot be "
			"read");
	while (r == 0 && getline(&line, &room, f) > 0)
		r = kernel_symbols_add_line(k, line);
	fclose(f);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return unusable(reterr_what, "the symbols of this kernel exceed the memory limit");
	if (k->text == 0) {
		return unusable(reterr_what, "its addresses are hidden: only root can read them in "
					     "/proc/kallsyms (see kernel.kptr_restrict)");
	}
	return symbol_list_finish(&k->list);
}

int kernel_symbols_open(struct kernel_symbols **ret, const struct symbols_options *options,
			const char **reterr_what)
{
	_cleanup_(kernel_symbols_freep) struct kernel_symbols *k = calloc(1, sizeof(*k));
	const char *kallsyms = options->kallsyms ? options->kallsyms : "/proc/kallsyms";
	const char *notes = options->kernel_notes ? options->kernel_notes : "/sys/kernel/notes";
	const char *modules = options->kernel_modules ? options->kernel_modules : "/proc/modules";
	const char *dir = options->kernel_module_dir ? options->kernel_module_dir : "/sys/module";
	int r;

	if (!k)
		return -ENOMEM;
	kernel_symbols_read_build_id(notes, &k->build_id);
	r = kernel_symbols_read_modules(k, modules, dir)
		    ?: kernel_symbols_read_symbols(k, kallsyms, reterr_what);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(k);
	return 0;
}

struct kernel_symbols *kernel_symbols_free(struct kernel_symbols *k)
{
	if (!k)
		return NULL;
	symbol_list_deinit(&k->list);
	free(k->modules);
	return free_ptr(k);
}

/* ---- look-up ---- */

static bool kernel_symbols_is_same(const struct build_id *id, const struct symbol_mapping *mapping)
{
	return id->n > 0 && id->n == mapping->n_build_id &&
	       memcmp(id->bytes, mapping->build_id, id->n) == 0;
}

/*
 * Returns true if the code at NOW with the build id ID is the recorded code. If a build id is
 * unknown, the address must be the recorded one, since it differs for each boot.
 */
static bool kernel_symbols_is_recorded(const struct build_id *id, uint64_t now,
				       const struct symbol_mapping *mapping)
{
	if (mapping->start == 0)
		return false;
	if (mapping->n_build_id > 0 && id->n > 0)
		return kernel_symbols_is_same(id, mapping);
	return mapping->start == now;
}

static bool kernel_symbols_is_in(const struct symbol_mapping *mapping, uint64_t address)
{
	return address >= mapping->start && address - mapping->start < mapping->size;
}

/* Returns the module of PATH ("[nf_tables]"), or NULL. */
static const struct kernel_module *kernel_symbols_find_module(const struct kernel_symbols *k,
							      const char *path)
{
	size_t n = strlen(path);

	for (size_t i = 0; n > 2 && i < k->n_modules; i++)
		if (strlen(k->modules[i].name) == n - 2 &&
		    strncmp(k->modules[i].name, path + 1, n - 2) == 0)
			return &k->modules[i];
	return NULL;
}

static bool kernel_symbols_lookup(const struct kernel_symbols *k, uint64_t address,
				  struct kernel_found *ret)
{
	if (!symbol_list_find(&k->list, address, &ret->symbol) || !ret->symbol.function)
		return false;
	ret->module = ret->symbol.name + strlen(ret->symbol.name) + 1;
	return true;
}

static int kernel_symbols_find_in_text(const struct kernel_symbols *k,
				       const struct symbol_mapping *mapping, uint64_t address,
				       struct kernel_found *ret, const char **reterr_what)
{
	if (!kernel_symbols_is_recorded(&k->build_id, k->text, mapping))
		return unusable(reterr_what, "another kernel was running when it was recorded");
	if (kernel_symbols_is_in(mapping, address))
		return kernel_symbols_lookup(k, address - mapping->start + k->text, ret) &&
		       !ret->module[0];
	/* If the kernel was booted again, addresses outside of its text have other contents. In the
	 * same boot, a module can have been removed and loaded again. */
	if (mapping->start != k->text)
		return unusable(reterr_what,
				"code outside of its own text has moved since the kernel was "
				"booted again");
	if (!kernel_symbols_lookup(k, address, ret))
		return 0;
	ret->unsure = ret->module[0] != '\0';
	return 1;
}

static int kernel_symbols_find_in_module(const struct kernel_symbols *k,
					 const struct symbol_mapping *mapping, uint64_t address,
					 struct kernel_found *ret, const char **reterr_what)
{
	const struct kernel_module *module = kernel_symbols_find_module(k, mapping->path);

	if (!module)
		return unusable(reterr_what, "this module is no longer loaded");
	if (!kernel_symbols_is_recorded(&module->build_id, module->start, mapping)) {
		*reterr_what = "another build of this module is loaded now, or at another address";
		return -EBADMSG;
	}
	return kernel_symbols_is_in(mapping, address) &&
	       kernel_symbols_lookup(k, address - mapping->start + module->start, ret) &&
	       strcmp(ret->module, module->name) == 0;
}

int kernel_symbols_find(const struct kernel_symbols *k, const struct symbol_mapping *mapping,
			uint64_t address, struct kernel_found *ret, const char **reterr_what)
{
	bool is_text = !mapping->path || mapping->path[0] != '[' ||
		       strncmp(mapping->path, "[kernel", 7) == 0;

	*ret = (struct kernel_found){ 0 };
	if (is_text)
		return kernel_symbols_find_in_text(k, mapping, address, ret, reterr_what);
	return kernel_symbols_find_in_module(k, mapping, address, ret, reterr_what);
}

uint64_t kernel_symbols_bytes(const struct kernel_symbols *k)
{
	return symbol_list_bytes(&k->list) + k->n_modules * sizeof(*k->modules);
}
