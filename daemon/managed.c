/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/managed.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "daemon/bus-error.h"
#include "daemon/log.h"

/*
 * Drains take turns with the bus, at the same priority: whoever floods the bus, allowed or not, must
 * not keep rings from being emptied, and a drain is bounded by what the rings hold. A state is told
 * when all that led to it is done.
 */
enum {
	PRIORITY_DRAIN = SD_EVENT_PRIORITY_NORMAL,
	PRIORITY_SETTLE = SD_EVENT_PRIORITY_NORMAL + 10,
};

bool managed_finished(const struct managed *s)
{
	enum session_state state = session_state(s->session);

	return state == SESSION_STOPPED || state == SESSION_FAILED;
}

bool managed_active(const struct managed *s)
{
	return session_state(s->session) != SESSION_READY && !managed_finished(s);
}

bool managed_told(const struct managed *s)
{
	return s->told_state == session_state(s->session);
}

static void answer(const struct managed *s, const struct waiter *w)
{
	const char *text = "";
	int r = 0;

	if (w->what != WAIT_REMOVED && session_state(s->session) == SESSION_FAILED) {
		session_error(s->session, &text);
		r = bus_error_reply(w->call, w->what == WAIT_STARTED ? -ENODEV : -EIO,
				    *text ? "%s" : NULL, text);
	} else {
		r = sd_bus_reply_method_return(w->call, NULL);
	}
	if (r < 0)
		log_warning(r, "session %s: a caller got no answer", s->path);
}

static void answer_snapshot(const struct managed *s, const struct waiter *w)
{
	int error, r;
	bool taken = session_snapshots(s->session, &error) >= w->snapshot;

	if (!taken)
		r = bus_error_reply(w->call, -ESHUTDOWN,
				    "the session ended before the snapshot was taken");
	else if (error < 0)
		r = bus_error_reply(w->call, error, "the snapshot is not whole: %s",
				    strerror(-error));
	else
		r = sd_bus_reply_method_return(w->call, NULL);
	if (r < 0)
		log_warning(r, "session %s: a caller got no answer", s->path);
}

static bool is_due(const struct managed *s, const struct waiter *w)
{
	int error;

	switch (w->what) {
	case WAIT_STARTED:
		return session_state(s->session) >= SESSION_RUNNING;
	case WAIT_FINISHED:
		return managed_finished(s);
	case WAIT_SNAPSHOT:
		return managed_finished(s) || session_snapshots(s->session, &error) >= w->snapshot;
	default:
		return false;
	}
}

/* Answers the calls whose time has come. */
static void answer_waiters(struct managed *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n_waiters; i++) {
		struct waiter w = s->waiters[i];

		if (is_due(s, &w)) {
			if (w.what == WAIT_SNAPSHOT)
				answer_snapshot(s, &w);
			else
				answer(s, &w);
			sd_bus_message_unref(w.call);
		} else {
			s->waiters[kept++] = w;
		}
	}
	s->n_waiters = kept;
}

static int add_waiter(struct managed *s, const struct waiter *w)
{
	if (s->n_waiters == LIMIT_WAITERS)
		return -EDQUOT;
	s->waiters[s->n_waiters++] = *w;
	sd_bus_message_ref(w->call);
	sd_event_source_set_enabled(s->settle, SD_EVENT_ONESHOT);
	return 0;
}

int managed_wait(struct managed *s, enum wait_for what, sd_bus_message *call)
{
	return add_waiter(s, &(struct waiter){ .what = what, .call = call });
}

int managed_snapshot(struct managed *s, sd_bus_message *call)
{
	struct waiter w = { .what = WAIT_SNAPSHOT, .call = call };
	int r = session_snapshot(s->session, &w.snapshot);

	return r < 0 ? r : add_waiter(s, &w);
}

