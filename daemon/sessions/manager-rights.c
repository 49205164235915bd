/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rights that a call of the manager or a session needs (rights.h). Reads only the relevant
 * parts of the message.
 */
#include <string.h>

#include "daemon/access/access.h"
#include "daemon/sessions/daemon-session.h"
#include "daemon/sessions/manager.h"

/* Reads the next {sv} of the options. */
static int manager_rights_read_option(sd_bus_message *m, struct rights_call *c)
{
	const char *name, *type;
	int value, r = sd_bus_message_read(m, "s", &name);

	if (r < 0)
		return r;
	if (strcmp(name, "profile") == 0)
		c->profile = true;
	r = sd_bus_message_peek_type(m, NULL, &type);
	if (r < 0)
		return r;
	/*
	 * Values of other types are skipped here. The reader of the options refuses wrong types and
	 * duplicates later.
	 */
	if (strcmp(name, "own") != 0 || !type || strcmp(type, "b") != 0)
		return sd_bus_message_skip(m, "v");
	r = sd_bus_message_read(m, "v", "b", &value);
	c->own = value;
	return r;
}

static int manager_rights_read_options(sd_bus_message *m, struct rights_call *c)
{
	int r = sd_bus_message_skip(m, "s");

	if (r >= 0)
		r = sd_bus_message_enter_container(m, 'a', "{sv}");
	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = manager_rights_read_option(m, c);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r;
}

static int manager_rights_read_call(const struct manager *m, sd_bus_message *call,
				    struct rights_call *c)
{
	struct daemon_session *found;
	int r;

	if (strcmp(c->path, KYMO_MANAGER_PATH) != 0)
		return 0;
	/*
	 * The arguments are only read if the signature is that of the method; otherwise, sd-bus
	 * refuses the call.
	 */
	if (strcmp(c->member, "CreateSession") == 0 &&
	    sd_bus_message_has_signature(call, "sa{sv}") > 0)
		return manager_rights_read_options(call, c);
	if (strcmp(c->member, "GetSession") != 0 || sd_bus_message_has_signature(call, "s") <= 0)
		return 0;
	r = sd_bus_message_read(call, "s", &c->name);
	c->has_name = r >= 0 && manager_find(m, c->name, c->uid, &found, NULL) >= 0;
	return r;
}

int manager_demand(sd_bus_message *call, uid_t uid, struct access_demand *ret, void *userdata)
{
	const struct manager *m = userdata;
	struct rights_call c = {
		.uid = uid,
		.path = sd_bus_message_get_path(call),
		.interface = sd_bus_message_get_interface(call),
		.member = sd_bus_message_get_member(call),
	};
	int r = manager_rights_read_call(m, call, &c);

	if (r < 0)
		return r;
	ret->need = rights_need(&c);
	ret->exists = manager_find_path(m, c.path) != NULL;
	return sd_bus_message_rewind(call, true);
}
