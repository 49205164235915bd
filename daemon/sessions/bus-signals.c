/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/sessions/bus-signals.h"

#include <errno.h>

#include "bus/kymo-bus.h"
#include "daemon/access/access.h"
#include "daemon/common/log.h"

struct signal {
	const struct daemon_session *session;
	const char *path, *interface, *member;
	int (*fill)(sd_bus_message *m, const struct signal *s);
	const char *reason;
	const char *const *names;
	int error;
};

static void bus_signals_send_to(sd_bus *bus, const char *destination, void *userdata)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	struct signal *s = userdata;
	int r = sd_bus_message_new_signal(bus, &m, s->path, s->interface, s->member);

	if (r >= 0)
		r = s->fill(m, s);
	if (r >= 0)
		r = destination ? sd_bus_send_to(bus, m, destination, NULL)
				: sd_bus_send(bus, m, NULL);
	/* (access control ends a direct connection that does not receive its signals) */
	if (r < 0 && destination)
		s->error = r;
}

static void bus_signals_emit(struct signal *s)
{
	const struct manager *m = s->session->manager;

	access_each_receiver(m->access, s->session->uid, bus_signals_send_to, s);
	if (s->error < 0 && s->error != -ENOTCONN)
		log_warning(s->error, "session %s: cannot send the signal %s", s->session->path,
			    s->member);
}

static int bus_signals_fill_session(sd_bus_message *m, const struct signal *s)
{
	return sd_bus_message_append(m, "so", session_options(s->session->session)->name,
				     s->session->path);
}

void bus_signals_of_session(const struct daemon_session *s, const char *signal)
{
	bus_signals_emit(&(struct signal){ .session = s,
					   .path = KYMO_MANAGER_PATH,
					   .interface = KYMO_MANAGER_INTERFACE,
					   .member = signal,
					   .fill = bus_signals_fill_session });
}

static int bus_signals_fill_finished(sd_bus_message *m, const struct signal *s)
{
	return sd_bus_message_append(m, "s", s->reason);
}

void bus_signals_finished(const struct daemon_session *s, const char *reason)
{
	bus_signals_emit(&(struct signal){ .session = s,
					   .path = s->path,
					   .interface = KYMO_SESSION_INTERFACE,
					   .member = "Finished",
					   .fill = bus_signals_fill_finished,
					   .reason = reason });
}

static int bus_signals_fill_properties(sd_bus_message *m, const struct signal *s)
{
	int r = sd_bus_message_append(m, "s", KYMO_SESSION_INTERFACE);

	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "{sv}");
	for (const char *const *name = s->names; r >= 0 && *name; name++)
		r = s->session->manager->objects->append_property(m, s->session, *name);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_message_append(m, "as", 0);
}

void bus_signals_properties(const struct daemon_session *s, const char *const *names)
{
	bus_signals_emit(&(struct signal){ .session = s,
					   .path = s->path,
					   .interface = "org.freedesktop.DBus.Properties",
					   .member = "PropertiesChanged",
					   .fill = bus_signals_fill_properties,
					   .names = names });
}
