/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way to the service: the system bus of this machine or of another one, or a private socket.
 */
#pragma once

#include <stdbool.h>

/*
 * The way to the service. At most one member is not NULL; if all are NULL, the way is the system
 * bus of this machine. Borrowed.
 */
struct bus_host {
	const char *host;    /* [USER@]HOST, reached through ssh */
	const char *machine; /* name of a container */
	const char *socket;  /* path of the private socket of the service, on this machine */
};

extern const char bus_host_default_socket[];

/* Goes the way HOST from now on. The strings are borrowed. */
void bus_host_set(const struct bus_host *host);
const struct bus_host *bus_host(void);

/* Returns true if the service runs on another machine or in a container. */
bool bus_host_is_elsewhere(void);

/* Returns true if the user has selected the way, so that no other one replaces it. */
bool bus_host_is_chosen(void);

/* Returns true if the service has another machine's CLOCK_BOOTTIME. */
bool bus_host_has_other_clock(void);
