/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The outcomes of system calls that wait: the descriptors that are ready, and the time that is
 * left. strace shows them behind the result.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/calls/call-values.h"

/* Returns true if only call_wait_format() shows how system call NUMBER changes memory. */
bool call_wait_changes(long number);

/*
 * Writes what system call NUMBER has found to TO (SIZE bytes). ARGS are its arguments, and COPIES
 * their memory, with the same index. Returns the length; 0 = it has found nothing.
 */
size_t call_wait_format(long number, const __u64 *args, const struct call_copies *copies, char *to,
			size_t size);
