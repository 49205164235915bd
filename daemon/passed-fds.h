/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stand-ins: what libsystemd gets in place of descriptors that callers pass.
 *
 * libsystemd closes the descriptors of a message when it drops the message, and closing what a
 * caller passed can take for ever (async-close.h). So those are kept here, as a group, and the
 * message gets copies of a pipe's end for writing, that nobody else has. When libsystemd has closed
 * the last of them, the pipe hangs up, and the event loop leaves the group to closers: whoever
 * holds thousands costs nothing until then. Children close their copies of stand-ins when they
 * begin.
 *
 * A message with N descriptors has twice as many numbers and one more, and a pipe in which there is
 * nothing. Where the kernel gives no pipe, stand-ins are for nothing.
 *
 * For the main thread only, which alone receives messages.
 */
#pragma once

#include <stddef.h>
#include <systemd/sd-event.h>

/* How many numbers a message takes that has N descriptors. */
#define PASSED_FDS_NUMBERS(n) (2 * (n) + 1)

/* Has EVENT tell when messages have gone. Returns 0 or a negative errno. */
int passed_fds_begin(sd_event *event);

/*
 * Keeps the N descriptors FDS of a message, and puts stand-ins in their place; or closes them, and
 * puts stand-ins for nothing. Returns how many there are: where there are no numbers for more, the
 * others are closed.
 */
size_t passed_fds_take(int *fds, size_t n);

/* Returns a stand-in for one that was not taken, because of the negative errno ERROR, or one. */
int passed_fds_refuse(int error);

/*
 * The descriptor that STAND_IN, of a message, is for, borrowed while the message is there; STAND_IN
 * if it is none; or a negative errno: why it was not taken. That is -EDQUOT if too many of its
 * sender's are not closed yet.
 */
int passed_fds_get(int stand_in);
