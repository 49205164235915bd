/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data about a task in /proc. Can block (the command line is in another process's memory): only for
 * worker threads, except where noted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"

/* Whether all processes of the machine are visible, with the kernel's ids. Does not block. */
bool proc_sees_all(void);

/*
 * Whether this process reads the clocks that the kernel's records contain: a time namespace of its
 * own can have others. Does not block.
 */
bool proc_has_kernel_clock(void);

/* Whether thread or process TID has certainly ended: requires proc_sees_all(). Does not block. */
bool proc_is_gone(uint32_t tid);

/*
 * Whether the main thread of process PID is exiting or gone: its directory in /proc then has no
 * descriptors and mappings, or soon will not, even if other threads still have them.
 */
bool proc_is_exiting(uint32_t pid);

/*
 * The identity of TID, as far as /proc has it (no start time). Returns 0, or -ESRCH if it is gone.
 */
int proc_identity(uint32_t tid, struct rec_identity *ret);

/*
 * The command line of process PID, at most ROOM bytes, arguments separated by NUL. Returns the
 * number of bytes, 0 if it has none or is gone.
 */
size_t proc_command(uint32_t pid, char *to, size_t room);
