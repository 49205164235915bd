/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds threads that wait for a lock whose memory can be read without waiting, according to /proc.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* Thread TID of PID waits for the futex at ADDRESS. A value other than 0 ends the search. */
typedef int (*waiting_locks_fn)(pid_t pid, pid_t tid, uint64_t address, void *userdata);

/*
 * Calls FN for each thread that waits in futex() for a value that a mutex of glibc has (or for a
 * priority-inheriting one), if the pages of the mutex are present, and belong to its process alone.
 * FN is called directly after the pages were looked at.
 *
 * Such a page is no longer a page of its file, even if the mapping is one of a file. If it goes
 * away, it comes back from swap, and not from another program, as pages of FUSE can.
 *
 * Threads of which /proc does not show the call are left out. Returns 0, the value of FN, or a
 * negative errno if /proc cannot be listed.
 */
int waiting_locks_each(waiting_locks_fn fn, void *userdata);
