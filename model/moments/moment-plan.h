/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A plan describes a point of a program where registers and memory are collected. The client
 * compiles the plan: the loads to make, the variables that consist of them, and their names. The
 * text of the plan is passed over the bus and stored in the archive, so that readers can interpret
 * the bytes of a moment.
 *
 * The text consists of lines, with two tabs between them (texts in archives have no line feeds).
 * Lines consist of fields, with a tab between them, and no field is empty. Numbers are decimal:
 *
 *	point NAME                     for display: "server:handle", "server:main.c:42"
 *	file PATH
 *	source FILE:LINE               optional
 *	at VADDR                       in the file's own addresses
 *	max N                          number of hits to collect; optional, default: all
 *	snapshot N                     at this hit, a flight recorder writes a snapshot
 *	stop N                         at this hit, the session ends
 *	tsv NAME COUNTED               a trace state variable, collected by moments; COUNTED is 1 if
 *	                               each hit increments it, otherwise 0
 *	load FLAGS BYTES BASE REG OFFSET COUNT_AT ELEMENT STEP ...
 *	if AT OP BITS SIGNED VALUE     a condition; all must be true
 *	var NAME TYPE FIRST N SHAPE    a variable, from loads FIRST to FIRST + N - 1
 *	none NAME TYPE REASON          an unavailable variable
 *
 * bpf/record-moments.h describes loads. A load with an index has, as REG, the number REG + 32 *
 * INDEX + 1024 * SCALE. COUNT_AT and AT count loads from 1 on. An AT above MOMENT_PLAN_LOADS_MAX
 * counts the trace state variables of the plan.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

enum {
	MOMENT_PLAN_TEXT_MAX = 16384, /* maximum size of a plan in bytes, NUL included */
	MOMENT_PLAN_LOADS_MAX = 32,
	MOMENT_PLAN_STEPS_MAX = 4,
	MOMENT_PLAN_VARIABLES_MAX = 64,
	MOMENT_PLAN_BYTES_MAX = 8192, /* maximum number of bytes of one load */
	MOMENT_PLAN_REGISTERS = 20,
	MOMENT_PLAN_CONDITIONS_MAX = 4,
	MOMENT_PLAN_TSVS_MAX = 8,
	MOMENT_PLAN_TSV_BYTES = 32, /* maximum size of a name, NUL included */
	MOMENT_PLAN_WHY_MAX = 160,
};

#define MOMENT_PLAN_EACH UINT64_MAX /* in place of a maximum: all hits */

#define MOMENT_PLAN_LINE_END "\t\t"

/* Flags of loads. */
#define MOMENT_PLAN_VALUE  (1U << 0)
#define MOMENT_PLAN_STRING (1U << 1)
#define MOMENT_PLAN_PIECES (1U << 2) /* the load reads the stack in pieces */
#define MOMENT_PLAN_QUIET  (1U << 3)
#define MOMENT_PLAN_SIGNED (1U << 4)
#define MOMENT_PLAN_FLAGS  ((1U << 5) - 1)

enum moment_plan_base {
	MOMENT_PLAN_ZERO,
	MOMENT_PLAN_REGISTER,
	MOMENT_PLAN_IMAGE,
	MOMENT_PLAN_BASES,
};

struct moment_plan_load {
	uint32_t flags, bytes;
	uint8_t base, reg, n_steps;
	uint8_t index, scale; /* scale 0 = no index */
	uint32_t count_at, element_bytes;
	int64_t offset;
	int64_t steps[MOMENT_PLAN_STEPS_MAX];
};

struct moment_plan_variable {
	const char *name, *type; /* parts of the plan's text */
	const char *shape;       /* NULL = the variable is unavailable, ... */
	const char *reason;      /* ... for this reason */
	/* The variable's loads: number of the first one, and their number. */
	uint32_t first, n;
};

struct moment_plan_condition {
	uint32_t at;
	uint8_t op, bits; /* op: CALL_OP_* (bpf/record-calls.h) */
	bool is_signed;
	uint64_t value;
};

struct moment_plan_tsv {
	const char *name; /* name without the $ */
	bool is_counted;
};

struct moment_plan {
	char *text; /* owned */
	const char *name, *file;
	const char *source; /* source line; "" = unknown */
	uint64_t vaddr;
	/* Maximum number of collected hits; MOMENT_PLAN_EACH = unlimited. */
	uint64_t max;
	uint64_t snapshot, stop; /* number of the hit for the action; 0 = never */
	struct moment_plan_load loads[MOMENT_PLAN_LOADS_MAX];
	uint32_t n_loads;
	struct moment_plan_variable variables[MOMENT_PLAN_VARIABLES_MAX];
	uint32_t n_variables;
	struct moment_plan_condition conditions[MOMENT_PLAN_CONDITIONS_MAX];
	uint32_t n_conditions;
	struct moment_plan_tsv tsvs[MOMENT_PLAN_TSVS_MAX];
	uint32_t n_tsvs;
};

/*
 * Parses TEXT, which is untrusted. Returns 0, -ENOMEM, or -EINVAL with a sentence in WHY. The
 * caller owns *RET on success.
 */
int moment_plan_parse(const char *text, struct moment_plan *ret,
		      char why[static MOMENT_PLAN_WHY_MAX]);
void moment_plan_deinit(struct moment_plan *p);

/* Returns true if the N bytes at NAME are the name of a trace state variable, as GDB accepts it. */
bool moment_plan_is_tsv(const char *name, size_t n);
