/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets of tracepoints with a name of their own, which -e and Tracepoint= take like a category.
 */
#pragma once

#include <stddef.h>

enum { TRACEPOINT_PRESET_MEMBERS_MAX = 7 };

struct tracepoint_preset {
	const char *name;
	const char *what; /* what it records, in one line for people */
	const char *cost; /* what it costs, in one short line */
	/* SYSTEM:NAME, ends with NULL. If a kernel lacks some of these, the others are recorded. */
	const char *members[TRACEPOINT_PRESET_MEMBERS_MAX + 1];
};

extern const struct tracepoint_preset tracepoint_presets[]; /* ends with a NULL name */

/* Returns the set with the name of N bytes at TEXT, or NULL. */
const struct tracepoint_preset *tracepoint_preset_find(const char *text, size_t n);
