/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of functions that the compiler has moved away ("f.cold"). The handlers of exceptions in
 * such a part are reached through tables of the unwinder, and not by jumps. So only the name of the
 * part says to which function it belongs. If several functions have this name, a part belongs to
 * the function from which a jump leads to it, or to which it jumps back.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/probes/elf-image.h"
#include "capture/probes/instruction.h"

/* A cold part. */
struct cold_part {
	const char *name; /* in the file */
	size_t n;         /* bytes of the name of its function */
	uint64_t vaddr, bytes;
	uint64_t owner; /* address of its function; 0 = unknown, or not searched yet */
	bool is_judged; /* the functions of all parts with this name were searched */
};

/* A function with the name of cold parts. */
struct cold_owner {
	size_t first, n; /* the cold parts with its name */
	uint64_t vaddr, bytes;
};

struct cold_parts {
	struct cold_part *parts; /* owned; sorted by name, and by address */
	size_t n_parts, parts_room;
	struct cold_owner *owners; /* owned; sorted by name, and by address */
	size_t n_owners, owners_room;
	uint64_t n_searched; /* bytes of code that were searched for jumps */
	/* There are more parts or owners than the maximum; the others are left out. */
	bool is_full;
};

/*
 * Finds the cold parts in IMAGE, by its symbols, which PARTS borrows. Returns 0, or -ENOMEM. *RET
 * can be deinitialised in each case.
 */
int cold_parts_find(const struct elf_image *image, struct cold_parts *ret);

void cold_parts_deinit(struct cold_parts *parts);

enum cold_claim {
	COLD_CLAIM_NONE,   /* the part belongs to another function of the name */
	COLD_CLAIM_OWN,    /* the part belongs to the owner */
	COLD_CLAIM_UNSURE, /* no jump tells to which function the part belongs */
};

/* Returns whether part I of OWNER belongs to OWNER, and to no other function with the same name. */
enum cold_claim cold_parts_claim(struct cold_parts *parts, const struct elf_image *image,
				 struct disassembler *disassembler, const struct cold_owner *owner,
				 size_t i);
