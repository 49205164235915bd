/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of the service on the bus, and connections to it, for both the service and its clients.
 */
#pragma once

#include <systemd/sd-bus.h>

#define KYMO_BUS_NAME          "org.kymo.Trace1"
#define KYMO_MANAGER_PATH      "/org/kymo/Trace1"
#define KYMO_MANAGER_INTERFACE "org.kymo.Trace1.Manager"
#define KYMO_SESSION_PREFIX    "/org/kymo/Trace1/session"
#define KYMO_SESSION_INTERFACE "org.kymo.Trace1.Session"

/*
 * Connects to the bus at ADDRESS (NULL = the system bus). NAME describes the connection in logs.
 * The connection can pass descriptors. Returns 0 or a negative errno.
 */
int kymo_bus_open(const char *address, const char *name, sd_bus **ret);
