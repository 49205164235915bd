/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The names of places in a profile: those in the archive itself (EVENT_FRAME), then those from a
 * callback; unknown ones are "module+0xoffset".
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

/* As find(), from both sources; NAMES can have none. */
int profile_names_find(const struct profile *p, const struct profile_names *names,
		       const struct profile_place *place, const struct frame **ret);

/* Sufficient room for the following. */
enum { PROFILE_LABEL_MAX = 300 };

/*
 * A function for people: its name or, without one (FRAME can be NULL), "module+0xoffset",
 * "[kernel]" or "[unknown]". Writes to TO, or returns the text of FRAME.
 */
const char *profile_names_label(char to[PROFILE_LABEL_MAX], const struct profile_place *place,
				const struct frame *frame);

/*
 * The process of STACK for people: the name of the program that it ran then, or "pid N". As above.
 */
const char *profile_names_process(char to[PROFILE_LABEL_MAX], const struct profile *p,
				  const struct profile_names *names,
				  const struct profile_stack *stack);

/*
 * The length of the path of MAPPING, without the " (deleted)" that the kernel appends if the file
 * had no name any more.
 */
size_t profile_names_path_length(const struct mapping *mapping);

/* The file name of a path: the part after its last '/'. */
const char *profile_names_base(const char *path);
