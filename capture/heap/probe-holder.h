/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Detects breakpoints that are missing in a process whose main thread has ended while others
 * continue. For the kernel, the probes of the process belong to the main thread, which has no
 * memory any more. So when any probe at the same place is removed, also by another program, the
 * kernel removes the breakpoint from the process, too. The kernel also inserts no breakpoints for
 * new probes. Another thread, the holder, gets probes that keep the breakpoints (PROBES_HOLD).
 *
 * Between the end of the main thread and the attachment of the holder's probes, a breakpoint can be
 * missing. This must be checked before the holder's probes are attached, because they insert the
 * breakpoint again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "capture/probes/allocators.h"

/*
 * Returns true if the process of TASK runs FILE, which was found in it, without a breakpoint at one
 * of the N PROBES. Unreadable code does not count as missing. If the check takes longer than some
 * seconds, or fails, breakpoints may be missing, so this returns true.
 */
bool probe_holder_misses(pid_t task, const struct allocator_file *file,
			 const struct allocator_probe *probes, size_t n);
