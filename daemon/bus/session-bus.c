/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * org.kymo.Trace1.Session on the bus. units/org.kymo.Trace1.xml documents it. One fallback vtable
 * serves all sessions. A session does not exist for callers that do not own it and may not view it.
 * Access control has checked whether the caller may change the session.
 */
#include "daemon/bus/session-bus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/access/access.h"
#include "daemon/common/bus-error.h"
#include "daemon/files/flight-directories.h"
#include "daemon/sessions/daemon-providers.h"
#include "daemon/sessions/daemon-session.h"
#include "daemon/sessions/collection-snapshots.h"
#include "daemon/sessions/manager.h"

static int session_bus_method_start(sd_bus_message *call, void *userdata, sd_bus_error *reterr)
{
	struct daemon_session *s = userdata;
	bool is_first = session_state(s->session) == SESSION_READY;
	int r;

	if (s->removing || s->manager->exiting)
		return bus_error_set(reterr, -ESHUTDOWN, "the session is about to be removed");
	/* A second start fails in session_start(), and does not count for the rate limit. */
	if (is_first) {
		r = manager_rate_limit(s->manager, s->uid, reterr)
			    ?: daemon_providers_join(s, reterr);
		if (r < 0)
			return r;
	}
	r = session_start(s->session);
	/* (otherwise, the failed session would keep the socket of programs until it is removed) */
	if (r < 0 && is_first)
		daemon_providers_leave(s);
	r = r ?: daemon_session_wait(s, WAIT_STARTED, call);
	return r < 0 ? bus_error_set(reterr, r, NULL) : 1;
}

static int session_bus_method_stop(sd_bus_message *call, void *userdata, sd_bus_error *reterr)
{
	struct daemon_session *s = userdata;
	int r = session_stop(s->session, "requested");

	if (r == -EINVAL)
		return bus_error_set(reterr, -ESHUTDOWN, "the session has never been started");
	if (r >= 0)
		r = daemon_session_wait(s, WAIT_FINISHED, call);
	return r < 0 ? bus_error_set(reterr, r, NULL) : 1;
}

static int session_bus_method_mark(sd_bus_message *call, void *userdata, sd_bus_error *reterr)
{
	struct daemon_session *s = userdata;
	const char *text;
	int r = sd_bus_message_read(call, "s", &text);

	if (r < 0)
		return r;
	r = session_mark(s->session, text);
	return r < 0 ? bus_error_set(reterr, r, NULL) : sd_bus_reply_method_return(call, NULL);
}

static int session_bus_method_snapshot_memory(sd_bus_message *call, void *userdata,
					      sd_bus_error *reterr)
{
	struct daemon_session *s = userdata;
	int r = daemon_session_snapshot(s, call);

	if (r == -EOPNOTSUPP)
		return bus_error_set(reterr, r,
				     "the session does not record allocations: its categories "
				     "include none of memory, fd, shm and threads");
	return r < 0 ? bus_error_set(reterr, r, NULL) : 1;
}

static int session_bus_method_search_memory(sd_bus_message *call, void *userdata,
					    sd_bus_error *reterr)
{
	struct daemon_session *s = userdata;
	uint32_t pid;
	int r = sd_bus_message_read(call, "u", &pid);

	if (r < 0)
		return r;
	if (pid == 0)
		return bus_error_set(reterr, -EINVAL, "0 is not a valid process id");
	r = daemon_session_search(s, pid, call);
	if (r == -EOPNOTSUPP)
		return bus_error_set(reterr, r,
				     "the session does not search for unreachable blocks: its "
				     "option `reach` is \"no\"");
	if (r == -EBUSY)
		return bus_error_set(reterr, r, "too many searches of processes are pending");
	return r < 0 ? bus_error_set(reterr, r, NULL) : 1;
}

