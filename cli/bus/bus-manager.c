/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of the daemon's manager: sessions and capabilities.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "cli/bus/bus-call.h"
#include "cli/bus/bus-client.h"

static int bus_manager_read_path(struct bus_client *c, sd_bus_message *reply, char **ret_path)
{
	const char *path;
	int r = sd_bus_message_read(reply, "o", &path);

	if (r < 0)
		return bus_fail_call(c, r, NULL);
	*ret_path = strdup(path);
	return *ret_path ? 0 : bus_fail_call(c, -ENOMEM, NULL);
}

int bus_client_create(struct bus_client *c, const struct bus_client_create_args *args,
		      char **ret_path)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
	int r = bus_new_call(c, KYMO_MANAGER_PATH, "CreateSession", &m);

	if (r < 0)
		return r;
	/* For the user's own processes, the default policy of polkit asks for no password. */
	if (!args->options->own)
		bus_expect_dialogue(c);
	r = sd_bus_message_append(m, "s", args->options->name);
	if (r >= 0)
		r = bus_append_options(m, args);
	if (r < 0)
		return bus_fail_call(c, r, NULL);
	r = bus_call_unless(c, m, ANSWER_USEC, args->interrupted, &reply);
	return r < 0 ? r : bus_manager_read_path(c, reply, ret_path);
}

/* Distinguishes errors that can disappear from errors that need a change of the collection. */
static int bus_manager_profile_error(int error, const sd_bus_error *e)
{
	if (sd_bus_error_has_name(e, KYMO_BUS_NAME ".Error.NotYet") ||
	    sd_bus_error_has_name(e, KYMO_BUS_NAME ".Error.SessionExists"))
		return -EAGAIN;
	if (sd_bus_error_has_name(e, KYMO_BUS_NAME ".Error.InvalidProfile") ||
	    sd_bus_error_has_name(e, KYMO_BUS_NAME ".Error.NoSuchProfile") ||
	    sd_bus_error_has_name(e, KYMO_BUS_NAME ".Error.InvalidOption"))
		return -EBADMSG;
	return error;
}

int bus_client_create_profile(struct bus_client *c, const char *name, char **ret_path)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;
	int r = bus_new_call(c, KYMO_MANAGER_PATH, "CreateSession", &m);

	if (r < 0)
		return r;
	r = sd_bus_message_append(m, "sa{sv}", name, 1, "profile", "s", name);
	if (r < 0)
		return bus_fail(c, -EBADMSG, "'%s' is not a valid name for a collection", name);
	r = sd_bus_call(c->bus, m, ANSWER_USEC, &e, &reply);
	return r < 0 ? bus_fail_call(c, bus_manager_profile_error(r, &e), &e)
		     : bus_manager_read_path(c, reply, ret_path);
}

int bus_client_snapshot_all(struct bus_client *c, const char *reason, uint32_t *ret_written,
			    uint32_t *ret_passed_over)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
	int r = bus_new_call(c, KYMO_MANAGER_PATH, "SnapshotAll", &m);

	if (r < 0)
		return r;
	r = sd_bus_message_append(m, "s", reason);
	if (r < 0)
		return bus_fail(c, r, "the reason is not valid UTF-8 text");
	/* (the duration depends on the disk) */
	r = bus_call(c, m, UINT64_MAX, &reply);
	if (r < 0)
		return r;
	r = sd_bus_message_read(reply, "uu", ret_written, ret_passed_over);
	return r < 0 ? bus_fail_call(c, r, NULL) : 0;
}

int bus_client_find(struct bus_client *c, const char *name, char **ret_path)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
	int r = bus_new_call(c, KYMO_MANAGER_PATH, "GetSession", &m);

	if (r < 0)
		return r;
	/*
	 * A name with a slash is a session of another user, for which polkit may ask for a
	 * password.
	 */
	if (strchr(name, '/'))
		bus_expect_dialogue(c);
	r = sd_bus_message_append(m, "s", name);
	if (r < 0)
		return bus_fail(c, r, "'%s' is not a valid name for a session", name);
	r = bus_call(c, m, ANSWER_USEC, &reply);
	return r < 0 ? r : bus_manager_read_path(c, reply, ret_path);
}

struct bus_client_session *bus_client_list_free(struct bus_client_session *list)
{
	for (struct bus_client_session *s = list; s && s->name; s++) {
		free(s->name);
		free(s->path);
		free(s->state);
	}
	return free_ptr(list);
}

static int bus_manager_read_list(sd_bus_message *reply, struct bus_client_session **list)
{
	const char *name, *path, *state;
	size_t n = 0, room = 0;
	int r = sd_bus_message_enter_container(reply, 'a', "(sos)");

	while (r >= 0 && (r = sd_bus_message_read(reply, "(sos)", &name, &path, &state)) > 0) {
		struct bus_client_session *one;

		if (GROW(*list, room, n + 2) < 0)
			return -ENOMEM;
		one = &(*list)[n++];
		one[0] = (struct bus_client_session){ strdup(name), strdup(path), strdup(state) };
		one[1] = (struct bus_client_session){ 0 };
		if (!one->name || !one->path || !one->state)
			return -ENOMEM;
	}
	return r;
}

int bus_client_list(struct bus_client *c, struct bus_client_session **ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	struct bus_client_session *list = calloc(1, sizeof(*list));
	int r = list ? bus_call_with(c, KYMO_MANAGER_PATH, "ListSessions", &reply, "")
		     : bus_fail_call(c, -ENOMEM, NULL);

	if (r >= 0) {
		r = bus_manager_read_list(reply, &list);
		if (r < 0)
			bus_fail_call(c, r, NULL);
	}
	if (r < 0) {
		bus_client_list_free(list);
		return r;
	}
	*ret = list;
	return 0;
}

int bus_client_capabilities(struct bus_client *c, struct capability caps[static CAPABILITIES_MAX])
{
	sd_bus_message *reply = NULL;
	int available, n = 0, r;

	r = bus_call_with(c, KYMO_MANAGER_PATH, "GetCapabilities", &reply, "");
	if (r < 0)
		return r;
	sd_bus_message_unref(c->capabilities);
	c->capabilities = reply;
	r = sd_bus_message_enter_container(reply, 'a', "{sv}");
	while (r >= 0 && n < CAPABILITIES_MAX &&
	       (r = sd_bus_message_read(reply, "{sv}", &caps[n].name, "(bs)", &available,
					&caps[n].detail)) > 0)
		caps[n++].available = available;
	return r < 0 ? bus_fail_call(c, r, NULL) : n;
}
