/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stand-ins: what libsystemd gets in place of descriptors that callers pass.
 *
 * libsystemd closes the descriptors of a message when it drops the message, and closing what a caller
 * passed can take for ever (async-close.h). So each is kept here, and the message gets a socket of
 * our own that leads nowhere. When libsystemd has closed that one, the message has gone, and what it
 * stood for is left to closers. A socket has a cookie that no other one ever has, so a number that is
 * somebody else's by then is not mistaken for it.
 *
 * For the main thread only, which alone receives messages.
 */
#pragma once

/* What a stand-in is for when the caller's descriptor was not taken. */
enum { PASSED_FD_REFUSED = -1 };

/*
 * Returns a stand-in for FD, which is kept (or for PASSED_FD_REFUSED), or a negative errno: FD is
 * still the caller's then.
 */
int passed_fds_add(int fd);

/*
 * The descriptor that STAND_IN is for, borrowed while its message is there; STAND_IN if it is none.
 * -EDQUOT: it was not taken, because too many of its sender's are not closed yet.
 */
int passed_fds_get(int stand_in);

/* Closes those whose message has gone. */
void passed_fds_sweep(void);