static int session_bus_method_snapshot(sd_bus_message *call, void *userdata, sd_bus_error *reterr)
{
	struct daemon_session *s = userdata;
	uid_t uid = access_sender_uid(s->manager->access, call);
	int fd, own_fd = -1, r = sd_bus_message_read(call, "h", &fd);

	if (r < 0)
		return bus_error_set(reterr, -EBADF,
				     "`output` names a descriptor that did not come with the "
				     "message");
	r = output_fd_acquire(fd, uid, &own_fd, reterr)
		    ?: daemon_session_take_snapshot(s, own_fd, uid, call);
	if (r == -EOPNOTSUPP)
		return bus_error_set(reterr, r,
				     "the session is not a flight recorder: it writes to its "
				     "output itself");
	if (r == -ESHUTDOWN)
		return bus_error_set(reterr, r, "the session has never been started");
	if (r == -EBUSY)
		return bus_error_set(reterr, r,
				     "too many snapshots of the session are waiting: try again "
				     "later");
	return r < 0 ? bus_error_set(reterr, r, NULL) : 1;
}

static int session_bus_method_rotate(sd_bus_message *call, void *userdata, sd_bus_error *reterr)
{
	struct daemon_session *s = userdata;
	/*
	 * For a flight recorder of a collection, this writes the content of the recorder to the
	 * next file.
	 */
	int r = collection_snapshot_now(s, "requested", call);

	if (r == -EOPNOTSUPP)
		r = daemon_session_rotate(s, call);
	if (r == -EOPNOTSUPP)
		return bus_error_set(
			reterr, r,
			"the archive of the session has no chunks: only collections with "
			"Directory= have them");
	return r < 0 ? bus_error_set(reterr, r, NULL) : 1;
}

static int session_bus_method_begin_context(sd_bus_message *call, void *userdata,
					    sd_bus_error *reterr)
{
	struct daemon_session *s = userdata;
	uint32_t bit = 0;
	const char *name;
	int r = sd_bus_message_read(call, "s", &name);

	if (r < 0)
		return r;
	r = session_begin_context(s->session, name, &bit);
	if (r == -EINVAL)
		return bus_error_set(reterr, r,
				     "the name of a context is 1 to 64 of A-Z a-z 0-9 _");
	if (r == -EEXIST)
		return bus_error_set(reterr, -EINVAL, "the context '%s' is open already", name);
	if (r == -EDQUOT)
		return bus_error_set(reterr, r, "at most %d contexts can be open in a session",
				     CONTEXTS_MAX);
	return r < 0 ? bus_error_set(reterr, r, NULL) : sd_bus_reply_method_return(call, "u", bit);
}

static int session_bus_method_end_context(sd_bus_message *call, void *userdata,
					  sd_bus_error *reterr)
{
	struct daemon_session *s = userdata;
	uint32_t bit;
	int r = sd_bus_message_read(call, "u", &bit);

	if (r < 0)
		return r;
	r = session_end_context(s->session, bit);
	if (r == -ENOENT)
		return bus_error_set(reterr, -EINVAL, "no context with bit %u is open", bit);
	return r < 0 ? bus_error_set(reterr, r, NULL) : sd_bus_reply_method_return(call, NULL);
}

static int session_bus_method_remove(sd_bus_message *call, void *userdata, sd_bus_error *reterr)
{
	struct daemon_session *s = userdata;
	int r = daemon_session_wait(s, WAIT_REMOVED, call);

	daemon_session_remove(s, "requested");
	return r < 0 ? bus_error_set(reterr, r,
				     "the session will be removed, but too many calls are "
				     "waiting for this already")
		     : 1;
}

/* A getter of a property, with the parameters that sd-bus passes. */
#define GETTER(name)                                                                               \
	static int name(sd_bus *bus, const char *path, const char *interface, const char *member,  \
			sd_bus_message *reply, void *userdata, sd_bus_error *reterr)

