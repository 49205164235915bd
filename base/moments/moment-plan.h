/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A point of a program where registers and memory are collected, as it is compiled by who asks for
 * it: which loads to make, what they are made of variables, and how those are called. Its text
 * crosses the bus, and stands in the archive, so that readers can tell what the bytes of a moment
 * are.
 *
 * The text is lines, with two tabs between them (archives have no line feeds in texts), of fields,
 * with a tab between them and none empty; numbers are decimal:
 *
 *	point NAME                     for people: "server:handle", "server:main.c:42"
 *	file PATH
 *	source FILE:LINE               or it is left out
 *	at VADDR                       in the file's own addresses
 *	max N                          collected so many times; left out: each time
 *	snapshot N                     at this hit, a flight recorder writes a snapshot
 *	stop N                         at this hit, the session ends
 *	tsv NAME COUNTED               a trace state variable, which moments have; COUNTED is 1 if
 *	                               each hit increments it, else 0
 *	load FLAGS BYTES BASE REG OFFSET COUNT_AT ELEMENT STEP ...
 *	if AT OP BITS SIGNED VALUE     all of several have to hold
 *	var NAME TYPE FIRST N SHAPE    the variable that loads FIRST to FIRST + N - 1 bring
 *	none NAME TYPE REASON          one that cannot be had
 *
 * What loads mean is said in bpf/record-moments.h. COUNT_AT and AT count loads from 1 on; an AT
 * above MOMENT_PLAN_LOADS_MAX counts the trace state variables of the plan.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

enum {
	MOMENT_PLAN_TEXT_MAX = 16384, /* bytes, the NUL included */
	MOMENT_PLAN_LOADS_MAX = 32,
	MOMENT_PLAN_STEPS_MAX = 4,
	MOMENT_PLAN_VARIABLES_MAX = 64,
	MOMENT_PLAN_BYTES_MAX = 8192, /* of one load */
	MOMENT_PLAN_REGISTERS = 20,
	MOMENT_PLAN_CONDITIONS_MAX = 4,
	MOMENT_PLAN_TSVS_MAX = 8,
	MOMENT_PLAN_TSV_BYTES = 32, /* of a name, the NUL included */
	MOMENT_PLAN_WHY_MAX = 160,
};

#define MOMENT_PLAN_EACH UINT64_MAX /* in the place of a maximum */

#define MOMENT_PLAN_LINE_END "\t\t"

/* Flags of loads. */
#define MOMENT_PLAN_VALUE  (1U << 0)
#define MOMENT_PLAN_STRING (1U << 1)
#define MOMENT_PLAN_PIECES (1U << 2) /* the stack */
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
	uint32_t count_at, element_bytes;
	int64_t offset;
	int64_t steps[MOMENT_PLAN_STEPS_MAX];
};

struct moment_plan_variable {
	const char *name, *type; /* texts are of the plan */
	const char *shape;       /* NULL: it cannot be had, ... */
	const char *reason;      /* ... because */
	uint32_t first, n;       /* its loads */
};

struct moment_plan_condition {
	uint32_t at;
	uint8_t op, bits; /* op: CALL_OP_* (bpf/record-calls.h) */
	bool is_signed;
	uint64_t value;
};

struct moment_plan_tsv {
	const char *name; /* without the $ */
	bool is_counted;
};

struct moment_plan {
	char *text; /* owned */
	const char *name, *file;
	const char *source; /* "" = not known */
	uint64_t vaddr;
	uint64_t max;            /* MOMENT_PLAN_EACH = there is none */
	uint64_t snapshot, stop; /* numbers of hits; 0 = never */
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
 * Takes TEXT apart, which may be anybody's. Returns 0, -ENOMEM, or -EINVAL with a sentence in WHY.
 * *RET is the caller's on success.
 */
int moment_plan_parse(const char *text, struct moment_plan *ret,
		      char why[static MOMENT_PLAN_WHY_MAX]);
void moment_plan_deinit(struct moment_plan *p);

/* Whether the N bytes at NAME are the name of a trace state variable, as GDB takes it. */
bool moment_plan_is_tsv(const char *name, size_t n);
