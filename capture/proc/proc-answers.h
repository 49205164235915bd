/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results about processes, one after another in a buffer.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * A command line: `size` bytes follow in the buffer, padded to a multiple of 8. A longer command
 * line than REC_ARGS_BYTES is cut.
 */
struct proc_command {
	uint64_t start_ns;
	uint32_t tid;
	uint32_t size;
};

/* Returns the number of bytes that a command line of SIZE bytes occupies in the buffer. */
static inline size_t proc_padded(uint32_t size)
{
	return ((size_t)size + 7) & ~(size_t)7;
}
