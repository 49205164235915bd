/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows the machine code of a function from its first instruction. Finds its returns, also in
 * other functions (tail calls), and the functions that it calls. Code after a call that never
 * returns can be included. Code that is reached only through addresses in memory or registers is
 * not included, except for the functions of glibc's streams.
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
	/* input */
	const struct elf_image *image;
	struct disassembler *disassembler;
	/*
	 * Says whether a path ends at a call of, or a jump to, the function at VADDR. Can be NULL.
	 */
	bool (*stop)(uint64_t vaddr, void *userdata);
	/* Says whether a function of another file with this name is wanted. Can be NULL. */
	bool (*wants)(const char *name, void *userdata);
	void *userdata;
	uint64_t watch;    /* the first watched address */
	uint64_t watch_to; /* the last watched address; 0 = the first one */
	/* Accept jumps to functions that are chosen at run time, and follow jumps to functions of
	 * streams */
	bool includes_tails;

	/* results */
	uint64_t rets[WALK_RETS_MAX]; /* unsorted */
	size_t n_rets;
	struct walk_tail tails[WALK_TAILS_MAX];
	size_t n_tails;
	uint64_t made[WALK_MADE_MAX]; /* computed addresses, up to the maximum */
	size_t n_made;
	size_t n_instructions;
	size_t n_calls;    /* calls, except those at which a path ended */
	size_t n_indirect; /* part of n_calls: calls to addresses in registers and memory */
	bool stopped;      /* stop() was true at least once */
	bool watched;      /* a branch or a jump leads to a watched address */
	bool computed;     /* the function jumps to an address in a register or a table */
	bool unread;       /* some paths could not be followed for another reason */
	bool partial;      /* computed or unread: some paths were not followed to their ends */
};

/* Walks from VADDR. Returns 0 or -ENOMEM. */
int function_walk(struct function_walk *w, uint64_t vaddr);

/*
 * Returns true if I returns: it is a `ret`, or a jump to a thunk that consists of a `ret`. Such a
 * jump counts as the return of its function, since all functions share the `ret` of the thunk.
 */
bool function_walk_is_return(const struct elf_image *image, struct disassembler *disassembler,
			     const struct instruction *i);

/*
 * Checks that each path of the function at VADDR returns the result of a wanted call. A call is
 * wanted if W->stop() accepts it, or if the called function is in another file and W->wants()
 * accepts its name. Returns 1, 0 (also if a path could not be followed), or -ENOMEM. Does not
 * change the results in W.
 */
int function_walk_returns_wanted(const struct function_walk *w, uint64_t vaddr);
