/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptors that programs send with their packets, although no packet has any. The last close of
 * a file can wait: that of a TCP socket waits as long as SO_LINGER says. A process that receives
 * such a packet, or closes a socket with it in its queue, closes the descriptors. So such a packet
 * is not received, and a thread of its own closes the socket. A signal interrupts a close that
 * waits.
 *
 * The number of threads is bounded, also for each user. If a user has the maximum, the other
 * connections of this user wait for one of these threads.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { PROVIDER_PASSED_CLOSES_MAX = 192, PROVIDER_PASSED_CLOSES_PER_USER = 32 };

/*
 * Whether the next packet of the socket FD has descriptors. *RET_PID is the process that sent the
 * packet; 0 = unknown. The socket must have SO_PASSCRED. Otherwise, descriptors are received.
 */
bool provider_passed_is_next(int fd, pid_t *ret_pid);

/*
 * Ends the connection FD of user UID at once, and closes it in a thread. If there is no thread for
 * it, FD stays open until the process ends. Returns -1.
 */
int provider_passed_close(int fd, uint32_t uid);

/* Whether so many connections are being closed that no new ones can be accepted. */
bool provider_passed_is_full(void);
