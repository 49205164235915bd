/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Contexts: named periods of a program. Each allocation is marked with the bits of all contexts
 * that are open.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CONTEXTS_MAX = 32 };

struct contexts {
	char names[CONTEXTS_MAX][65]; /* in the order in which they first began */
	size_t n;
	uint32_t open; /* bits of open contexts; names[i] has the bit 1 << i */
};

/*
 * Opens the context NAME, [A-Za-z0-9_]{1,64}. *RET_BIT is its bit, always the same. Returns 0,
 * -EINVAL (invalid name), -EEXIST (it is open), or -EDQUOT (too many names).
 */
int contexts_begin(struct contexts *c, const char *name, uint32_t *ret_bit);

/*
 * Closes the context BIT. *RET_NAME (borrowed) is its name. Returns 0, or -ENOENT if it is not
 * open.
 */
int contexts_end(struct contexts *c, uint32_t bit, const char **ret_name);
