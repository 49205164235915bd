/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sockets whose close hangs, and ways to pass them to the service. All of these functions use
 * CHECK() of ask-service.h, so they are for children.
 */
#pragma once

#include <stdbool.h>

/* Returns a socket that accepts the connections of hanging_sockets_new(). */
int hanging_sockets_listen(void);

/*
 * Returns a TCP socket with unread bytes, which lingers for ten minutes at its last close, unless
 * *RET_PEER is closed.
 */
int hanging_sockets_new(int listener, int *ret_peer);

/* Sends a byte with the descriptor FD over SOCKET. Returns false if its other end is closed. */
bool hanging_sockets_send(int socket, int fd);

/* Closes a socket of hanging_sockets_new() without waiting. */
void hanging_sockets_close(int fd);

/*
 * Connects to the socket of programs in KYMO_PROVIDER_DIR. Returns the connection, or -1 if there
 * is no socket, or its queue is full for some seconds.
 */
int hanging_sockets_connect_program(void);
