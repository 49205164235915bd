/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The categories that this kernel and this process can record, and the reasons for the others.
 */
#pragma once

#include <stdbool.h>

struct capability {
	const char *name; /* "btf", "sched", "waker_context", ... */
	bool available;
	const char *detail; /* the method, or the reason: a sentence */
};

enum { CAPABILITIES_MAX = 24 };

/*
 * Fills CAPS and returns their number. Loads no program (reading the kernel's BTF takes
 * milliseconds). The strings are static or live until the next call in the same thread.
 */
int capabilities_probe(struct capability caps[static CAPABILITIES_MAX]);

/*
 * 0 if a session can be recorded at all, otherwise a negative errno with *RETERR_TEXT, a sentence
 * with the missing prerequisite and the remedy (static).
 */
int capabilities_check(const char **reterr_text);
