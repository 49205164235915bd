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

struct bus_client *bus_client_free(struct bus_client *c)
{
	if (!c)
		return NULL;
	session_view_deinit(&c->last);
	free(c->path);
	free(c->service);
	sd_bus_message_unref(c->capabilities);
	polkit_agent_end(c->agent);
	sd_bus_flush_close_unref(c->bus);
	return free_ptr(c);
}

const char *bus_client_error(const struct bus_client *c)
{
	return c->error;
}

static int bus_client_open_bus(const char *address, sd_bus **ret)
{
	const struct bus_host *other = bus_host();

	if (!address && other->host)
		return sd_bus_open_system_remote(ret, other->host);
	if (!address && other->machine)
		return sd_bus_open_system_machine(ret, other->machine);
	return kymo_bus_open(address, "kymo", ret);
}

int bus_client_connect(struct bus_client *c, const char *address)
{
	_cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const char *version;
	const char *other = bus_host()->host ?: bus_host()->machine;
	const char *bus = address ? "bus " : other ? "system bus of " : "system bus";
	const char *where = address ? address : other ? other : "";
	int r;

	c->own_bus = address != NULL;
	r = bus_client_open_bus(address, &c->bus);
	if (r < 0)
		return bus_fail(c, -ENXIO, "there is no %s%s: %s", bus, where, strerror(-r));
	/* This also starts the daemon, if the bus can activate it. */
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
		return bus_fail(c, -ENXIO, "the service kymod is not running on the %s%s", bus,
				where);
	return bus_fail(c, -ENXIO, "the service kymod cannot be reached on the %s%s: %s", bus,
			where, e.message ?: strerror(-r));
}

const char *bus_client_version(const struct bus_client *c)
{
	return c->version;
}
