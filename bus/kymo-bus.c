/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bus/kymo-bus.h"

#include <stdbool.h>

#include "base/cleanup.h"

int kymo_bus_open(const char *address, const char *name, sd_bus **ret)
{
	sd_bus *bus = NULL;
	int r;

	if (!address)
		return sd_bus_open_system_with_description(ret, name);
	r = sd_bus_new(&bus);
	if (r >= 0)
		r = sd_bus_set_description(bus, name);
	if (r >= 0)
		r = sd_bus_set_address(bus, address);
	if (r >= 0)
		r = sd_bus_set_bus_client(bus, true);
	if (r >= 0)
		r = sd_bus_negotiate_fds(bus, true);
	if (r >= 0)
		r = sd_bus_start(bus);
	if (r >= 0)
		*ret = TAKE_PTR(bus);
	sd_bus_unref(bus);
	return r;
}
