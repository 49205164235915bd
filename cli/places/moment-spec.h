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
	MOMENT_SPEC_STACK_BYTES = 4096, /* unless --collect gives a size */
	MOMENT_SPEC_RED_ZONE = 128,     /* bytes below the stack pointer that are in use */
};

struct moment_spec_condition {
	const char *subject, *op, *number;
};

struct moment_spec {
	char *text; /* owned; contains the texts below */
	char *file, *place;
	struct moment_spec_condition conditions[MOMENT_PLAN_CONDITIONS_MAX];
	uint32_t n_conditions;
	uint64_t max;            /* MOMENT_PLAN_EACH = no limit */
	uint64_t snapshot, stop; /* 0 = never */
	struct moment_plan_tsv tsvs[MOMENT_PLAN_TSVS_MAX];
	uint32_t n_tsvs;
	const char *own_collect; /* replaces --collect; NULL = not given */
	char *collect;           /* owned; contains the texts below */
	const char *items[MOMENT_SPEC_ITEMS_MAX];
	size_t n_items;
	uint64_t stack_bytes; /* 0 = none */
	bool implied;         /* the default collection applies */
};

/*
 * Parses TEXT and COLLECT (NULL = not given). Returns CLI_OK, or an enum cli_exit after an error
 * message; OPTION is the name of the option in it. *RET must be freed in both cases.
 */
int moment_spec_parse(const char *option, const char *text, const char *collect,
		      struct moment_spec *ret);
void moment_spec_deinit(struct moment_spec *s);

/* The DWARF number of the register $NAME of x86-64, or -1. */
int moment_spec_register(const char *name);

/* The index of the trace state variable NAME (without $) in S->tsvs, or -1. */
int moment_spec_tsv(const struct moment_spec *s, const char *name);
