/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bus/bus-objects.h"

#include "daemon/bus/manager-bus.h"
#include "daemon/bus/session-bus.h"

static int bus_objects_offer(struct manager *m, sd_bus *bus)
{
	int r = manager_bus_offer(m, bus);

	return r < 0 ? r : session_bus_offer(m, bus);
}

const struct manager_objects bus_objects = {
	.offer = bus_objects_offer,
	.append_property = session_bus_append_property,
};
