/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out whether the bus works, and connects to the private socket of the service.
 *
 * The process of the bus can hang: it closes files that clients send, and the server of such a file
 * system may never answer. So a missing answer is not always the fault of the service.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/bus/bus-call.h"
#include "cli/bus/bus-host.h"

bool bus_is_timeout(int error, const sd_bus_error *e)
{
	return error == -ETIMEDOUT || sd_bus_error_has_name(e, SD_BUS_ERROR_NO_REPLY) ||
	       sd_bus_error_has_name(e, SD_BUS_ERROR_TIMEOUT);
}

int bus_fail_silent(struct bus_client *c)
{
	return bus_fail(c, -ETIMEDOUT,
			"the %s does not answer: its process hangs or is stopped, and kymod cannot "
			"be called through it%s",
			c->bus_name,
			bus_host_is_elsewhere() ? "" : "; root can use --socket instead");
}

int bus_check_alive(struct bus_client *c)
{
	c->heard_ns = clock_read_ns(CLOCK_MONOTONIC);
	if (bus_host_is_chosen() || kymo_bus_try(c->address, KYMO_BUS_USEC) != -ETIMEDOUT)
		return 0;
	return bus_fail_silent(c);
}

void bus_note_message(struct bus_client *c)
{
	c->heard_ns = clock_read_ns(CLOCK_MONOTONIC);
}

void bus_expect_answer(struct bus_client *c)
{
	bus_note_message(c);
	c->expects_answer = true;
}

int bus_check_silence(struct bus_client *c)
{
	if (clock_read_ns(CLOCK_MONOTONIC) - c->heard_ns < BUS_SILENCE_NS)
		return 0;
	return bus_check_alive(c);
}

static int bus_alive_fail_socket(struct bus_client *c, const char *path, int error)
{
	switch (error) {
	case -EACCES:
	case -EPERM:
		return bus_fail(c, -EACCES, "only root can use the private socket %s of kymod",
				path);
	case -ENOENT:
	case -ECONNREFUSED:
		return bus_fail(c, -ENXIO,
				"no service listens on %s: run `systemctl start kymod.socket`, or "
				"`kymod --socket=%s`",
				path, path);
	case -EAGAIN:
	case -ETIMEDOUT:
		return bus_fail(c, -ENXIO, "the service kymod does not answer on %s", path);
	default:
		return bus_fail(c, -ENXIO, "cannot connect to %s: %s", path, strerror(-error));
	}
}

/* Makes a connection without a bus from the socket FD. *RET owns FD if this succeeds. */
static int bus_alive_open_direct(int fd, sd_bus **ret)
{
	_cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;
	int r = sd_bus_new(&bus);

	if (r >= 0)
		r = sd_bus_set_description(bus, "kymo");
	if (r >= 0)
		r = sd_bus_negotiate_fds(bus, true);
	if (r >= 0)
		r = sd_bus_set_fd(bus, fd, fd);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(bus);
	return sd_bus_start(*ret);
}

int bus_open_socket(struct bus_client *c, const char *path)
{
	/* (a blocking connect() waits while the queue of connections is full) */
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int r;

	c->own_bus = true;
	snprintf(c->bus_name, sizeof(c->bus_name), "private socket %s", path);
	if (strlen(path) >= sizeof(address.sun_path))
		return bus_alive_fail_socket(c, path, -ENAMETOOLONG);
	strcpy(address.sun_path, path);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return bus_alive_fail_socket(c, path, -errno);
	r = bus_alive_open_direct(fd, &c->bus);
	if (c->bus)
		TAKE_FD(fd);
	/*
	 * The wait is longer than for a bus, since a service that systemd starts for this
	 * connection tries the bus first.
	 */
	if (r >= 0)
		r = kymo_bus_wait(c->bus, 3 * KYMO_BUS_USEC);
	return r < 0 ? bus_alive_fail_socket(c, path, r) : 0;
}
