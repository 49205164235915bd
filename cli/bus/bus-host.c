/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/bus/bus-host.h"

#include "bus/kymo-bus.h"

const char bus_host_default_socket[] = KYMO_PRIVATE_SOCKET;

static struct bus_host current;

void bus_host_set(const struct bus_host *host)
{
	current = *host;
}

const struct bus_host *bus_host(void)
{
	return &current;
}

bool bus_host_is_elsewhere(void)
{
	return current.host || current.machine;
}

bool bus_host_is_chosen(void)
{
	return bus_host_is_elsewhere() || current.socket;
}

bool bus_host_has_other_clock(void)
{
	return current.host;
}
