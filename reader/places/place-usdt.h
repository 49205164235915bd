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
	struct place_usdt *list; /* owned; sorted by address; a probe can be at several */
	size_t n;
	char nearest[PLACES_NAME_MAX]; /* if nothing matches: the most similar "provider:name" */
	size_t n_all;                  /* number of probes in the file */
};

void place_usdts_deinit(struct place_usdts *u);

/*
 * Finds the probes whose provider and name match; both can have the wildcards `*` and `?`. PROVIDER
 * "" = any. Returns 0, also if no probe matches, -EBADMSG (the note is damaged), or -ENOMEM.
 */
int place_usdts_find(struct places *p, const char *provider, const char *name,
		     struct place_usdts *ret);

/*
 * Finds the probes that TEXT names: "PROVIDER:NAME", or "NAME" of any provider. FILE is the user's
 * name for the file. Returns 0 with at least one probe; -ENOENT or -EBADMSG, with a sentence in
 * WHY; or -ENOMEM.
 */
int place_usdts_named(struct places *p, const char *file, const char *text, struct place_usdts *ret,
		      char why[static PLACES_WHY_MAX]);

/*
 * Parses TEXT, the arguments of the probe at VADDR ("-4@%edi 8@-16(%rbp,%rax,8) 4@table+4(%rip)
 * 4@$5"). Names in TEXT are symbols of P; P NULL = there are no symbols. Returns 0 or -ENOMEM.
 */
int place_usdt_arguments(struct places *p, uint64_t vaddr, const char *text,
			 struct place_arguments *ret);
