/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Closing descriptors of others without waiting for them.
 *
 * close() of a file on FUSE or NFS asks its server (flush), and cannot be interrupted. So does
 * closing a socket in whose queue such a file lies, a pipe or a socket whose lock somebody holds,
 * or an epoll that watches one of these. Which of these a descriptor is cannot be seen from its
 * type, so none of others' is closed by this process: closers do, processes that share its table of
 * descriptors. One that hangs holds up nothing but what is in its line (close-queue.h), and neither
 * the event loop nor the end of this process.
 *
 * Descriptors come with any message, also where no method takes one, and it is sd-bus that receives
 * and closes those. So this defines recvmsg(), which libsystemd calls like everybody else: it keeps
 * what comes in, notes whose it is (base/foreign-fds.h), and gives libsystemd stand-ins that are
 * ours (passed-fds.h). Whoever has taken one for longer closes it with close_passed_fd().
 *
 * What waits to be closed must not use up the numbers that descriptors can have: a connection to
 * the bus that cannot take in a message for want of one breaks. So recvmsg() looks who has sent a
 * message before it takes descriptors. Those of a user who has too many that are not closed another
 * process takes (fd-sink.h), and the message gets stand-ins for nothing.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

/*
 * From here on this is the thread that receives messages, and close_passed_fd() leaves to closers
 * what came with them. Starts the guard. Returns 0 or a negative errno.
 */
int async_close_begin(void);

/*
 * Has EVENT, of the same thread, hand on what is to be closed when a closer is free again; and
 * guards what comes from BUS, of which no message has been received yet. Returns 0 or a negative
 * errno.
 */
int async_close_attach(sd_event *event, sd_bus *bus);

/*
 * Closes BUS once all has been sent, which nobody else does. Processes that have its socket, too,
 * and live a little longer do not keep the connection: the bus frees its names now.
 */
void async_close_leave(sd_bus *bus);

/*
 * Who the sender NAME of a message is, if that is known: returns 0 and his uid in *RET, or a
 * negative errno.
 */
typedef int (*async_close_owner_fn)(const char *name, uid_t *ret, void *userdata);

/* Has FN asked, of each message with descriptors; NULL = nobody is known. */
void async_close_ask(async_close_owner_fn fn, void *userdata);

/* The sender NAME is known from now on: what he has sent before is UID's. */
void async_close_learn(const char *name, uid_t uid);

/*
 * How many descriptors from where FD leads to, which UID has passed, are being closed, or wait for
 * it, if these are too many to take more from there; else 0.
 */
size_t async_close_backlog(int fd, uid_t uid);
