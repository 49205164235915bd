/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The connection to the daemon.
 */
#include "cli/bus/bus-client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/bus/bus-call.h"
#include "cli/bus/bus-host.h"
#include "cli/bus/polkit-agent.h"

struct bus_client *bus_client_new(void)
{
	return calloc(1, sizeof(struct bus_client));
}

/* Sends pending messages, but does not wait for a bus that does not read. */
static void bus_client_flush(struct bus_client *c)
{
	uint64_t n = 0;

	while (c->bus && sd_bus_is_ready(c->bus) > 0 &&
	       sd_bus_get_n_queued_write(c->bus, &n) >= 0 && n > 0)
		if (sd_bus_process(c->bus, NULL) < 0 || sd_bus_wait(c->bus, KYMO_BUS_USEC) <= 0)
			break;
}

struct bus_client *bus_client_free(struct bus_client *c)
{
	if (!c)
		return NULL;
	bus_client_flush(c);
	session_view_deinit(&c->last);
	free(c->path);
	free(c->service);
	free(c->address);
	sd_bus_message_unref(c->capabilities);
	polkit_agent_end(c->agent);
	sd_bus_close_unref(c->bus);
	return free_ptr(c);
}

const char *bus_client_error(const struct bus_client *c)
{
	return c->error;
}

/* Opens the bus, and waits until the bus works. Returns -ETIMEDOUT if the bus does not answer. */
static int bus_client_open_bus(struct bus_client *c)
{
	const struct bus_host *other = bus_host();
	int r;

	if (!c->address && other->host)
		return sd_bus_open_system_remote(&c->bus, other->host);
	if (!c->address && other->machine)
		r = sd_bus_open_system_machine(&c->bus, other->machine);
	else
		r = kymo_bus_open(c->address, "kymo", &c->bus);
	/* -EAGAIN: the queue of connections to the bus is full, so the bus is tried for a while. */
	if (r == -EAGAIN && !other->machine)
		r = kymo_bus_try(c->address, KYMO_BUS_USEC)
			    ?: kymo_bus_open(c->address, "kymo", &c->bus);
	if (r == -EAGAIN)
		r = -ETIMEDOUT;
	/* Other errors are ignored here, since the first call fails with them, too. */
	return r < 0 ? r : kymo_bus_wait(c->bus, KYMO_BUS_USEC) == -ETIMEDOUT ? -ETIMEDOUT : 0;
}

static int bus_client_open(struct bus_client *c, const char *address)
{
	const char *other = bus_host()->host ?: bus_host()->machine;
	int r;

	if (bus_host()->socket)
		return bus_open_socket(c, bus_host()->socket);
	c->own_bus = address != NULL;
	if (address) {
		c->address = strdup(address);
		if (!c->address)
			return bus_fail_call(c, -ENOMEM, NULL);
	}
	snprintf(c->bus_name, sizeof(c->bus_name), "%s%s",
		 address ? "bus " : other ? "system bus of " : "system bus", address ?: other ?: "");
	r = bus_client_open_bus(c);
	if (r == -ETIMEDOUT)
		return bus_fail_silent(c);
	return r < 0 ? bus_fail(c, -ENXIO, "there is no %s: %s", c->bus_name, strerror(-r)) : 0;
}

int bus_client_connect(struct bus_client *c, const char *address)
{
	_cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const char *version;
	int r = bus_client_open(c, address);

	if (r < 0)
		return r;
	/* This call also starts the daemon, if the bus can activate it. */
	r = sd_bus_get_property(c->bus, KYMO_BUS_NAME, KYMO_MANAGER_PATH, KYMO_MANAGER_INTERFACE,
				"Version", &e, &reply, "s");
	if (r >= 0 && sd_bus_message_read(reply, "s", &version) >= 0) {
		snprintf(c->version, sizeof(c->version), "%s", version);
	} else if (sd_bus_error_has_name(&e, SD_BUS_ERROR_UNKNOWN_PROPERTY) ||
		   sd_bus_error_has_name(&e, SD_BUS_ERROR_UNKNOWN_INTERFACE)) {
		/* the service is older than this property */
		sd_bus_error_free(&e);
		r = sd_bus_call_method(c->bus, KYMO_BUS_NAME, KYMO_MANAGER_PATH,
				       "org.freedesktop.DBus.Peer", "Ping", &e, &reply, NULL);
	}
	if (r >= 0) {
		c->service = strdup(sd_bus_message_get_sender(reply) ?: "");
		return c->service ? 0 : bus_fail_call(c, -ENOMEM, NULL);
	}
	if (sd_bus_error_has_name(&e, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
	    sd_bus_error_has_name(&e, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
		return bus_fail(c, -ENXIO, "the service kymod is not running on the %s",
				c->bus_name);
	if (bus_is_timeout(r, &e)) {
		r = bus_check_alive(c);
		return r < 0 ? r
			     : bus_fail(c, -ENXIO,
					"the service kymod does not answer on the %s, which works",
					c->bus_name);
	}
	return bus_fail(c, -ENXIO, "the service kymod cannot be reached on the %s: %s", c->bus_name,
			e.message ?: strerror(-r));
}

const char *bus_client_version(const struct bus_client *c)
{
	return c->version;
}
