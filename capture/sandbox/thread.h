/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper threads of a session: signals are blocked in them, and most of them are detached and
 * connected by an eventfd.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

/*
 * Runs FN(USERDATA) in a detached thread with signals blocked. The owner's loop handles signals,
 * and a broken pipe is an errno. Returns 0 or a negative errno.
 */
int thread_start(void *(*fn)(void *), void *userdata);

/* Like thread_start(), in a thread that the caller joins. */
int thread_start_joinable(void *(*fn)(void *), void *userdata, pthread_t *ret);

/*
 * Raises the priority of the draining thread (nice -10, if permitted), since rings overflow while
 * it waits for a CPU. This thread needs little CPU time. Helper threads, which can need more, and
 * recorded commands keep the priority with which this process was started.
 */
void thread_raise_priority(void);

/* Gives the calling thread the priority with which the process was started. */
void thread_reset_priority(void);

/* Makes an eventfd readable. */
void thread_signal(int event_fd);

/* Makes EVENT_FD unreadable again. */
void thread_quiet(int event_fd);
