/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this kernel and this process can capture, and why not where they cannot.
 */
#pragma once

#include <stdbool.h>

struct capability {
	const char *name; /* "btf", "sched", "waker_context", ... */
	bool available;
	const char *detail; /* how, or why not: a sentence */
};

enum { CAPABILITIES_MAX = 24 };

/*
 * Looks, without loading any program (it reads the kernel's BTF: milliseconds), and fills CAPS;
 * returns how many. The strings are static or live until the next call in the same thread.
 */
int capabilities_probe(struct capability caps[static CAPABILITIES_MAX]);

/*
 * 0 if a session can be captured at all, else a negative errno with *RETERR_TEXT a sentence that
 * says what is missing and what to do (static).
 */
int capabilities_check(const char **reterr_text);
