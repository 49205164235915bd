/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of the service on the bus, and connections to it, for both the service and its clients.
 */
#pragma once

#include <stdint.h>
#include <systemd/sd-bus.h>

#define KYMO_BUS_NAME          "org.kymo.Trace1"
#define KYMO_MANAGER_PATH      "/org/kymo/Trace1"
#define KYMO_MANAGER_INTERFACE "org.kymo.Trace1.Manager"
#define KYMO_SESSION_PREFIX    "/org/kymo/Trace1/session"
#define KYMO_SESSION_INTERFACE "org.kymo.Trace1.Session"

/* The private socket of the service (units/kymod.socket). */
#define KYMO_PRIVATE_SOCKET "/run/kymo/private"

/* The timeout for answers of a bus. Working buses answer within milliseconds. */
#define KYMO_BUS_USEC UINT64_C(15000000)

/*
 * Connects to the bus at ADDRESS (NULL = the system bus). NAME describes the connection in logs.
 * The connection can pass descriptors. Returns 0 or a negative errno.
 */
int kymo_bus_open(const char *address, const char *name, sd_bus **ret);

/*
 * Checks whether the process of the bus at ADDRESS (NULL = the system bus) works: it must accept
 * and authenticate a connection within TIMEOUT_USEC. The connection has no name, so no client can
 * send messages to it. Returns 0, -ETIMEDOUT, or another negative errno.
 */
int kymo_bus_try(const char *address, uint64_t timeout_usec);

/*
 * Waits until the bus has accepted BUS, up to TIMEOUT_USEC. Without this, the first call waits for
 * minutes. Returns 0, -ETIMEDOUT, or another negative errno.
 */
int kymo_bus_wait(sd_bus *bus, uint64_t timeout_usec);
