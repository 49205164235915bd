/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The names of addresses in call stacks, from EVENT_FRAME: for each address of a process, its
 * functions, inlined ones first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "model/event.h"

/*
 * The name of the outermost frame of a stack that has more calls than the recorder takes
 * (maps_sample_is_cut()). It represents the missing calls.
 */
#define FRAMES_CUT_NAME "[cut: 127 frames]"

/*
 * The module of functions of Python, which are in no mapping. In a stack, the frame after them is
 * the interpreter's, which executes them. They replace the functions that this frame really calls.
 */
#define FRAMES_PYTHON_MODULE "[python]"

/*
 * One function. Unknown texts are "", and an unknown line is 0. The texts are valid as long as the
 * frames.
 */
struct frame {
	const char *function, *source, *module;
	uint32_t line;
	uint32_t depth; /* depth of inlining; 0 = innermost */
};

/* The functions at one address, innermost first. */
struct frame_list {
	uint32_t process;
	uint64_t address;
	size_t n;
	struct frame *list;
	struct frame_list *next; /* next list of a chain, for frames.c */
};

struct frames;

/* Creates empty frames for at most LIMIT addresses. Further addresses are not kept. */
int frames_new(struct frames **ret, size_t limit);
struct frames *frames_free(struct frames *f);
DEFINE_CLEANUP(struct frames *, frames_free)

/*
 * Adds an EVENT_FRAME. EV replaces an earlier event with the same process, address and depth. If
 * the innermost function differs from the earlier one, a new set begins: the process now has other
 * code at this address. Sets that were returned before stay unchanged, as long as the frames exist.
 * Returns 0 or -ENOMEM.
 */
int frames_add(struct frames *f, const struct event *ev);

/* The functions at ADDRESS of PROCESS, or NULL. */
const struct frame_list *frames_find(const struct frames *f, uint32_t process, uint64_t address);

/*
 * Returns the address by which frames are looked up for ADDRESS, an address in a stack. A return
 * address represents the call before it, which can be the last instruction of its function.
 */
static inline uint64_t frames_code(uint64_t address, bool returns)
{
	return address - (returns && address > 0);
}
