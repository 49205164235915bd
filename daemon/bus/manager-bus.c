/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * org.kymo.Trace1.Manager on the bus. units/org.kymo.Trace1.xml documents it. All messages have
 * passed access control (access.h).
 */
#include "daemon/bus/manager-bus.h"

#include <errno.h>

#include "base/clock.h"
#include "capture/programs/capabilities.h"
#include "daemon/access/access.h"
#include "daemon/common/bus-error.h"
#include "daemon/common/log.h"
#include "daemon/sessions/daemon-providers.h"
#include "daemon/sessions/daemon-session.h"
#include "daemon/sessions/collection-snapshots.h"
#include "daemon/bus/service.h"

#define CAPABILITIES_NS UINT64_C(1000000000) /* time for which results are cached */

static int manager_bus_method_create_session(sd_bus_message *call, void *userdata,
					     sd_bus_error *reterr)
{
	_cleanup_(create_request_deinit) struct create_request request = { .output_fd = -1 };
	struct manager *m = userdata;
	struct manager_create_args args = {
		.owner = access_sender_name(m->access, call),
		.uid = access_sender_uid(m->access, call),
	};
	struct daemon_session *s;
	int r = sd_bus_message_read(call, "s", &args.name);

	if (r < 0)
		return r;
	r = create_request_read(call, args.uid, &request, reterr);
	if (r < 0)
		return bus_error_set(reterr, r, NULL);
	/* A session with `own` is for the processes of the caller, even if the caller is root. */
	if (request.options.own)
		session_options_set_own(&request.options, args.uid);
	r = manager_create(m, &args, &request, &s, reterr);
	if (r < 0)
		return bus_error_set(reterr, r, NULL);
	return sd_bus_reply_method_return(call, "o", s->path);
}

static int manager_bus_method_list_sessions(sd_bus_message *call, void *userdata,
					    sd_bus_error *reterr)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	struct manager *m = userdata;
	uid_t uid = access_sender_uid(m->access, call);
	bool all = access_may(m->access, call, RIGHT_VIEW);
	int r = sd_bus_message_new_method_return(call, &reply);

	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', "(sos)");
	for (const struct daemon_session *s = m->sessions; r >= 0 && s; s = s->next) {
		if (all || uid == s->uid)
			r = sd_bus_message_append(reply, "(sos)", session_options(s->session)->name,
						  s->path,
						  session_state_names[session_state(s->session)]);
	}
	if (r >= 0)
		r = sd_bus_message_close_container(reply);
	return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

static int manager_bus_method_list_providers(sd_bus_message *call, void *userdata,
					     sd_bus_error *reterr)
{
	struct manager *m = userdata;
	const struct daemon_providers_caller caller = {
		.uid = access_sender_uid(m->access, call),
		.sees_all = access_may(m->access, call, RIGHT_VIEW),
	};
	int r = daemon_providers_list(m, call, &caller, reterr);

	return r < 0 ? bus_error_set(reterr, r, NULL) : 1;
}

static int manager_bus_method_get_session(sd_bus_message *call, void *userdata,
					  sd_bus_error *reterr)
{
	struct manager *m = userdata;
	struct daemon_session *s;
	const char *name;
	uid_t uid;
	int r = sd_bus_message_read(call, "s", &name);

	if (r < 0)
		return r;
	uid = access_sender_uid(m->access, call);
	r = access_may(m->access, call, RIGHT_VIEW) ? manager_find_any(m, name, uid, &s, reterr)
						    : manager_find(m, name, uid, &s, reterr);
	return r < 0 ? r : sd_bus_reply_method_return(call, "o", s->path);
}

/*
 * Returns the capabilities from a cache, since the checks take milliseconds, and any user can call
 * this in a loop.
 */
static int manager_bus_capabilities_of_late(const struct capability **ret)
{
	static struct capability caps[CAPABILITIES_MAX];
	static uint64_t until_ns;
	static int n;

	if (clock_boot_ns() >= until_ns) {
		n = capabilities_probe(caps);
		until_ns = clock_boot_ns() + CAPABILITIES_NS;
	}
	*ret = caps;
	return n;
}

static int manager_bus_method_get_capabilities(sd_bus_message *call, void *userdata,
					       sd_bus_error *reterr)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const struct capability *caps;
	int r, n = manager_bus_capabilities_of_late(&caps);

	r = sd_bus_message_new_method_return(call, &reply);
	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', "{sv}");
	for (int i = 0; r >= 0 && i < n; i++)
		r = sd_bus_message_append(reply, "{sv}", caps[i].name, "(bs)",
					  (int)caps[i].available, caps[i].detail);
	if (r >= 0)
		r = sd_bus_message_close_container(reply);
	return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

