/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine whose system bus is used: this one, or another one.
 */
#pragma once

#include <stdbool.h>

/* The machine. At most one member is set; NULL = not this way. Borrowed. */
struct bus_host {
	const char *host;    /* [USER@]HOST, reached through ssh */
	const char *machine; /* name of a container */
};

/* Uses the system bus of HOST from now on. The strings are borrowed. */
void bus_host_set(const struct bus_host *host);
const struct bus_host *bus_host(void);

/* Returns true if the service runs on another machine or in a container. */
bool bus_host_is_elsewhere(void);

/* Returns true if the service has another machine's CLOCK_BOOTTIME. */
bool bus_host_has_other_clock(void);
