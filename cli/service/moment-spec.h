/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of --moment and --collect, before debug information says what they mean:
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

#include "base/moments/moment-plan.h"

enum {
	MOMENT_SPEC_ITEMS_MAX = 32,
	MOMENT_SPEC_STACK_BYTES = 4096, /* unless --collect says how many */
	MOMENT_SPEC_RED_ZONE = 128,     /* below the stack pointer, and in use */
};

struct moment_spec_condition {
	const char *subject, *op, *number;
};

struct moment_spec {
	char *text; /* owned; the texts below are in it */
	char *file, *place;
	struct moment_spec_condition conditions[MOMENT_PLAN_CONDITIONS_MAX];
	uint32_t n_conditions;
	uint64_t max;            /* MOMENT_PLAN_EACH = there is none */
	uint64_t snapshot, stop; /* 0 = never */
	struct moment_plan_tsv tsvs[MOMENT_PLAN_TSVS_MAX];
	uint32_t n_tsvs;
	const char *own_collect; /* instead of --collect; NULL = not given */
	char *collect;           /* owned; the texts below are in it */
	const char *items[MOMENT_SPEC_ITEMS_MAX];
	size_t n_items;
	uint64_t stack_bytes; /* 0 = none */
	bool implied;         /* nothing says what is collected */
};

/*
 * Parses TEXT and COLLECT (NULL = not given). Returns CLI_OK, or an enum cli_exit after an error
 * message; OPTION is the name of the option in it. *RET must be freed in both cases.
 */
int moment_spec_parse(const char *option, const char *text, const char *collect,
		      struct moment_spec *ret);
void moment_spec_deinit(struct moment_spec *s);

/* The number of the register $NAME (DWARF's, of x86-64), or -1. */
int moment_spec_register(const char *name);

/* The place of the trace state variable NAME (without $) in S->tsvs, from 0 on, or -1. */
int moment_spec_tsv(const struct moment_spec *s, const char *name);
