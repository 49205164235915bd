/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of call stacks: samples, times off CPU, stacks and frames. Each different stack and
 * frame has a number, from 1 on. All are kept in memory.
 */
#pragma once

#include "cli/tables/table-set.h"
#include "model/frames.h"
#include "model/maps.h"

struct table_frame;

struct table_stacks {
	struct table_set *set; /* borrowed */
	struct maps *maps;     /* owned */
	struct frames *names;  /* owned */
	struct table waits;    /* tid + 1 -> struct table_wait, owned */
	struct table stacks;   /* hash of the numbers of frames -> number of the stack */
	struct table numbers;  /* hash of a frame -> number of the frame */
	struct table named;    /* hash of a process and an id -> number of the stack */
	uint64_t n_stacks;
	struct table_frame *frames; /* owned */
	size_t n_frames, room_frames;
};

int table_stacks_init(struct table_stacks *s, struct table_set *set);
void table_stacks_deinit(struct table_stacks *s);

/* Writes the rows of EV, if EV is a stack, or belongs to one. Returns 0 or a negative errno. */
int table_stacks_add(struct table_stacks *s, const struct event *ev);

/*
 * Sets *RET to the number of the stack of EV, an EVENT_SAMPLE. If the stack is new, writes it.
 * Returns 0 or a negative errno.
 */
int table_stacks_number(struct table_stacks *s, const struct event *ev, uint64_t *ret);

/* Returns the number of the stack ID (a SAMPLE_NAMED) of process PID; 0 = none. */
uint64_t table_stacks_named(const struct table_stacks *s, uint32_t pid, uint64_t id);

/* Writes the times off CPU that have no stack, and the frames. Returns 0 or a negative errno. */
int table_stacks_finish(struct table_stacks *s);