/*
 * Handles a reload. Collections and groups are read at each use, so only the cached answers of
 * polkit must be dropped.
 */
static int manager_bus_method_reload(sd_bus_message *call, void *userdata, sd_bus_error *reterr)
{
	struct manager *m = userdata;

	service_notify_reloading();
	access_drop_answers(m->access);
	log_info("reloaded");
	service_notify_reloaded();
	return sd_bus_reply_method_return(call, NULL);
}

static int manager_bus_get_version(sd_bus *bus, const char *path, const char *interface,
				   const char *property, sd_bus_message *reply, void *userdata,
				   sd_bus_error *reterr)
{
	return sd_bus_message_append(reply, "s", KYMO_VERSION);
}

static int manager_bus_method_snapshot_all(sd_bus_message *call, void *userdata,
					   sd_bus_error *reterr)
{
	struct manager *m = userdata;
	const char *reason;
	int r = sd_bus_message_read(call, "s", &reason);

	if (r < 0)
		return r;
	if (access_sender_uid(m->access, call) != 0)
		return bus_error_set(reterr, -EACCES,
				     "only root can take snapshots of all "
				     "collections");
	r = collection_snapshot_all(m, *reason ? reason : "requested", call);
	return r < 0 ? bus_error_set(reterr, r, NULL) : 1;
}

static int manager_bus_get_start_time(sd_bus *bus, const char *path, const char *interface,
				      const char *property, sd_bus_message *reply, void *userdata,
				      sd_bus_error *reterr)
{
	const struct manager *m = userdata;

	return sd_bus_message_append(reply, "t", m->start_ns);
}

/* Gets the usage of all users, and of the caller. */
static int manager_bus_get_usage(sd_bus *bus, const char *path, const char *interface,
				 const char *property, sd_bus_message *reply, void *userdata,
				 sd_bus_error *reterr)
{
	const struct manager *m = userdata;
	struct manager_usage usage[MANAGER_USAGE_MAX];
	int r = sd_bus_message_open_container(reply, 'a', "{s(tttt)}");

	manager_usage(m, access_sender_uid(m->access, sd_bus_get_current_message(bus)), usage);
	for (size_t i = 0; r >= 0 && i < MANAGER_USAGE_MAX; i++)
		r = sd_bus_message_append(reply, "{s(tttt)}", usage[i].name, usage[i].all,
					  usage[i].all_max, usage[i].user, usage[i].user_max);
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

/* clang-format off */
static const sd_bus_vtable vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Version", "s", manager_bus_get_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("StartTime", "t", manager_bus_get_start_time, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Usage", "a{s(tttt)}", manager_bus_get_usage, 0, 0),
	SD_BUS_METHOD_WITH_ARGS("CreateSession", SD_BUS_ARGS("s", name, "a{sv}", options),
				SD_BUS_RESULT("o", session), manager_bus_method_create_session,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("ListSessions", SD_BUS_NO_ARGS, SD_BUS_RESULT("a(sos)", sessions),
				manager_bus_method_list_sessions, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("ListProviders", SD_BUS_NO_ARGS,
				SD_BUS_RESULT("aa{sv}", providers), manager_bus_method_list_providers,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetSession", SD_BUS_ARGS("s", name), SD_BUS_RESULT("o", session),
				manager_bus_method_get_session, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetCapabilities", SD_BUS_NO_ARGS,
				SD_BUS_RESULT("a{sv}", capabilities), manager_bus_method_get_capabilities,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("SnapshotAll", SD_BUS_ARGS("s", reason),
				SD_BUS_RESULT("u", written, "u", passed_over), manager_bus_method_snapshot_all,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Reload", NULL, NULL, manager_bus_method_reload, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_SIGNAL_WITH_ARGS("SessionAdded", SD_BUS_ARGS("s", name, "o", session), 0),
	SD_BUS_SIGNAL_WITH_ARGS("SessionRemoved", SD_BUS_ARGS("s", name, "o", session), 0),
	SD_BUS_VTABLE_END,
};
/* clang-format on */

int manager_bus_offer(struct manager *m, sd_bus *bus)
{
	return sd_bus_add_object_vtable(bus, NULL, KYMO_MANAGER_PATH, KYMO_MANAGER_INTERFACE,
					vtable, m);
}
