/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process whose first thread has ended while others continue. For the kernel, its probes belong
 * to that thread, which has no memory any more. So as soon as any probe at the same place goes, of
 * anybody, the kernel removes the breakpoint from the process, too; and it inserts none for new
 * probes. Another thread, the holder, gets probes that keep them (PROBES_HOLD).
 *
 * Between the end of the first thread and the holder's probes, a breakpoint can be missing. That is
 * seen before these probes are attached, which insert it again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "capture/probes/allocators.h"

/*
 * Whether the process of TASK runs FILE without a breakpoint at one of N PROBES. What cannot be
 * read is not missing.
 */
bool probe_holder_misses(pid_t task, const struct allocator_file *file,
			 const struct allocator_probe *probes, size_t n);