GETTER(get_text)
{
	const struct daemon_session *s = userdata;
	const char *text = "";

	if (strcmp(member, "State") == 0)
		text = session_state_names[session_state(s->session)];
	else if (strcmp(member, "Name") == 0)
		text = session_options(s->session)->name;
	else if (strcmp(member, "Reason") == 0)
		text = session_reason(s->session);
	else
		session_error(s->session, &text);
	return sd_bus_message_append(reply, "s", text);
}

GETTER(get_other_files)
{
	const struct daemon_session *s = userdata;
	_cleanup_free_ char *text = session_other_files(s->session);

	return sd_bus_message_append(reply, "s", text ? text : "");
}

GETTER(get_owner)
{
	const struct daemon_session *s = userdata;

	return sd_bus_message_append(reply, "u", (uint32_t)s->uid);
}

GETTER(get_profile)
{
	const struct daemon_session *s = userdata;
	const char *text = "";

	if (s->profile)
		text = strcmp(member, "Profile") == 0 ? s->profile->name
						      : s->profile->collection.directory;
	return sd_bus_message_append(reply, "s", text);
}

GETTER(get_snapshots)
{
	const struct daemon_session *s = userdata;
	const struct collection_use *p = s->profile;

	return sd_bus_message_append(reply, "a{st}", 3, "written", p ? p->n_written : 0, "failed",
				     p ? p->n_failed : 0, "passed_over", p ? p->n_passed_over : 0);
}

GETTER(get_options)
{
	const struct daemon_session *s = userdata;

	return session_options_append(reply, session_options(s->session), s->linger);
}

GETTER(get_contexts)
{
	const struct daemon_session *s = userdata;
	const struct contexts *c = session_contexts(s->session);
	int r = sd_bus_message_open_container(reply, 'a', "{su}");

	for (size_t i = 0; r >= 0 && i < c->n; i++) {
		if (c->open >> i & 1)
			r = sd_bus_message_append(reply, "{su}", c->names[i], UINT32_C(1) << i);
	}
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

GETTER(get_counter)
{
	static const struct {
		const char *name;
		size_t offset;
	} rows[] = {
		{ "StartTime", offsetof(struct session_counters, start_ns) },
		{ "StopTime", offsetof(struct session_counters, stop_ns) },
		{ "Events", offsetof(struct session_counters, events) },
		{ "Bytes", offsetof(struct session_counters, bytes) },
		{ "Dropped", offsetof(struct session_counters, dropped_bytes) },
		{ "FlightLimit", offsetof(struct session_counters, flight_limit) },
		{ "ForeignCalls", offsetof(struct session_counters, foreign_calls) },
		{ "SnapshotsDue", offsetof(struct session_counters, snapshots_due) },
	};
	const struct daemon_session *s = userdata;
	struct session_counters now;
	uint64_t value = 0;

	session_counters(s->session, &now);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strcmp(member, rows[i].name) == 0)
			memcpy(&value, (const char *)&now + rows[i].offset, sizeof(value));
	return sd_bus_message_append(reply, "t", value);
}

/* A property of type a{st}: counts by name. */
GETTER(get_counts)
{
	static const struct {
		const char *name;
		const char *const *names;
		size_t offset, n;
	} rows[] = {
		{ "EventsOf", category_group_names, offsetof(struct session_counters, events_of),
		  GROUPS },
		{ "Lost", event_class_names, offsetof(struct session_counters, lost), CLASS_MAX },
		{ "Stacks", walk_end_names, offsetof(struct session_counters, walks),
		  WALK_ENDS_MAX },
	};
	const struct daemon_session *s = userdata;
	struct session_counters now;
	int r = sd_bus_message_open_container(reply, 'a', "{st}");

	session_counters(s->session, &now);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const uint64_t *counts = (const void *)((const char *)&now + rows[i].offset);

		for (size_t k = 0; strcmp(member, rows[i].name) == 0 && r >= 0 && k < rows[i].n;
		     k++)
			r = sd_bus_message_append(reply, "{st}", rows[i].names[k], counts[k]);
	}
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

