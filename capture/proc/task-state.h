/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a task goes on, by what /proc says. Does not block.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Whether task TID of PID has ended, and only its leader is left, or a parent is to be notified. */
bool task_state_has_ended(pid_t pid, pid_t tid);

/* Likewise, or will run no more of its program. */
bool task_state_is_ending(pid_t pid, pid_t tid);
