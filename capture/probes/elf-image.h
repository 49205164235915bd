/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data of an ELF file that probes need: load addresses, functions, and the targets of calls
 * through a word of memory. This module uses libelf, which checks its input against the size of the
 * file.
 */
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A word that the dynamic linker fills with the address of a function. */
struct elf_slot {
	uint64_t address;
	/* The function, if it is in this file and no other file can replace it; otherwise 0. */
	uint64_t target;
	/* Function of this file that chooses the function at run time; 0 = not chosen. */
	uint64_t resolver;
	bool noreturn;    /* the function throws, or ends the program */
	const char *name; /* name of the function, as long as the image exists; NULL = no name */
};

struct elf_image {
	const uint8_t *data; /* borrowed */
	size_t size;
	Elf *elf;
	GElf_Ehdr header;
	struct elf_load {
		uint64_t vaddr, offset,
			size; /* size of the part of an executable segment that the file has */
	} loads[16];
	size_t n_loads;
	bool foreign;           /* for another machine: only the header was read */
	bool is_static;         /* a program that needs no dynamic linker */
	bool go;                /* built by Go */
	struct elf_slot *slots; /* sorted by address; filled by elf_image_read_slots() */
	size_t n_slots;
};

/*
 * Parses the N bytes at DATA (borrowed until elf_image_deinit()) as a program or a library. Returns
 * 0, -ENOEXEC or -EBADMSG; IMAGE can be deinitialised in each case.
 */
int elf_image_init(struct elf_image *image, const void *data, size_t n);
void elf_image_deinit(struct elf_image *image);

/* Called with a function in the file and one of its names (without a version). */
typedef int (*elf_function_fn)(const char *name, size_t n, uint64_t vaddr, uint64_t bytes,
			       void *userdata);

/*
 * Calls FN for each function in the symbol tables until it returns a value other than 0, which is
 * returned; *RET_N is the number of functions.
 */
int elf_image_functions(const struct elf_image *image, elf_function_fn fn, void *userdata,
			size_t *ret_n);

/*
 * Like elf_image_functions(), for each function that is chosen at run time; VADDR is the function
 * that chooses it.
 */
int elf_image_indirect(const struct elf_image *image, elf_function_fn fn, void *userdata);

/*
 * Like elf_image_functions(), for each label in code that is not the name of a function or a
 * variable.
 */
int elf_image_labels(const struct elf_image *image, elf_function_fn fn, void *userdata);

/*
 * Returns the first of the N NAMES that is the name of a symbol, defined or imported; NULL = no
 * symbol has such a name.
 */
const char *elf_image_mentions(const struct elf_image *image, const char *const *names, size_t n);

/* Returns the section NAME, with its header, or NULL. */
Elf_Scn *elf_image_section(const struct elf_image *image, const char *name, GElf_Shdr *ret);

/* Fills the table of slots. Returns 0 or -ENOMEM. */
int elf_image_read_slots(struct elf_image *image);

/* Returns the slot at ADDRESS, or NULL. */
const struct elf_slot *elf_image_slot(const struct elf_image *image, uint64_t address);

/*
 * Returns the code at VADDR, the number of its bytes up to the end of the segment, and its offset
 * in the file; NULL if no code is there.
 */
const uint8_t *elf_image_code(const struct elf_image *image, uint64_t vaddr, size_t *ret_n,
			      uint64_t *ret_offset);
