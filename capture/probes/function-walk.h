/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows the machine code of a function from its first instruction: its returns, also in other
 * functions (tail calls), and the functions that it calls. Code after a call that never returns can
 * be included. Code that is reached only by addresses in memory or registers is not.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/probes/elf-image.h"
#include "capture/probes/instruction.h"

enum {
	WALK_INSTRUCTIONS_MAX = 4096,
	WALK_RETS_MAX = 32,
	WALK_TAILS_MAX = 8,
	WALK_MADE_MAX = 64,
};

/* A jump to a function that RESOLVER, a function of this file, chooses at run time. */
struct walk_tail {
	uint64_t vaddr, resolver;
};

struct function_walk {
	/* from the caller */
	const struct elf_image *image;
	struct disassembler *disassembler;
	/* True if the path ends where the function at VADDR is called or jumped to; can be NULL. */
	bool (*stop)(uint64_t vaddr, void *userdata);
	void *userdata;
	uint64_t watch;    /* an address, ... */
	uint64_t watch_to; /* ... or the first one of several, and the last one; 0 = one */
	bool takes_tails;  /* else a jump to a function that is chosen at run time is `partial` */

	/* the answer */
	uint64_t rets[WALK_RETS_MAX]; /* in no order */
	size_t n_rets;
	struct walk_tail tails[WALK_TAILS_MAX];
	size_t n_tails;
	uint64_t made[WALK_MADE_MAX]; /* addresses that it computes, as far as there is room */
	size_t n_made;
	size_t n_instructions;
	size_t n_calls;    /* without those at which it stopped */
	size_t n_indirect; /* of these, to addresses in registers and memory */
	bool stopped;      /* stop() was true once or more */
	bool watched;      /* there is a branch or jump to `watch` */
	bool partial;      /* there are paths that could not be followed to the end */
};

/* Walks from VADDR on. Returns 0 or -ENOMEM. */
int function_walk(struct function_walk *w, uint64_t vaddr);
