/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows a session by its signals until the session has finished.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/bus/bus-call.h"
#include "cli/bus/bus-client.h"

/*
 * Returns true if M comes from SENDER. Every process on the bus can send signals that look like the
 * daemon's.
 */
static bool bus_follow_is_from(sd_bus_message *m, const char *sender)
{
	return strcmp(sd_bus_message_get_sender(m) ?: "", sender) == 0;
}

static int bus_follow_on_finished(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	struct bus_client *c = userdata;
	const char *reason;

	if (!bus_follow_is_from(m, c->service))
		return 0;
	c->finished = true;
	if (sd_bus_message_read(m, "s", &reason) > 0)
		snprintf(c->last.reason, sizeof(c->last.reason), "%s", reason);
	return 0;
}

static int bus_follow_on_removed(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	struct bus_client *c = userdata;
	const char *name, *path;

	if (bus_follow_is_from(m, c->service) && sd_bus_message_read(m, "so", &name, &path) > 0 &&
	    strcmp(path, c->path) == 0)
		c->finished = true;
	return 0;
}

static int bus_follow_on_properties(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	struct bus_client *c = userdata;

	if (bus_follow_is_from(m, c->service) && sd_bus_message_skip(m, "s") >= 0)
		bus_read_view(m, &c->last);
	return 0;
}

static int bus_follow_on_owner(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	struct bus_client *c = userdata;

	c->gone |= bus_follow_is_from(m, "org.freedesktop.DBus");
	return 0;
}

int bus_client_watch(struct bus_client *c, const char *path)
{
	int r;

	c->path = strdup(path);
	if (!c->path)
		return bus_fail_call(c, -ENOMEM, NULL);
	r = sd_bus_match_signal(c->bus, NULL, KYMO_BUS_NAME, path, KYMO_SESSION_INTERFACE,
				"Finished", bus_follow_on_finished, c);
	if (r >= 0)
		r = sd_bus_match_signal(c->bus, NULL, KYMO_BUS_NAME, path,
					"org.freedesktop.DBus.Properties", "PropertiesChanged",
					bus_follow_on_properties, c);
	if (r >= 0)
		r = sd_bus_match_signal(c->bus, NULL, KYMO_BUS_NAME, KYMO_MANAGER_PATH,
					KYMO_MANAGER_INTERFACE, "SessionRemoved",
					bus_follow_on_removed, c);
	if (r >= 0)
		r = sd_bus_add_match(c->bus, NULL,
				     "type='signal',sender='org.freedesktop.DBus',"
				     "member='NameOwnerChanged',arg0='" KYMO_BUS_NAME "'",
				     bus_follow_on_owner, c);
	return r < 0 ? bus_fail_call(c, r, NULL) : bus_client_view(c, path, &c->last);
}

int bus_client_pollfd(struct bus_client *c, struct pollfd *ret)
{
	uint64_t until_usec, now_usec = clock_read_ns(CLOCK_MONOTONIC) / 1000;
	int events = sd_bus_get_events(c->bus);

	*ret = (struct pollfd){ sd_bus_get_fd(c->bus), (short)(events < 0 ? 0 : events), 0 };
	if (events < 0)
		return 0; /* the bus is closed; bus_client_dispatch() reports this */
	if (sd_bus_get_timeout(c->bus, &until_usec) < 0)
		until_usec = UINT64_MAX;
	if (c->expects_answer && (c->heard_ns + BUS_SILENCE_NS) / 1000 < until_usec)
		until_usec = (c->heard_ns + BUS_SILENCE_NS) / 1000;
	if (until_usec == UINT64_MAX)
		return -1;
	return until_usec <= now_usec ? 0 : (int)((until_usec - now_usec) / 1000 + 1);
}

int bus_client_dispatch(struct bus_client *c)
{
	int r;

	do {
		r = sd_bus_process(c->bus, NULL);
		if (r > 0)
			bus_note_message(c);
	} while (r > 0 && !c->gone);
	/* A service that exits normally finishes its sessions first, so this service has failed. */
	if (c->finished)
		return 1;
	if (r < 0 || c->gone)
		return bus_fail(c, -ECONNRESET,
				"the service kymod has ended: data that it had not yet written is "
				"lost");
	return c->expects_answer ? bus_check_silence(c) : 0;
}

int bus_client_last(struct bus_client *c, struct session_view *ret)
{
	if (bus_client_dispatch(c) <= 0)
		return -ENODATA;
	*ret = c->last;
	ret->options = json_object_get(c->last.options);
	if (strcmp(ret->state, session_state_names[SESSION_STOPPED]) == 0 ||
	    strcmp(ret->state, session_state_names[SESSION_FAILED]) == 0)
		return 0;
	/* The session did not end normally. */
	snprintf(ret->state, sizeof(ret->state), "%s", session_state_names[SESSION_FAILED]);
	if (!*ret->error)
		snprintf(ret->error, sizeof(ret->error),
			 "the session was removed before its archive was complete%s%s",
			 *ret->reason ? ": " : "", ret->reason);
	return 0;
}

const struct session_view *bus_client_seen(const struct bus_client *c)
{
	return &c->last;
}

int bus_client_request_rotate(struct bus_client *c, const char *path)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = bus_new_call(c, path, "Rotate", &m);

	if (r < 0)
		return r;
	r = sd_bus_send(c->bus, m, NULL);
	return r < 0 ? bus_fail_call(c, r, NULL) : 0;
}

/* Returns true if an error answer to Stop means that the session is over. */
static bool bus_follow_is_end(const sd_bus_error *e)
{
	/* After LimitReached, the session still stops. The other two errors mean that the service
	 * has exited, which is detected elsewhere. */
	return !sd_bus_error_has_name(e, KYMO_BUS_NAME ".Error.LimitReached") &&
	       !sd_bus_error_has_name(e, SD_BUS_ERROR_NO_REPLY) &&
	       !sd_bus_error_has_name(e, SD_BUS_ERROR_DISCONNECTED);
}

static int bus_follow_on_stop_answer(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	struct bus_client *c = userdata;

	/* The result of Stop is not needed, since the session's properties show it. */
	if (sd_bus_message_is_method_error(m, NULL) &&
	    bus_follow_is_end(sd_bus_message_get_error(m)))
		c->finished = true;
	return 0;
}

int bus_client_request_stop(struct bus_client *c, const char *path)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = bus_new_call(c, path, "Stop", &m);

	if (r < 0)
		return r;
	/* (the duration depends on the output) */
	r = sd_bus_call_async(c->bus, NULL, m, bus_follow_on_stop_answer, c, UINT64_MAX);
	bus_expect_answer(c);
	return r < 0 ? bus_fail_call(c, r, NULL) : 0;
}
