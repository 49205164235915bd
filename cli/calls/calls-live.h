/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recording that `kymo calls` prints while it is made.
 */
#pragma once

#include <sys/types.h>

#include "cli/service/record-options.h"

/*
 * Begins to record as O says, in a process of its own; O is its. Returns CLI_OK with its id, and
 * the end of a pipe by which the archive comes, which is the caller's; or CLI_FAILED when it has
 * said why.
 */
int calls_live_begin(struct record_options *o, pid_t *ret_pid, int *ret_fd);

/* Waits for its end. Returns what it exited with, or CLI_FAILED. */
int calls_live_end(pid_t pid);
