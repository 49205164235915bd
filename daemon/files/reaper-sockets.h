/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sockets of clients that the reaper (async-close.h) shuts down when the service has ended.
 *
 * Such a socket is marked as a client's, since the queue of a socket can have descriptors in it. So
 * the reaper does not close it, and after a kill it stays open as long as a closer hangs. Without a
 * shutdown, the client would not notice that the service has ended.
 *
 * Only the main thread calls these functions, except reaper_sockets_shut_down().
 */
#pragma once

enum { REAPER_SOCKETS_MAX = 256 };

/* To be called before the reaper is started. Returns 0 or a negative errno. */
int reaper_sockets_begin(void);

/* Notes the socket FD, connected or listening, of which there are at most REAPER_SOCKETS_MAX. */
void reaper_sockets_add(int fd);

/* Forgets FD, if it was noted. To be called before FD is closed. */
void reaper_sockets_remove(int fd);

/*
 * Ends all connections, for all processes with their sockets, and those that were not accepted yet.
 * For the reaper: it makes only system calls.
 */
void reaper_sockets_shut_down(void);
