/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The categories that this kernel and this process can record, and the reasons why others cannot be
 * recorded.
 */
#pragma once

#include <stdbool.h>

struct capability {
	const char *name; /* "btf", "sched", "waker_context", ... */
	bool available;
	const char *detail; /* a sentence: how the category is recorded, or why it is not */
};

enum { CAPABILITIES_MAX = 40 };

/*
 * Fills in CAPS and returns the number of elements. Loads no program, but reads the kernel's BTF,
 * which takes milliseconds. The strings are static or live until the next call in the same thread.
 */
int capabilities_probe(struct capability caps[static CAPABILITIES_MAX]);

/*
 * Returns 0 if a session can be recorded at all. Otherwise returns a negative errno, and
 * *RETERR_TEXT (static) is a sentence that says what is missing and what to do.
 */
int capabilities_check(const char **reterr_text);