void managed_drop_waiters(struct managed *s, const char *sender)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n_waiters; i++) {
		if (strcmp(sd_bus_message_get_sender(s->waiters[i].call), sender) == 0)
			sd_bus_message_unref(s->waiters[i].call);
		else
			s->waiters[kept++] = s->waiters[i];
	}
	s->n_waiters = kept;
}

void managed_tell_counters(struct managed *s)
{
	struct session_counters now;
	int r;

	session_counters(s->session, &now);
	if (now.events == s->told_events && now.bytes == s->told_bytes)
		return;
	s->told_events = now.events;
	s->told_bytes = now.bytes;
	r = sd_bus_emit_properties_changed(s->manager->bus, s->path, KYMO_SESSION_INTERFACE,
					   "Events", "Lost", "Bytes", "Cost", NULL);
	if (r < 0 && r != -ENOTCONN)
		log_warning(r, "session %s: its counters could not be told", s->path);
}

static void tell_finished(const struct managed *s, const char *reason)
{
	int r = sd_bus_emit_signal(s->manager->bus, s->path, KYMO_SESSION_INTERFACE, "Finished",
				   "s", reason);

	if (r < 0 && r != -ENOTCONN)
		log_warning(r, "session %s: its end could not be told", s->path);
}

static void tell_state(struct managed *s)
{
	enum session_state state = session_state(s->session);
	const char *text;
	int r;

	if (state == s->told_state)
		return;
	s->told_state = state;
	r = sd_bus_emit_properties_changed(s->manager->bus, s->path, KYMO_SESSION_INTERFACE,
					   "State", "Reason", "Error", "StartTime", "StopTime",
					   NULL);
	if (r < 0 && r != -ENOTCONN)
		log_warning(r, "session %s: its state could not be told", s->path);
	if (!managed_finished(s))
		return;
	managed_tell_counters(s);
	tell_finished(s, session_reason(s->session));
	if (session_error(s->session, &text) < 0)
		log_warning(0, "session %s failed: %s", s->path, text);
}

/* What has gone is in the journal, too: whoever reads the recording later may wonder. */
static void tell_sheds(struct managed *s)
{
	size_t n;
	const struct session_shed *sheds = session_sheds(s->session, &n);

	if (n == s->n_told_sheds)
		return;
	for (; s->n_told_sheds < n; s->n_told_sheds++) {
		const struct session_shed *shed = &sheds[s->n_told_sheds];

		log_warning(0, "session %s sheds %s: it took %.2f%% of a CPU, the limit is %.2f%%",
			    s->path, budget_shed_names[shed->what], (double)shed->cost_ppm / 1e4,
			    (double)shed->limit_ppm / 1e4);
	}
	sd_bus_emit_properties_changed(s->manager->bus, s->path, KYMO_SESSION_INTERFACE, "Shed",
				       NULL);
}

/* Follows a change of state; may free S. */
static int on_settle(sd_event_source *source, void *userdata)
{
	struct managed *s = userdata;
	struct manager *m = s->manager;

	(void)source;
	tell_sheds(s);
	tell_state(s);
	answer_waiters(s);
	if (s->removing && !managed_active(s))
		manager_remove(m, s);
	manager_settle(m);
	return 0;
}

static void on_changed(struct session *session, void *userdata)
{
	struct managed *s = userdata;

	(void)session;
	sd_event_source_set_enabled(s->settle, SD_EVENT_ONESHOT);
}

static int on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct managed *s = userdata;

	(void)source;
	(void)fd;
	(void)revents;
	session_dispatch(s->session);
	return 0;
}

static int on_patience(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct managed *s = userdata;
	struct manager *m = s->manager;
	struct session_counters now;

	(void)usec;
	session_counters(s->session, &now);
	if (now.bytes != s->patience_bytes) {
		s->patience_bytes = now.bytes;
		sd_event_source_set_time_relative(source, PATIENCE_OUTPUT_NS / 1000);
		sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
		return 0;
	}
	log_warning(0, "session %s: its output takes nothing any more, removed without its end",
		    s->path);
	managed_tell_counters(s);
	tell_finished(s, "output does not move");
	manager_remove(m, s);
	manager_settle(m);
	return 0;
}

