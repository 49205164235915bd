/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for times in which a program does something: what is allocated then is marked with the bits
 * of all that are open.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CONTEXTS_MAX = 32 };

struct contexts {
	char names[CONTEXTS_MAX][65]; /* in the order in which they began first */
	size_t n;
	uint32_t open; /* bits; that of names[i] is 1 << i */
};

/*
 * Opens the context NAME, [A-Za-z0-9_]{1,64}; *RET_BIT is its bit, the same each time. Returns 0;
 * -EINVAL: no such name can be; -EEXIST: it is open; or -EDQUOT: there have been too many names.
 */
int contexts_begin(struct contexts *c, const char *name, uint32_t *ret_bit);

/*
 * Closes that of BIT; *RET_NAME, borrowed, is its name. Returns 0, or -ENOENT if no such one is
 * open.
 */
int contexts_end(struct contexts *c, uint32_t bit, const char **ret_name);
