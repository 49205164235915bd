/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stand-ins: descriptors that libsystemd gets in place of the descriptors that callers pass.
 *
 * libsystemd closes the descriptors of a message when it frees the message, and closing a caller's
 * descriptor can hang forever (async-close.h). So this module keeps these descriptors as a group,
 * and gives libsystemd duplicates of the write end of a pipe instead. When libsystemd has closed
 * the last duplicate, the read end reports a hang-up, and the event loop gives the group to
 * closers. Until then, a group costs no time, however many descriptors it has. Children close their
 * copies of stand-ins when they start.
 *
 * A message with N descriptors uses 2 N + 1 numbers (descriptors, stand-ins and the read end) and
 * an empty pipe. If the kernel refuses a pipe, the descriptors are closed, and the message gets
 * stand-ins without descriptors.
 *
 * Only for the main thread, which receives all messages.
 */
#pragma once

#include <stddef.h>
#include <systemd/sd-event.h>

/* The number of descriptors that a message with N descriptors uses. */
#define PASSED_FDS_NUMBERS(n) (2 * (n) + 1)

/* Uses EVENT to notice when messages are freed. Returns 0 or a negative errno. */
int passed_fds_begin(sd_event *event);

/*
 * Keeps the N descriptors FDS of a message, and replaces them by stand-ins. If no pipe can be made,
 * closes the descriptors, and replaces them by stand-ins without descriptors. Returns the number of
 * stand-ins. If there are too few free numbers, the remaining descriptors are closed.
 */
size_t passed_fds_adopt(int *fds, size_t n);

/*
 * Returns a stand-in for a descriptor that was not accepted because of ERROR, a negative errno; or
 * a negative errno.
 */
int passed_fds_refuse(int error);

/*
 * Returns the descriptor that STAND_IN, from a message, represents. The descriptor is borrowed
 * until the message is freed. Returns STAND_IN itself if its number is not a stand-in, or the
 * negative errno with which the descriptor was not accepted: -EDQUOT if too many of the sender's
 * descriptors are not closed yet.
 */
int passed_fds_get(int stand_in);
