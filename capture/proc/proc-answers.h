/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results about processes and cgroups, one after the other in a buffer.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A command line: `size` bytes follow in the buffer, padded to 8. */
struct proc_command {
	uint64_t start_ns;
	uint32_t tid;
	uint32_t size;
};

/* The path of a cgroup, likewise, with its NUL. */
struct proc_cgroup {
	uint64_t id;
	uint32_t size;
	uint32_t reserved;
};

/* The bytes that SIZE takes in the buffer. */
static inline size_t proc_padded(uint32_t size)
{
	return ((size_t)size + 7) & ~(size_t)7;
}