static int arm_patience(struct managed *s)
{
	struct session_counters now;

	session_counters(s->session, &now);
	s->patience_bytes = now.bytes;
	return sd_event_add_time_relative(s->manager->event, &s->patience, CLOCK_MONOTONIC,
					  PATIENCE_OUTPUT_NS / 1000, 0, on_patience, s);
}

void managed_remove(struct managed *s, const char *reason)
{
	int r = 0;

	if (managed_active(s)) {
		session_stop(s->session, reason);
		if (!s->patience)
			r = arm_patience(s);
		if (r < 0)
			log_warning(r, "session %s: no timer for its removal", s->path);
	}
	s->removing = true;
	sd_event_source_set_enabled(s->settle, SD_EVENT_ONESHOT);
}

static int make_path(struct managed *s)
{
	const char *name = session_options(s->session)->name;
	int r;

	if (s->uid == 0)
		r = asprintf(&s->path, KYMO_SESSION_PREFIX "/%s", name);
	else
		r = asprintf(&s->path, KYMO_SESSION_PREFIX "/%u/%s", s->uid, name);
	if (r < 0)
		s->path = NULL;
	return r < 0 ? -ENOMEM : 0;
}

static int add_sources(struct managed *s)
{
	sd_event *event = s->manager->event;
	int r;

	r = sd_event_add_io(event, &s->io, session_fd(s->session), EPOLLIN, on_io, s);
	if (r < 0)
		return r;
	r = sd_event_source_set_priority(s->io, PRIORITY_DRAIN);
	if (r < 0)
		return r;
	r = sd_event_add_defer(event, &s->settle, on_settle, s);
	if (r < 0)
		return r;
	r = sd_event_source_set_priority(s->settle, PRIORITY_SETTLE);
	if (r < 0)
		return r;
	return sd_event_source_set_enabled(s->settle, SD_EVENT_OFF);
}

int managed_new(const struct managed_args *args, struct create_request *request,
		struct managed **ret)
{
	_cleanup_(managed_freep) struct managed *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->manager = args->manager;
	s->uid = args->uid;
	s->linger = request->linger;
	s->told_state = SESSION_READY;
	if (!s->linger) {
		s->owner = strdup(args->owner);
		if (!s->owner)
			return -ENOMEM;
	}
	r = session_new(&request->options, request->output_fd, &s->session);
	if (r < 0)
		return r;
	/* Both belong to the session now. */
	*request = (struct create_request){ .output_fd = -1 };
	r = make_path(s);
	if (r < 0)
		return r;
	r = add_sources(s);
	if (r < 0)
		return r;
	session_set_changed(s->session, on_changed, s);
	*ret = TAKE_PTR(s);
	return 0;
}

struct managed *managed_free(struct managed *s)
{
	if (!s)
		return NULL;
	/* Before its descriptor goes with the session. */
	sd_event_source_disable_unref(s->io);
	if (s->session)
		session_set_changed(s->session, NULL, NULL);
	for (size_t i = 0; i < s->n_waiters; i++) {
		if (s->waiters[i].what == WAIT_REMOVED && !managed_active(s))
			sd_bus_reply_method_return(s->waiters[i].call, NULL);
		else if (s->waiters[i].what == WAIT_REMOVED)
			bus_error_reply(s->waiters[i].call, -ETIMEDOUT,
					"the session is removed, but its output did not take the "
					"last bytes: the archive has no end");
		else
			bus_error_reply(s->waiters[i].call, -ECANCELED, NULL);
		sd_bus_message_unref(s->waiters[i].call);
	}
	session_free(s->session);
	sd_event_source_disable_unref(s->settle);
	sd_event_source_disable_unref(s->patience);
	free(s->path);
	free(s->owner);
	free(s);
	return NULL;
}
