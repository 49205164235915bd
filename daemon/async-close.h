/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Closing descriptors of others without waiting for them.
 *
 * close() of a file on FUSE or NFS asks its server (flush), and cannot be interrupted. So does
 * closing a socket in whose queue such a file lies, a pipe or a socket whose lock somebody holds,
 * or an epoll that watches one of these. Which of these a descriptor is cannot be told from its
 * type, so none of others' is closed by this process: closers do, processes that share its table of
 * descriptors. One that hangs holds up nothing but what is in its line (close-queue.h), and neither
 * the event loop nor the end of this process.
 *
 * Descriptors come with any message, also where no method takes one, and it is sd-bus that receives
 * and closes those. So this defines recvmsg(), which notes what comes in, and close(), which looks
 * whose it is (base/foreign-fds.h). libsystemd calls both like everybody else.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

/*
 * From here on what this thread receives is others', and nobody but closers closes it. Starts the
 * guard. Returns 0 or a negative errno.
 */
int async_close_begin(void);

/*
 * Has EVENT, of the same thread, hand on what is to be closed when a closer is free again. Returns
 * 0 or a negative errno.
 */
int async_close_attach(sd_event *event);

/*
 * How many descriptors from where FD leads to, which UID has passed, are being closed, or wait for
 * it, if these are too many to take more from there; else 0.
 */
size_t async_close_crowd(int fd, uid_t uid);
