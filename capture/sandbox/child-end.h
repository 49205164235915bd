/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a child process that may not end when it is killed. A process in uninterruptible sleep
 * ends only after what it waits for: for example, for the answer of a FUSE server to a request for
 * a page of a mapped file, which may never come. So a child is waited for only for a limited time.
 * Then it is left: its entry in the process table is removed by a later call.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { CHILD_LEFT_MAX = 64 };

/*
 * Waits up to TIMEOUT_NS for the end of child PID. Returns true if it has ended; then its id can be
 * in use again. Sets *RET_STATUS, unless that is NULL, to its status as waitpid() does.
 */
bool child_end_wait(pid_t pid, uint64_t timeout_ns, int *ret_status);

/*
 * Kills child PID, and waits up to a second for its end. If it has not ended by then, it is left.
 * PLACE is the place that it waits for (file_place_of()), 0 = unknown. Returns false if it has not
 * ended, and CHILD_LEFT_MAX children are already left: no later call will remove its entry.
 */
bool child_end_kill(pid_t pid, uint64_t place);

/* Returns true if a left child that waits for PLACE has not ended. */
bool child_end_hangs_at(uint64_t place);

/* Returns the number of left children that have not ended. */
unsigned child_end_n_left(void);
