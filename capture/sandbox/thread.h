/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper threads of a session: detached, deaf to signals, and heard through an eventfd.
 */
#pragma once

#include <stdint.h>

/*
 * Runs FN(USERDATA) in a detached thread that takes no signals: those are for the owner's loop, and
 * a broken pipe is an errno. Returns 0 or a negative errno.
 */
int thread_start(void *(*fn)(void *), void *userdata);

/*
 * For the thread that drains: rings overflow while it waits for its turn, so it gets its turn early
 * (nice -10, where that is allowed). It needs little of a CPU; helper threads, which may need more,
 * and commands that are run have the priority that this process was started with.
 */
void thread_raise_priority(void);

/* Back to the priority that the process was started with, for the calling thread. */
void thread_reset_priority(void);

/* Makes an eventfd readable. */
void thread_signal(int event_fd);

/* Makes it unreadable again. */
void thread_quiet(int event_fd);
