/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptors that programs send with their packets, although no packet has any. The last close of
 * a file can wait: that of a TCP socket waits as long as SO_LINGER says. A process that receives
 * such a packet, or closes a socket with it in its queue, closes the descriptors. So such a packet
 * is not received, and a thread of its own closes the socket.
 */
#pragma once

#include <stdbool.h>

/* Whether the next packet of the socket FD has descriptors. */
bool provider_passed_is_next(int fd);

/*
 * Ends the connection FD at once, and closes it in a thread. If there is no thread for it, FD stays
 * open until the process ends. Returns -1.
 */
int provider_passed_close(int fd);

/* Whether so many threads wait in a close that no new connections can be accepted. */
bool provider_passed_is_full(void);