/* Appends an entry {sv}: the cost of each class of programs, in ns. */
static int session_bus_append_classes(sd_bus_message *m, const struct session_counters *now)
{
	int r = sd_bus_message_open_container(m, 'e', "sv");

	if (r >= 0)
		r = sd_bus_message_append(m, "s", "bpf_classes_ns");
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'v', "a{st}");
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "{st}");
	for (size_t i = 0; r >= 0 && i < COST_CLASSES; i++) {
		if (now->bpf_classes[i].runs)
			r = sd_bus_message_append(m, "{st}", cost_names[i], now->bpf_classes[i].ns);
	}
	for (int i = 0; r >= 0 && i < 3; i++)
		r = sd_bus_message_close_container(m);
	return r;
}

GETTER(get_cost)
{
	const struct daemon_session *s = userdata;
	struct session_counters now;
	int r = sd_bus_message_open_container(reply, 'a', "{sv}");

	session_counters(s->session, &now);
	if (r >= 0)
		r = sd_bus_message_append(reply, "{sv}{sv}{sv}{sv}{sv}", "daemon_cpu_ns", "t",
					  now.daemon_cpu_ns, "bpf_ns", "t", now.bpf.ns, "bpf_runs",
					  "t", now.bpf.runs, "bytes", "t", now.bytes, "cpu_ppm",
					  "t", now.cost_ppm);
	if (r >= 0)
		r = session_bus_append_classes(reply, &now);
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

GETTER(get_shed)
{
	const struct daemon_session *s = userdata;
	struct session_shed sheds[SHED_MAX];
	size_t n = session_sheds(s->session, sheds);
	int r = sd_bus_message_open_container(reply, 'a', "(sttt)");

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = sd_bus_message_append(reply, "(sttt)", budget_shed_names[sheds[i].what],
					  sheds[i].ts_ns, sheds[i].cost_ppm, sheds[i].limit_ppm);
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

GETTER(get_steps)
{
	const struct daemon_session *s = userdata;
	struct session_counters now;
	int r = sd_bus_message_open_container(reply, 'a', "(sbtttu)");

	session_counters(s->session, &now);
	for (uint64_t i = 0; r >= 0 && i < now.n_steps; i++) {
		const struct session_shed *step = session_step(s->session, i);

		if (step)
			r = sd_bus_message_append(reply, "(sbtttu)", budget_shed_names[step->what],
						  (int)step->back, step->ts_ns, step->cost_ppm,
						  step->limit_ppm, step->n_cpus);
	}
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

/* clang-format off */
static const sd_bus_vtable vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD_WITH_ARGS("Start", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, session_bus_method_start,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Stop", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, session_bus_method_stop,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Mark", SD_BUS_ARGS("s", text), SD_BUS_NO_RESULT, session_bus_method_mark,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("SnapshotMemory", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT,
				session_bus_method_snapshot_memory, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("SearchMemory", SD_BUS_ARGS("u", pid), SD_BUS_NO_RESULT,
				session_bus_method_search_memory, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Snapshot", SD_BUS_ARGS("h", output), SD_BUS_NO_RESULT,
				session_bus_method_snapshot, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Rotate", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, session_bus_method_rotate,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("BeginContext", SD_BUS_ARGS("s", name), SD_BUS_RESULT("u", bit),
				session_bus_method_begin_context, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("EndContext", SD_BUS_ARGS("u", bit), SD_BUS_NO_RESULT,
				session_bus_method_end_context, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Remove", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, session_bus_method_remove,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_PROPERTY("State", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Reason", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Error", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Contexts", "a{su}", get_contexts, 0, 0),
	SD_BUS_PROPERTY("Name", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Owner", "u", get_owner, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Profile", "s", get_profile, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Directory", "s", get_profile, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Snapshots", "a{st}", get_snapshots, 0, 0),
	SD_BUS_PROPERTY("Options", "a{sv}", get_options, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("StartTime", "t", get_counter, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("StopTime", "t", get_counter, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Events", "t", get_counter, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("EventsOf", "a{st}", get_counts, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Lost", "a{st}", get_counts, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Stacks", "a{st}", get_counts, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Bytes", "t", get_counter, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Dropped", "t", get_counter, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("FlightLimit", "t", get_counter, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("ForeignCalls", "t", get_counter, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("OtherFiles", "s", get_other_files, 0, 0),
	SD_BUS_PROPERTY("SnapshotsDue", "t", get_counter, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Cost", "a{sv}", get_cost, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Shed", "a(sttt)", get_shed, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("BudgetSteps", "a(sbtttu)", get_steps, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_SIGNAL_WITH_ARGS("Finished", SD_BUS_ARGS("s", reason), 0),
	SD_BUS_VTABLE_END,
};
/* clang-format on */

int session_bus_append_property(sd_bus_message *m, const struct daemon_session *s, const char *name)
{
	const sd_bus_vtable *v = vtable;
	int r;

	while (v->type != _SD_BUS_VTABLE_END &&
	       (v->type != _SD_BUS_VTABLE_PROPERTY || strcmp(v->x.property.member, name) != 0))
		v++;
	if (v->type == _SD_BUS_VTABLE_END)
		return -ENOENT;
	r = sd_bus_message_open_container(m, 'e', "sv");
	if (r >= 0)
		r = sd_bus_message_append(m, "s", name);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'v', v->x.property.signature);
	if (r >= 0)
		r = v->x.property.get(s->manager->bus, s->path, KYMO_SESSION_INTERFACE, name, m,
				      (void *)s, NULL);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

/*
 * Returns true if the caller may see S. (Access control checks whether the caller may change it.)
 */
static bool session_bus_is_visible(sd_bus *bus, const struct daemon_session *s)
{
	const struct access *a = s->manager->access;
	sd_bus_message *call = sd_bus_get_current_message(bus);

	return access_sender_uid(a, call) == s->uid || access_may(a, call, RIGHT_VIEW) ||
	       access_may(a, call, RIGHT_MANAGE);
}

static int session_bus_find(sd_bus *bus, const char *path, const char *interface, void *userdata,
			    void **ret_found, sd_bus_error *reterr)
{
	struct manager *m = userdata;
	struct daemon_session *s = manager_find_path(m, path);

	if (!s || !session_bus_is_visible(bus, s))
		return 0;
	*ret_found = s;
	return 1;
}

static int session_bus_enumerate(sd_bus *bus, const char *prefix, void *userdata, char ***ret_nodes,
				 sd_bus_error *reterr)
{
	struct manager *m = userdata;
	/* sd-bus frees this list and its strings. */
	char **nodes = calloc(LIMIT_SESSIONS + FLIGHTS_RECOVERED_MAX + 1, sizeof(*nodes));
	size_t n = 0;

	if (!nodes)
		return -ENOMEM;
	for (const struct daemon_session *s = m->sessions; s; s = s->next) {
		if (!session_bus_is_visible(bus, s))
			continue;
		nodes[n] = strdup(s->path);
		if (!nodes[n++]) {
			for (size_t i = 0; i < n; i++)
				free(nodes[i]);
			free(nodes);
			return -ENOMEM;
		}
	}
	*ret_nodes = nodes;
	return 0;
}

int session_bus_offer(struct manager *m, sd_bus *bus)
{
	int r = sd_bus_add_fallback_vtable(bus, NULL, KYMO_SESSION_PREFIX, KYMO_SESSION_INTERFACE,
					   vtable, session_bus_find, m);

	if (r < 0)
		return r;
	return sd_bus_add_node_enumerator(bus, NULL, KYMO_SESSION_PREFIX, session_bus_enumerate, m);
}
