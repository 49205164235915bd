/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the places of a profile are called. What the archive itself says (EVENT_FRAME) comes first,
 * then the callback that looks names up; what is unknown is "module+0xoffset".
 */
#pragma once

#include "reader/views/profile.h"

/* The callback that looks names up. */
struct profile_names {
	/*
	 * Puts the functions at PLACE into *RET, innermost first; they hold until the next call.
	 * Returns how many they are, 0 if nothing is known, or -ENOMEM.
	 */
	int (*find)(void *userdata, const struct profile_place *place, const struct frame **ret);
	/* What the process PID is called; NULL = not known. */
	const char *(*process)(void *userdata, uint32_t pid);
	void *userdata;
};

/* As find(), by both ways; NAMES may have none. */
int profile_names_find(const struct profile *p, const struct profile_names *names,
		       const struct profile_place *place, const struct frame **ret);

/* Room enough for what follows. */
enum { PROFILE_LABEL_MAX = 300 };

/* A function for people: its name or, without one (FRAME may be NULL), "module+0xoffset",
 * "[kernel]" or "[unknown]". Writes to TO, or returns what FRAME has. */
const char *profile_names_label(char to[PROFILE_LABEL_MAX], const struct profile_place *place,
				const struct frame *frame);

/* The process PID for people: its name, or "pid N". As above. */
const char *profile_names_process(char to[PROFILE_LABEL_MAX], const struct profile_names *names,
				  uint32_t pid);

/* The file name of a path: what stands behind its last '/'. */
const char *profile_names_base(const char *path);
