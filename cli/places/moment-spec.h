/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses --moment and --collect, without debug information:
 *
 *	FILE:PLACE [if SUBJECT OP NUMBER [&& ...]] [max N] [collect WORD,...] [count $NAME]
 *		[snapshot [N]] [stop [N]]
 *
 * The words after the place can have any order. $NAME is a trace state variable, as in GDB, unless
 * it is a register.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/moments/moment-plan.h"

enum {
	MOMENT_SPEC_ITEMS_MAX = 32,
	/* Size of the collected stack, unless --collect gives another. */
	MOMENT_SPEC_STACK_BYTES = 4096,
	/* Number of bytes below the stack pointer that functions may use. */
	MOMENT_SPEC_RED_ZONE = 128,
};

struct moment_spec_condition {
	const char *subject, *op, *number;
};

struct moment_spec {
	char *text; /* text that contains the texts below; owned */
	char *file, *place;
	struct moment_spec_condition conditions[MOMENT_PLAN_CONDITIONS_MAX];
	uint32_t n_conditions;
	uint64_t max;            /* maximum number of hits; MOMENT_PLAN_EACH = no limit */
	uint64_t snapshot, stop; /* number of the hit for the action; 0 = never */
	struct moment_plan_tsv tsvs[MOMENT_PLAN_TSVS_MAX];
	uint32_t n_tsvs;
	/* `collect` of this point, which replaces --collect; NULL = not given. */
	const char *own_collect;
	char *collect; /* text that contains the texts below; owned */
	const char *items[MOMENT_SPEC_ITEMS_MAX];
	size_t n_items;
	uint64_t stack_bytes; /* size of the collected stack; 0 = no stack */
	bool implied;         /* the default collection applies */
};

/*
 * Parses TEXT and COLLECT (NULL = not given). Returns CLI_OK, or an enum cli_exit after an error
 * message, in which OPTION is the name of the option. *RET must be freed in both cases.
 */
int moment_spec_parse(const char *option, const char *text, const char *collect,
		      struct moment_spec *ret);
void moment_spec_deinit(struct moment_spec *s);

/* Returns the DWARF number of the register $NAME of x86-64, or -1. */
int moment_spec_register(const char *name);

/* Returns the index of the trace state variable NAME (without $) in S->tsvs, or -1. */
int moment_spec_tsv(const struct moment_spec *s, const char *name);
