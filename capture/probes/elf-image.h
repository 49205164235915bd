/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of an ELF file, asked for what the probes have to know: what is loaded to where, which
 * functions there are, and where calls through a word of memory lead. By libelf, which checks what
 * it reads against the size of the file.
 */
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A word that the dynamic linker fills with the address of a function. */
struct elf_slot {
	uint64_t address;
	uint64_t target; /* if that function is in this file, and nobody puts another before it */
	bool noreturn;   /* it throws, or ends the program */
};

struct elf_image {
	const uint8_t *data; /* borrowed */
	size_t size;
	Elf *elf;
	GElf_Ehdr header;
	struct elf_load {
		uint64_t vaddr, offset, size; /* executable, and in the file */
	} loads[16];
	size_t n_loads;
	bool foreign;           /* for another machine: nothing but the header was looked at */
	bool is_static;         /* a program that needs no dynamic linker */
	bool go;                /* built by Go */
	struct elf_slot *slots; /* by address; elf_image_read_slots() */
	size_t n_slots;
};

/*
 * Takes the N bytes at DATA (borrowed until the end) for a program or a library. Returns 0,
 * -ENOEXEC or -EBADMSG; IMAGE may be deinitialised either way.
 */
int elf_image_init(struct elf_image *image, const void *data, size_t n);
void elf_image_deinit(struct elf_image *image);

/* A function that the file has, by one of its names (without a version). */
typedef int (*elf_function_fn)(const char *name, size_t n, uint64_t vaddr, uint64_t bytes,
			       void *userdata);

/*
 * Calls FN for each function in the tables of symbols until it returns something else than
 * 0, which is returned; *RET_N is how many there were.
 */
int elf_image_functions(const struct elf_image *image, elf_function_fn fn, void *userdata,
			size_t *ret_n);

/*
 * Likewise, for each that is chosen among several when the program runs; VADDR is of what chooses.
 */
int elf_image_indirect(const struct elf_image *image, elf_function_fn fn, void *userdata);

/* Fills the table of slots. Returns 0 or -ENOMEM. */
int elf_image_read_slots(struct elf_image *image);

/* The slot at ADDRESS, or NULL. */
const struct elf_slot *elf_image_slot(const struct elf_image *image, uint64_t address);

/* The code at VADDR: *RET_N bytes and where it is in the file; NULL if there is none. */
const uint8_t *elf_image_code(const struct elf_image *image, uint64_t vaddr, size_t *ret_n,
			      uint64_t *ret_offset);
