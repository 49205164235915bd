/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call stacks that events refer to, with function names from the archive and from the files of
 * this machine.
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
	struct table stacks; /* process and id -> number of the innermost call */
};

/* Prepares S. Returns CLI_OK, or CLI_FAILED after an error message. */
int call_stacks_init(struct call_stacks *s, const struct symbol_options *o);
void call_stacks_deinit(struct call_stacks *s);

/* Adds an event of any kind. Returns 0 or -ENOMEM. */
int call_stacks_add(struct call_stacks *s, const struct event *ev);

/* Returns the innermost call of the stack of process PID with the id ID; 0 = unknown. */
uint32_t call_stacks_find(const struct call_stacks *s, uint32_t pid, uint64_t id);

/* One call of a stack. */
struct call_stacks_step {
	uint32_t place; /* number of the place; equal places have equal numbers */
	const struct profile_place *at;
	/* Functions at the place, innermost first; valid until the next step. */
	const struct frame *frames;
	int n_frames; /* 0 = the functions have no names */
};

/* Sets *RET to the call NODE, and *NODE to its caller, or to 0 at the end. Returns 0 or -ENOMEM. */
int call_stacks_step(struct call_stacks *s, uint32_t *node, struct call_stacks_step *ret);
