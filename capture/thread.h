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

/* Makes an eventfd readable. */
void thread_signal(int event_fd);

/* Makes it unreadable again. */
void thread_quiet(int event_fd);
