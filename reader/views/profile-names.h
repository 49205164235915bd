/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The names of places in a profile: names in the archive (EVENT_FRAME), then names from a callback.
 * Unknown places are "module+0xoffset".
 */
#pragma once

#include "reader/views/profile.h"

/* The callback that looks up names. */
struct profile_names {
	/*
	 * Writes the functions at PLACE to *RET, innermost first; they are valid until the next
	 * call. Returns their number, 0 if nothing is known, or -ENOMEM.
	 */
	int (*find)(void *userdata, const struct profile_place *place, const struct frame **ret);
	/* The name of process PID, or of its last program; NULL = unknown. */
	const char *(*process)(void *userdata, uint32_t pid);
	void *userdata;
};

/*
 * Finds the functions at PLACE like find(), in the archive and by the callback, if NAMES has one.
 */
int profile_names_find(const struct profile *p, const struct profile_names *names,
		       const struct profile_place *place, const struct frame **ret);

/*
 * Names the processes of wakers in P (is_made_up), with their last names. To be called before the
 * names of places are used. Returns 0 or -ENOMEM.
 */
int profile_names_add_processes(struct profile *p, const struct profile_names *names);

/* The size of buffers for the texts of the following functions. */
enum { PROFILE_LABEL_MAX = 300 };

/*
 * Returns the text for a function, for display: its name or, without one (FRAME can be NULL),
 * "module+0xoffset", "anon+0xaddress" (memory without a file), "[kernel]" or "[unknown]". Writes to
 * TO, or returns the text of FRAME.
 */
const char *profile_names_label(char to[PROFILE_LABEL_MAX], const struct profile_place *place,
				const struct frame *frame);

/*
 * Returns the text for the process of STACK, for display: the name of the program that it ran then,
 * or "pid N". Writes to TO, or returns another text.
 */
const char *profile_names_process(char to[PROFILE_LABEL_MAX], const struct profile *p,
				  const struct profile_names *names,
				  const struct profile_stack *stack);

/*
 * Returns the functions of the stack that ends at NODE, innermost first: "read < get < main", and
 * " < ..." after MAX functions. Writes at most ROOM bytes to TO, with a NUL, and returns TO.
 */
const char *profile_names_stack(char *to, size_t room, const struct profile *p,
				const struct profile_names *names, uint32_t node, unsigned max);

/*
 * Returns the length of the path of MAPPING, without the " (deleted)" that the kernel appends to
 * the path of a removed file.
 */
size_t profile_names_path_length(const struct mapping *mapping);

/* Returns the file name of a path: the part after its last '/'. */
const char *profile_names_base(const char *path);
