/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * System calls where the meaning of the arguments depends on one of the arguments: commands of
 * fcntl, operations of futex, the mode of a file that open() creates.
 *
 * The call's own row (call-syscalls.h) decides which memory is copied. So a variant can have a
 * structure or a string only where that row has memory of at least the same size.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call_variant {
	const char *call;      /* name of the system call */
	uint8_t arg;           /* index of the argument that selects the variant, ... */
	uint64_t mask, value;  /* ... if its bits in MASK have this value */
	const char *signature; /* as in the call's row; "ptr stack@r1" is in the second register */
	/* If AND_ARG is not 0, this argument must also have the value AND_VALUE (32 bits). */
	uint8_t and_arg;
	uint32_t and_value;
};

/*
 * Returns the variants of the system call NAME. The first variant that fits is right. *RET_N is
 * their number.
 */
const struct call_variant *call_variants_of(const char *name, size_t *ret_n);

/*
 * Returns true if the arguments of the system call NAME are shown with their names, because its
 * variants have them in another order than the system call.
 */
bool call_variant_shows_names(const char *name);
