/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recording that `kymo calls` prints while it runs.
 */
#pragma once

#include <sys/types.h>

#include "cli/options/record-options.h"

/*
 * Starts a recording in a new process. Takes over the contents of O, its options. Returns CLI_OK
 * with the id of the process and the read end of a pipe for the archive, owned by the caller; or
 * CLI_FAILED after an error message.
 */
int calls_live_begin(struct record_options *o, pid_t *ret_pid, int *ret_fd);

/* Waits for the end of the recording. Returns its exit status, or CLI_FAILED. */
int calls_live_end(pid_t pid);
