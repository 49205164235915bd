/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What both ends of the bus share: what the service is called there, and a connection.
 */
#pragma once

#include <systemd/sd-bus.h>

#define KYMO_BUS_NAME          "org.kymo.Trace1"
#define KYMO_MANAGER_PATH      "/org/kymo/Trace1"
#define KYMO_MANAGER_INTERFACE "org.kymo.Trace1.Manager"
#define KYMO_SESSION_PREFIX    "/org/kymo/Trace1/session"
#define KYMO_SESSION_INTERFACE "org.kymo.Trace1.Session"

/*
 * Connects to the bus at ADDRESS (NULL = the system bus) as who calls himself NAME there, for
 * people. Descriptors pass. Returns 0 or a negative errno.
 */
int kymo_bus_open(const char *address, const char *name, sd_bus **ret);
