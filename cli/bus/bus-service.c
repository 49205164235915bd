/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The properties of the manager of the service.
 */
#include <stdio.h>
#include <string.h>

#include "cli/bus/bus-call.h"
#include "cli/bus/bus-client.h"

static int bus_service_read_usage(sd_bus_message *m, struct bus_client_service *s)
{
	struct bus_client_usage u;
	const char *name;
	int r = sd_bus_message_enter_container(m, 'a', "{s(tttt)}");

	while (r >= 0 && (r = sd_bus_message_read(m, "{s(tttt)}", &name, &u.all, &u.all_max,
						  &u.user, &u.user_max)) > 0) {
		if (s->n_usage == BUS_CLIENT_USAGE_MAX)
			continue;
		snprintf(u.name, sizeof(u.name), "%s", name);
		s->usage[s->n_usage++] = u;
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* Reads the value of the property NAME, of type CONTENTS, from its variant. Skips unknown
 * properties. */
static int bus_service_read_value(sd_bus_message *m, const char *name, const char *contents,
				  struct bus_client_service *s)
{
	const char *text;
	int r = sd_bus_message_enter_container(m, 'v', contents);

	if (r < 0)
		return r;
	if (strcmp(name, "Version") == 0 && strcmp(contents, "s") == 0) {
		r = sd_bus_message_read_basic(m, 's', &text);
		if (r >= 0)
			snprintf(s->version, sizeof(s->version), "%s", text);
	} else if (strcmp(name, "StartTime") == 0 && strcmp(contents, "t") == 0) {
		r = sd_bus_message_read_basic(m, 't', &s->start_ns);
	} else if (strcmp(name, "Usage") == 0 && strcmp(contents, "a{s(tttt)}") == 0) {
		r = bus_service_read_usage(m, s);
	} else {
		r = sd_bus_message_skip(m, contents);
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int bus_service_read_all(sd_bus_message *m, struct bus_client_service *s)
{
	const char *name, *contents;
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = sd_bus_message_read(m, "s", &name);
		if (r >= 0)
			r = sd_bus_message_peek_type(m, NULL, &contents);
		if (r >= 0)
			r = bus_service_read_value(m, name, contents, s);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r;
}

int bus_client_service(struct bus_client *c, struct bus_client_service *ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;
	int r;

	*ret = (struct bus_client_service){ 0 };
	r = sd_bus_call_method(c->bus, KYMO_BUS_NAME, KYMO_MANAGER_PATH,
			       "org.freedesktop.DBus.Properties", "GetAll", &e, &reply, "s",
			       KYMO_MANAGER_INTERFACE);
	if (sd_bus_error_has_name(&e, SD_BUS_ERROR_UNKNOWN_INTERFACE))
		return 0;
	if (r >= 0)
		r = bus_service_read_all(reply, ret);
	return r < 0 ? bus_fail_call(c, r, &e) : 0;
}
