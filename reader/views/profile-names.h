/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The names of places in a profile: from the archive (EVENT_FRAME), otherwise from a callback. A
 * place without a name is called "module+0xoffset".
 */
#pragma once

#include "reader/views/profile.h"

/* The callback that looks up names. */
struct profile_names {
	/*
	 * Finds the functions at PLACE, innermost first; *RET is valid until the next call. Returns
	 * their number, 0 if nothing is known, or -ENOMEM.
	 */
	int (*find)(void *userdata, const struct profile_place *place, const struct frame **ret);
	/* Returns the name of process PID, that of its last program; NULL = unknown. */
	const char *(*process)(void *userdata, uint32_t pid);
	void *userdata;
};

/*
 * Finds the functions at PLACE in the archive, or by the callback of NAMES. Returns like find().
 */
int profile_names_find(const struct profile *p, const struct profile_names *names,
		       const struct profile_place *place, const struct frame **ret);

/*
 * Gives the processes of wakers in P (is_made_up) their last names. Must be called before the names
 * of places are used. Returns 0 or -ENOMEM.
 */
int profile_names_add_processes(struct profile *p, const struct profile_names *names);

/* The size of the buffers for texts of the following functions. */
enum { PROFILE_LABEL_MAX = 300 };

/*
 * Returns the text for a function, for display: its name, or if it has none (FRAME can be NULL),
 * "module+0xoffset", "anon+0xaddress" (memory without a file), "[kernel]" or "[unknown]". The text
 * is in TO, or is that of FRAME.
 */
const char *profile_names_label(char to[PROFILE_LABEL_MAX], const struct profile_place *place,
				const struct frame *frame);

/*
 * Returns the text for the process of STACK, for display: the name of the program that the process
 * ran at that time, or "pid N". The text is in TO, or belongs to P or NAMES.
 */
const char *profile_names_process(char to[PROFILE_LABEL_MAX], const struct profile *p,
				  const struct profile_names *names,
				  const struct profile_stack *stack);

/*
 * Writes the functions of the stack that ends at NODE to TO, innermost first: "read < get < main",
 * with " < ..." after MAX functions. Writes at most ROOM bytes, with the NUL. Returns TO.
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
