/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packs. If a system call has more arguments in memory than a record has texts, one text contains
 * the memory of all these arguments (CALL_PACK_* in bpf/record-calls.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/record.h"
#include "capture/options/call-spec.h"

struct call_pack_plan {
	uint8_t n; /* number of arguments in the pack at the entry */
	/* Number of arguments in the pack at the return: the first ones in `args`. */
	uint8_t n_outs;
	uint8_t args[CALL_MEMORIES_MAX];
	uint8_t max[CALL_MEMORIES_MAX]; /* maximum number of bytes of each */
};

/* Sets PLAN for the system call SPEC. Returns false if it needs no pack, or cannot have one. */
bool call_pack_plan(const struct call_spec *spec, struct call_pack_plan *plan);

/* Returns the content of memory of TYPE in a pack, CALL_MEMORY_*. */
uint8_t call_pack_memory(const struct call_type *type);

/* Splits the pack TEXT, which has N arguments, into one text for each argument, in TO. */
void call_pack_split(const struct call_text *text, uint8_t n,
		     struct call_text to[static CALL_MEMORIES_MAX]);
