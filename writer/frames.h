/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the addresses of call stacks mean, as EVENT_FRAME says it: for each address of a process the
 * functions it lies in, inlined ones first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "writer/event.h"

/*
 * One function. Texts are "" and the line 0 where it is not known. They live as long as the frames.
 */
struct frame {
	const char *function, *source, *module;
	uint32_t line;
	uint32_t depth; /* 0 = innermost */
};

/* The functions at one address, innermost first. */
struct frame_list {
	uint32_t process;
	uint64_t address;
	size_t n;
	struct frame *list;
	struct frame_list *next; /* of frames.c */
};

struct frames;

/* Addresses from the LIMIT-th on are not kept, and not found. */
int frames_new(struct frames **ret, size_t limit);
struct frames *frames_free(struct frames *f);
DEFINE_CLEANUP(struct frames *, frames_free)

/*
 * Takes an EVENT_FRAME in; of two for the same process, address and depth the last one holds, and
 * an innermost one that differs begins a new set: the process runs another program there. Sets that
 * were found before stay as they were, as long as the frames. Returns 0 or -ENOMEM.
 */
int frames_add(struct frames *f, const struct event *ev);

/* What ADDRESS of PROCESS means, or NULL. */
const struct frame_list *frames_find(const struct frames *f, uint32_t process, uint64_t address);

/* Where the code is that the address of a stack stands for, which is what frames are found by: an
 * address that a call returns to stands for the call before it, which may be the last thing in its
 * function. */
static inline uint64_t frames_code(uint64_t address, bool returns)
{
	return address - (returns && address > 0);
}
