/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a task continues, according to /proc. Does not block.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * Whether task TID of PID has ended, and only its leader is left, or its parent must be notified.
 */
bool task_state_has_ended(pid_t pid, pid_t tid);

/* The same, or it will not run its program any more. */
bool task_state_is_ending(pid_t pid, pid_t tid);

/* Whether all threads of process PID have ended: no such process, or nobody has waited for it. */
bool task_state_process_has_ended(pid_t pid);

/*
 * The oldest thread of PID that will: PID, unless its first thread has ended and others continue.
 * /proc shows the memory of such a process only for those. 0 = none.
 */
pid_t task_state_oldest(pid_t pid);
