/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine whose system bus is used: this one, or another one.
 */
#pragma once

#include <stdbool.h>

/* NULL = not this way. At most one of them is set. Borrowed. */
struct bus_host {
	const char *host;    /* [USER@]HOST, through ssh */
	const char *machine; /* a container */
};

/* Uses the system bus of HOST from now on. The strings are borrowed. */
void bus_host_set(const struct bus_host *host);
const struct bus_host *bus_host(void);

/* Whether the service runs elsewhere. */
bool bus_host_is_elsewhere(void);

/* Whether CLOCK_BOOTTIME of the service is another machine's. */
bool bus_host_has_other_clock(void);
