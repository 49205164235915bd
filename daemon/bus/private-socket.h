/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The private socket: root calls the service through it if the bus does not answer.
 *
 * A connection to it carries the messages of D-Bus, without a bus between client and service. It
 * has the same objects, interfaces and signals, and each message comes from the service's name. The
 * kernel tells the user of a connection. Only root is served: polkit decides about other users, and
 * its answers come through the bus.
 *
 * No connection delays the event loop. The number of connections, the size of messages to the
 * service, and the number of messages that clients have not read are limited. A connection that
 * exceeds a limit is closed.
 */
#pragma once

#include <stdbool.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "daemon/sessions/manager.h"

struct private_socket;

struct private_socket_args {
	sd_event *event;
	struct manager *manager;
	int fd; /* listening; owned by the private socket, even if private_socket_new() fails */
	/* Called with USERDATA for each call. */
	void (*on_call)(void *userdata);
	void *userdata;
};

/*
 * Returns a listening socket at PATH that only root may use, or a negative errno: -EADDRINUSE if
 * another process serves PATH. A socket that an earlier service has left is replaced.
 */
int private_socket_listen(const char *path);

int private_socket_new(const struct private_socket_args *args, struct private_socket **ret);
struct private_socket *private_socket_free(struct private_socket *s);

DEFINE_CLEANUP(struct private_socket *, private_socket_free)

/*
 * While PAUSED, new connections wait to be served by this service later, or by the next one. S can
 * be NULL.
 */
void private_socket_pause(struct private_socket *s, bool paused);

/* Returns true if a connection has data that is not read yet. S can be NULL. */
bool private_socket_has_input(const struct private_socket *s);
