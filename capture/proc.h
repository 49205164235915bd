/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What /proc says about a task. May block (the command line is another process's memory): for
 * worker threads only.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"

/* Who TID is, as far as /proc knows (no start time). Returns 0, or -ESRCH if it is gone. */
int proc_identity(uint32_t tid, struct rec_identity *ret);

/* The command line of process PID, at most ROOM bytes, arguments separated by NUL. Returns how many
 * bytes, 0 if it has none or is gone. */
size_t proc_command(uint32_t pid, char *to, size_t room);
