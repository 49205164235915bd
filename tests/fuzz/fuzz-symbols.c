/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the input as an ELF file, and looks up names in it: its symbols, its compressed symbols,
 * lines and inlined functions. No other file is opened.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "reader/symbols/debug-link.h"
#include "reader/symbols/module-file.h"
#include "reader/symbols/text-pool.h"

#include <limits.h>

enum { ADDRESSES = 64, START = 0x10000000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void problem(void *userdata, const char *path, const char *what)
{
	(void)userdata;
	assert(strcmp(path, "input") == 0);
	assert(strlen(what) > 0);
}

static void ask(struct module_file *m, struct text_pool *texts, uint64_t vaddr)
{
	struct dwarf_frame frames[SYMBOL_FRAMES_MAX];
	struct symbol_found symbol;
	const char *what = NULL;
	uint64_t target;
	size_t n;

	if (module_file_symbol(m, vaddr, &symbol)) {
		assert(symbol.n <= SYMBOL_NAME_MAX && strnlen(symbol.name, symbol.n) == symbol.n);
		assert(symbol.offset <= vaddr);
		assert(text_pool_add_symbol(texts, symbol.name, symbol.n, ""));
	}
	module_file_call(m, vaddr, &target);
	n = module_file_frames(m, vaddr, frames, SYMBOL_FRAMES_MAX, &what);
	assert(n <= SYMBOL_FRAMES_MAX);
	for (size_t i = 0; i < n; i++) {
		if (frames[i].function)
			assert(text_pool_add_symbol(texts, frames[i].function,
						    strlen(frames[i].function), ""));
		if (frames[i].source)
			assert(text_pool_add(texts, frames[i].source, strlen(frames[i].source)));
	}
}

static void read_links(const struct elf_file *elf)
{
	char name[PATH_MAX];
	uint8_t id[SYMBOL_BUILD_ID_MAX];
	uint32_t crc;
	size_t n;

	if (debug_link_read(elf, name, &crc))
		assert(strlen(name) > 0 && !strchr(name, '/'));
	n = debug_link_read_alternate(elf, name, sizeof(name), id, sizeof(id));
	assert(n <= sizeof(id) && (n == 0 || strlen(name) > 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct module_file_options options = {
		.lines = true,
		.memory_limit = 8 << 20,
		.problem = problem,
	};
	_cleanup_(module_file_freep) struct module_file *m = NULL;
	struct text_pool texts = { 0 };
	struct elf_segments segments;
	struct elf_file *elf;
	const char *what = NULL;
	char *copy = malloc(size ? size : 1);

	assert(copy);
	if (size)
		memcpy(copy, data, size);
	if (elf_file_open_memory(&elf, copy, size, &what) != 0) {
		assert(what);
		return 0;
	}
	read_links(elf);
	segments = elf->segments;
	if (module_file_open_elf(&m, elf, "input", &options) != 1)
		return 0;
	for (size_t i = 0; i < segments.n; i++) {
		const struct elf_segment *segment = &segments.items[i];
		uint64_t step = segment->memory_size / ADDRESSES;

		for (uint64_t k = 0; k < ADDRESSES; k++)
			ask(m, &texts, segment->vaddr + k * (step ? step : 1));
	}
	for (uint64_t offset = 0; offset < size; offset += size / ADDRESSES + 1) {
		struct symbol_mapping mapping = {
			.start = START,
			.size = size - offset,
			.file_offset = offset,
		};
		uint64_t vaddr;

		if (module_file_address(m, &mapping, START, &vaddr))
			ask(m, &texts, vaddr);
	}
	text_pool_deinit(&texts);
	return 0;
}
