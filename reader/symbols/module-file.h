/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One mapped file: its symbols from all sources, and its debug information.
 */
#pragma once

#include "reader/symbols/dwarf-info.h"
#include "reader/symbols/find-file.h"

struct module_file;

struct module_file_options {
	bool lines;
	uint64_t memory_limit; /* bytes: a quarter for each symbol table, half for debug data */
	find_problem_fn problem;
	void *userdata;
};

/*
 * Reads the file of QUERY's mapping. Returns 1 with *RET, 0 if there is no usable file (problems
 * were reported), or -ENOMEM.
 */
int module_file_open(struct module_file **ret, const struct find_places *places,
		     const struct symbol_query *query, const struct module_file_options *options);

/* Like module_file_open(), for this process's vdso; returns 0 if QUERY's vdso is another one. */
int module_file_open_vdso(struct module_file **ret, const struct symbol_query *query,
			  const struct module_file_options *options);

/*
 * Like module_file_open(), but uses only ELF, of which it takes ownership. NAME is the file name in
 * problem reports.
 */
int module_file_open_elf(struct module_file **ret, struct elf_file *elf, const char *name,
			 const struct module_file_options *options);

struct module_file *module_file_free(struct module_file *m);
DEFINE_CLEANUP(struct module_file *, module_file_free)

/*
 * Converts ADDRESS, in MAPPING, to an address of the file (*RET_VADDR). Returns false if the file
 * has no such address.
 */
bool module_file_address(const struct module_file *m, const struct symbol_mapping *mapping,
			 uint64_t address, uint64_t *ret_vaddr);

/* Finds the function at VADDR in the symbols. Returns false if no function is there. */
bool module_file_symbol(const struct module_file *m, uint64_t vaddr, struct symbol_found *ret);

/* As elf_file_call(). */
bool module_file_call(const struct module_file *m, uint64_t vaddr, uint64_t *ret_target);

/* As elf_file_can_follow_call(). */
bool module_file_can_follow_call(const struct module_file *m, uint64_t vaddr);

/* As elf_file_is_sigreturn(). */
bool module_file_is_sigreturn(const struct module_file *m, uint64_t vaddr);

/* As elf_file_begins(); -ENOENT if the file's code is not available. */
int module_file_begins(const struct module_file *m, uint64_t vaddr);

/* As dwarf_info_find(); 0 if the file has no debug information. */
size_t module_file_frames(struct module_file *m, uint64_t vaddr, struct dwarf_frame *frames,
			  size_t n, const char **reterr_what);

/* Returns true if there is no proof that the file is the mapped one. */
bool module_file_is_unsure(const struct module_file *m);

/* As found_file_is_later(). */
const char *module_file_is_later(const struct module_file *m, uint64_t mapped_ns);

/* Returns the approximate size of M in memory, in bytes. */
uint64_t module_file_bytes(const struct module_file *m);
