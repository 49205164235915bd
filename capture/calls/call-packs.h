/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packs: one text for the memory of all arguments of a system call that has more of them than a
 * record has texts (CALL_PACK_* in bpf/record-calls.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/record.h"
#include "capture/options/call-spec.h"

struct call_pack_plan {
	uint8_t n;      /* number of arguments in the pack at the entry */
	uint8_t n_outs; /* the first ones of them are in the pack at the return, too */
	uint8_t args[CALL_MEMORIES_MAX];
	uint8_t max[CALL_MEMORIES_MAX]; /* maximum number of bytes of each */
};

/* Sets PLAN for the system call SPEC. Returns false if it needs no pack, or cannot have one. */
bool call_pack_plan(const struct call_spec *spec, struct call_pack_plan *plan);

/* Returns the content of memory of TYPE in a pack, CALL_MEMORY_*. */
uint8_t call_pack_memory(const struct call_type *type);

/* Splits the pack TEXT, which has N arguments, into one text for each in TO. */
void call_pack_split(const struct call_text *text, uint8_t n,
		     struct call_text to[static CALL_MEMORIES_MAX]);
