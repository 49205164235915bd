/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper threads of a session: with signals blocked, and most of them detached and connected by
 * an eventfd.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

/*
 * Runs FN(USERDATA) in a detached thread with signals blocked. The owner's loop handles signals,
 * and a broken pipe is an errno. Returns 0 or a negative errno.
 */
int thread_start(void *(*fn)(void *), void *userdata);

/* The same, in a thread that the caller joins. */
int thread_start_joinable(void *(*fn)(void *), void *userdata, pthread_t *ret);

/*
 * Raises the priority of the draining thread (nice -10, if permitted), since rings overflow while
 * it waits for a CPU. It needs little CPU time. Helper threads, which can need more, and recorded
 * commands keep the priority that this process was started with.
 */
void thread_raise_priority(void);

/* Restores the priority that the process was started with, for the calling thread. */
void thread_reset_priority(void);

/* Makes an eventfd readable. */
void thread_signal(int event_fd);

/* Makes it unreadable again. */
void thread_quiet(int event_fd);
