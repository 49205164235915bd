/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All that is known of one mapped file: its symbols from wherever they are, and its debug
 * information.
 */
#pragma once

#include "reader/symbols/dwarf-info.h"
#include "reader/symbols/find-file.h"

struct module_file;

struct module_file_options {
	bool lines;
	uint64_t memory_limit; /* bytes; one part of the file may take a good share of it */
	find_problem_fn problem;
	void *userdata;
};

/*
 * Reads what is to be known of the file of QUERY's mapping. Returns 1 with *RET, 0 if there is no
 * file (the problems have been reported), or -ENOMEM.
 */
int module_file_open(struct module_file **ret, const struct find_places *places,
		     const struct symbol_query *query, const struct module_file_options *options);

/* The same for the vdso that this process has, if it is the one that QUERY is about. */
int module_file_open_vdso(struct module_file **ret, const struct symbol_query *query,
			  const struct module_file_options *options);

/*
 * The same for ELF, taken over: without looking anywhere else. NAME is what its problems are
 * reported of.
 */
int module_file_open_elf(struct module_file **ret, struct elf_file *elf, const char *name,
			 const struct module_file_options *options);

struct module_file *module_file_free(struct module_file *m);
DEFINE_CLEANUP(struct module_file *, module_file_free)

/* The address that its own tables have for ADDRESS in MAPPING. Returns false if they have none. */
bool module_file_address(const struct module_file *m, const struct symbol_mapping *mapping,
			 uint64_t address, uint64_t *ret_vaddr);

/* The function at VADDR, from the symbols. Returns false if there is none. */
bool module_file_symbol(const struct module_file *m, uint64_t vaddr, struct symbol_found *ret);

/* As elf_file_call(). */
bool module_file_call(const struct module_file *m, uint64_t vaddr, uint64_t *ret_target);

/* As dwarf_info_find(); 0 if it has no debug information. */
size_t module_file_frames(struct module_file *m, uint64_t vaddr, struct dwarf_frame *frames,
			  size_t n, const char **reterr_what);

/* The file may be another one than was mapped. */
bool module_file_is_unsure(const struct module_file *m);

/* Bytes of memory, about. */
uint64_t module_file_bytes(const struct module_file *m);
