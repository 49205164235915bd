/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Closes descriptors from clients without waiting.
 *
 * close() of a file on FUSE or NFS sends a request to the file's server (flush), and cannot be
 * interrupted. close() can also hang for a socket with such a file in its queue, for a pipe or
 * socket whose lock is held, and for an epoll that watches one of these. The type of a descriptor
 * does not show this. So this process never closes a descriptor from a client. Instead, closers do:
 * processes that share its table of descriptors. A closer that hangs delays only the other
 * descriptors in its line (close-queue.h), and neither the event loop nor the end of this process.
 *
 * Any message can carry descriptors, even for a method that accepts none, and sd-bus receives and
 * closes them. So this module defines recvmsg(), which libsystemd then calls. This recvmsg() keeps
 * the received descriptors, records their owner (base/foreign-fds.h), and gives libsystemd
 * stand-ins for them (passed-fds.h). Code that keeps one of these descriptors closes it with
 * close_passed_fd().
 *
 * Descriptors that wait to be closed must not use up the table of descriptors, since the connection
 * to the bus breaks if a message cannot be received for lack of numbers. So recvmsg() determines
 * the sender of a message before it receives descriptors. If too many descriptors of this user are
 * still open, another process receives them (fd-sink.h), and the message gets stand-ins without
 * descriptors.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

/*
 * Makes the calling thread the thread that receives messages. From now on, close_passed_fd() gives
 * descriptors that came with messages to closers. Starts the reaper. Returns 0 or a negative errno.
 */
int async_close_begin(void);

/*
 * Notes that FD has a lock (flock()) for which the next service waits. If this process is killed,
 * the reaper releases the lock before the name on the bus.
 */
void async_close_note_lock(int fd);

/*
 * Lets EVENT, of the same thread, give waiting descriptors to closers that become free. Starts to
 * watch the descriptors that come from BUS: no message may have been received from it yet. BUS =
 * NULL: there is no bus. Returns 0 or a negative errno.
 */
int async_close_attach(sd_event *event, sd_bus *bus);

/*
 * Sends all pending messages, for two seconds at most, and closes BUS. No other code may close BUS.
 * The socket is shut down, so that the bus releases the names of the service even if other
 * processes keep the socket open for a while.
 */
void async_close_disconnect(sd_bus *bus);

/*
 * Looks up the sender NAME of a message. Returns 0 and its uid in *RET, or a negative errno if the
 * sender is unknown.
 */
typedef int (*async_close_owner_fn)(const char *name, uid_t *ret, void *userdata);

/* Sets FN as the lookup for each message with descriptors. NULL: all senders are unknown. */
void async_close_set_owner_fn(async_close_owner_fn fn, void *userdata);

/* Notes the user of the sender NAME: descriptors that it has passed belong to UID. */
void async_close_learn(const char *name, uid_t uid);

/*
 * Returns the number of descriptors that UID has passed from the file system (or other place) of
 * FD, and that are not closed yet, if this number is so high that no more should be accepted.
 * Otherwise 0.
 */
size_t async_close_backlog(int fd, uid_t uid);

/*
 * Returns true if UID, over all places together, has so many descriptors that are not closed yet
 * that no more should be accepted. For sockets, since each of them is a place of its own.
 */
bool async_close_is_full(uid_t uid);
