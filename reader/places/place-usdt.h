/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Static probes of a program: places that its authors have marked, with their arguments
 * (.note.stapsdt, as <sys/sdt.h> makes it).
 */
#pragma once

#include "reader/places/place-arguments.h"

struct place_usdt {
	char *provider, *name;            /* both owned */
	uint64_t vaddr;                   /* address of the instruction, which is a nop */
	struct place_arguments arguments; /* "arg1" and so on */
};

struct place_usdts {
	struct place_usdt *list; /* owned; sorted by address. A probe may be at several places */
	size_t n;
	char nearest[PLACES_NAME_MAX]; /* if no probe matches: the most similar "provider:name" */
	size_t n_all;                  /* number of probes in the file */
};

void place_usdts_deinit(struct place_usdts *u);

/*
 * The probes with a matching provider and name, with the wildcards `*` and `?`. PROVIDER can be ""
 * for any. Returns 0 (also without a match), -EBADMSG (the note is damaged), or -ENOMEM.
 */
int place_usdts_find(struct places *p, const char *provider, const char *name,
		     struct place_usdts *ret);

/*
 * Finds the probes with the name TEXT: "PROVIDER:NAME", or "NAME" of any provider. There is at
 * least one. FILE is the user's name for the file. Returns 0; -ENOENT or -EBADMSG, with a sentence
 * in WHY; or -ENOMEM.
 */
int place_usdts_named(struct places *p, const char *file, const char *text, struct place_usdts *ret,
		      char why[static PLACES_WHY_MAX]);

/*
 * Parses TEXT, the arguments of the probe at VADDR ("-4@%edi 8@-16(%rbp,%rax,8) 4@table+4(%rip)
 * 4@$5"). Names are symbols of P. Without P, there are no symbols. Returns 0 or -ENOMEM.
 */
int place_usdt_arguments(struct places *p, uint64_t vaddr, const char *text,
			 struct place_arguments *ret);
