/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What /proc says about a task. May block (the command line is another process's memory): for
 * worker threads only, where nothing else is said.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"

/*
 * Whether we see the processes of the whole machine, by the ids that the kernel has for them. Does
 * not block.
 */
bool proc_sees_all(void);

/* Whether thread or process TID has ended, for certain: where proc_sees_all(). Does not block. */
bool proc_is_gone(uint32_t tid);

/*
 * Whether the main thread of process PID has begun to end, or there is none: its directory in /proc
 * has no descriptors and no mappings then, or soon, though other threads may still have them.
 */
bool proc_is_exiting(uint32_t pid);

/*
 * The identity of TID, as far as /proc knows (no start time). Returns 0, or -ESRCH if it is gone.
 */
int proc_identity(uint32_t tid, struct rec_identity *ret);

/* The command line of process PID, at most ROOM bytes, arguments separated by NUL. Returns how many
 * bytes, 0 if it has none or is gone. */
size_t proc_command(uint32_t pid, char *to, size_t room);
