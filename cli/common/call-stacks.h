/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call stacks that events name, with the names of their functions: those of the archive, and
 * those that the files of this machine have.
 */
#pragma once

#include <stdint.h>

#include "base/table.h"
#include "cli/common/resolver.h"
#include "cli/common/symbol-options.h"
#include "reader/views/profile.h"

struct call_stacks {
	struct profile *profile;
	struct symbols *symbols;
	struct resolver resolver;
	struct table stacks; /* process and id -> the innermost call */
};

/* Returns CLI_OK, or CLI_FAILED when it has said why. */
int call_stacks_init(struct call_stacks *s, const struct symbol_options *o);
void call_stacks_deinit(struct call_stacks *s);

/* Takes any event in. Returns 0 or -ENOMEM. */
int call_stacks_add(struct call_stacks *s, const struct event *ev);

/* The innermost call of the stack that process PID has sent as ID; 0 = it is not known. */
uint32_t call_stacks_find(const struct call_stacks *s, uint32_t pid, uint64_t id);

/* One call of a stack. */
struct call_stacks_step {
	uint32_t place; /* its number: equal places have the same */
	const struct profile_place *at;
	const struct frame *frames; /* the functions there, innermost first; until the next step */
	int n_frames;               /* 0 = they have no names */
};

/* What NODE is, which becomes its caller, 0 at the end. Returns 0 or -ENOMEM. */
int call_stacks_step(struct call_stacks *s, uint32_t *node, struct call_stacks_step *ret);
