/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sockets of clients that the reaper (async-close.h) shuts down when the service has ended.
 *
 * The reaper closes no descriptors of clients, and such a socket is marked as one, since its queue
 * can contain descriptors. So after a kill of the service, the socket stays open as long as a
 * closer hangs. Without a shutdown, the client would not notice that the service has ended.
 *
 * Only the main thread calls these functions, except reaper_sockets_shut_down().
 */
#pragma once

enum { REAPER_SOCKETS_MAX = 256 };

/* To be called before the reaper is started. Returns 0 or a negative errno. */
int reaper_sockets_begin(void);

/* Notes the socket FD, connected or listening. At most REAPER_SOCKETS_MAX sockets can be noted. */
void reaper_sockets_add(int fd);

/* Forgets FD, if it was noted. To be called before FD is closed. */
void reaper_sockets_remove(int fd);

/*
 * Ends all connections through the noted sockets, in all processes that have these sockets, and the
 * connections that were not accepted yet. For the reaper: makes only system calls.
 */
void reaper_sockets_shut_down(void);
