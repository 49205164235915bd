/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bus/kymo-bus.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define RETRY_USEC 50000

#define SYSTEM_BUS "unix:path=/run/dbus/system_bus_socket"

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

int kymo_bus_wait(sd_bus *bus, uint64_t timeout_usec)
{
	uint64_t until_usec = clock_read_ns(CLOCK_MONOTONIC) / 1000 + timeout_usec, now_usec;
	int r;

	while ((r = sd_bus_is_ready(bus)) == 0) {
		r = sd_bus_process(bus, NULL);
		if (r < 0)
			return r;
		if (r > 0)
			continue;
		now_usec = clock_read_ns(CLOCK_MONOTONIC) / 1000;
		if (now_usec >= until_usec)
			return -ETIMEDOUT;
		r = sd_bus_wait(bus, until_usec - now_usec);
		if (r < 0 && r != -EINTR)
			return r;
	}
	return r < 0 ? r : 0;
}

static void kymo_bus_dropp(sd_bus **bus)
{
	/* (sd_bus_flush_close_unref() would wait) */
	sd_bus_close_unref(*bus);
}

static int kymo_bus_try_once(const char *address, uint64_t timeout_usec)
{
	_cleanup_(kymo_bus_dropp) sd_bus *bus = NULL;
	int r = sd_bus_new(&bus);

	if (r >= 0)
		r = sd_bus_set_address(
			bus, address ?: secure_getenv("DBUS_SYSTEM_BUS_ADDRESS") ?: SYSTEM_BUS);
	if (r >= 0)
		r = sd_bus_start(bus);
	return r < 0 ? r : kymo_bus_wait(bus, timeout_usec);
}

int kymo_bus_try(const char *address, uint64_t timeout_usec)
{
	uint64_t until_ns = clock_read_ns(CLOCK_MONOTONIC) + timeout_usec * 1000;
	int r;

	/* (while the queue of connections is full, a connection is refused at once) */
	while ((r = kymo_bus_try_once(address, timeout_usec)) == -EAGAIN &&
	       clock_read_ns(CLOCK_MONOTONIC) < until_ns)
		usleep(RETRY_USEC);
	return r == -EAGAIN ? -ETIMEDOUT : r;
}
