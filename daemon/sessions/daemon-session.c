/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/sessions/daemon-session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/text.h"
#include "base/value.h"
#include "bus/kymo-bus.h"
#include "capture/store/flight.h"
#include "daemon/access/access.h"
#include "daemon/common/bus-error.h"
#include "daemon/files/flight-directories.h"
#include "daemon/common/machine-memory.h"
#include "daemon/common/timeouts.h"
#include "daemon/sessions/collection-scan.h"
#include "daemon/sessions/collection-snapshots.h"
#include "daemon/sessions/bus-signals.h"
#include "daemon/sessions/limits.h"

/*
 * Priorities of events. Drains have the same priority as the bus, and take turns with it, so that a
 * client that floods the bus cannot prevent them. The time of a drain is bounded by the size of the
 * rings. After each drain, one message of the bus is handled: otherwise, a call would wait for the
 * drains of all sessions. Reports of changes of state have a lower priority, so they come after the
 * events that caused the changes.
 */
enum {
	PRIORITY_DRAIN = SD_EVENT_PRIORITY_NORMAL,
	PRIORITY_SETTLE = SD_EVENT_PRIORITY_NORMAL + 10,
};

static uint64_t daemon_session_lost_in_all(const struct session_counters *c)
{
	uint64_t n = 0;

	for (size_t i = 0; i < CLASS_MAX; i++)
		n += c->lost[i];
	return n;
}

/*
 * Logs the first loss at once, so that the user can react. The last line of the session in the log
 * has the total.
 */
static void daemon_session_log_loss(struct daemon_session *s, const struct session_counters *c)
{
	const struct log_subject about = daemon_session_subject(s, LOG_SESSION_LOST);
	uint64_t lost = daemon_session_lost_in_all(c);

	if (lost == 0 || s->loss_notified)
		return;
	s->loss_notified = true;
	log_session_warning(&about, 0,
			    "%" PRIu64 " records were lost: the rings (%" PRIu64
			    " KiB per CPU) are too small, or the output is too slow: enlarge "
			    "`ring_bytes`, or record less",
			    lost, session_options(s->session)->ring_bytes >> 10);
}

/* Logs, once, that a flight recorder had to discard data early. */
static void daemon_session_log_dropped(struct daemon_session *s, const struct session_counters *c)
{
	const struct log_subject about = daemon_session_subject(s, LOG_SESSION_LOST);

	if (c->dropped_bytes == 0 || s->dropped_notified)
		return;
	s->dropped_notified = true;
	log_session_warning(&about, 0,
			    "events came faster than the flight recorder can keep them (%s): "
			    "earlier data was discarded",
			    TEXT_SIZE(session_options(s->session)->flight_bytes));
}

/* Logs a limit that is below the requested size. */
static void daemon_session_log_limited(struct daemon_session *s, const struct session_counters *c)
{
	const struct log_subject about = daemon_session_subject(s, LOG_SESSION_OTHER);
	uint64_t asked = session_options(s->session)->flight_bytes;

	if (c->flight_limit >= asked || s->limited_notified)
		return;
	s->limited_notified = true;
	log_session_warning(&about, 0,
			    "the flight recorder keeps %s instead of %s: the runtime directory "
			    "has too little free space",
			    TEXT_SIZE(c->flight_limit), TEXT_SIZE(asked));
}

/*
 * Logs, for a collection, the functions that its patterns of calls left out. Other sessions have a
 * client, which applies the patterns and reports this itself.
 */
static void daemon_session_log_refused_calls(const struct daemon_session *s)
{
	const struct log_subject about = daemon_session_subject(s, LOG_SESSION_OTHER);
	size_t n = session_options(s->session)->calls.n_specs;

	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *text = session_refused_calls(s->session, i);

		if (text)
			log_session_warning(&about, 0, "Call=%s", text);
	}
}

static void daemon_session_log_state(const struct daemon_session *s)
{
	const struct log_subject started = daemon_session_subject(s, LOG_SESSION_STARTED),
				 ended = daemon_session_subject(s, LOG_SESSION_ENDED);
	struct session_counters c;
	const char *text;

	session_counters(s->session, &c);
	if (session_state(s->session) == SESSION_RUNNING) {
		log_session(&started, "records");
		daemon_session_log_refused_calls(s);
		return;
	}
	if (daemon_session_finished(s) && session_error(s->session, &text) < 0)
		log_session_warning(&ended, 0, "failed: %s", text);
	else if (daemon_session_finished(s))
		log_session(&ended, "ended (%s): %" PRIu64 " events, %s, %" PRIu64 " records lost",
			    session_reason(s->session), c.events, TEXT_SIZE(c.bytes),
			    daemon_session_lost_in_all(&c));
}

void daemon_session_signal_counters(struct daemon_session *s)
{
	static const char *const names[] = { "Events",  "EventsOf",    "Lost", "Stacks", "Bytes",
					     "Dropped", "FlightLimit", "Cost", NULL };
	struct session_counters now;

	session_counters(s->session, &now);
	daemon_session_log_loss(s, &now);
	daemon_session_log_dropped(s, &now);
	daemon_session_log_limited(s, &now);
	if (now.events == s->events_notified && now.bytes == s->bytes_notified)
		return;
	s->events_notified = now.events;
	s->bytes_notified = now.bytes;
	bus_signals_properties(s, names);
}

static void daemon_session_on_scanned(bool outdated, void *userdata)
{
	struct daemon_session *s = userdata;

	s->profile->scan = collection_scan_free(s->profile->scan);
	if (outdated && session_state(s->session) == SESSION_RUNNING)
		session_stop(s->session, COLLECTION_REASON_OUTDATED);
}

/*
 * Checks now and then whether the cgroups of the filter still are those of the collection's units:
 * units can move to another cgroup, or start in an unexpected one.
 */
void daemon_session_check_collection(struct daemon_session *s)
{
	struct collection_use *p = s->profile;
	int r;

	if (!p || !p->collection.units || ++p->n_ticks % COLLECTION_SCAN_TICKS != 0 ||
	    session_state(s->session) != SESSION_RUNNING || p->scan)
		return;
	r = collection_scan_new(s->manager->event, p->collection.units,
				&session_options(s->session)->filter, daemon_session_on_scanned, s,
				&p->scan);
	if (r < 0)
		daemon_session_warn(s, r,
				    "cannot check the cgroups of the units of its "
				    "collection");
}

static void daemon_session_notify_state(struct daemon_session *s)
{
	static const char *const names[] = { "State",     "Reason",   "Error",
					     "StartTime", "StopTime", NULL };
	enum session_state state = session_state(s->session);

	if (state == s->state_notified)
		return;
	s->state_notified = state;
	daemon_session_log_state(s);
	bus_signals_properties(s, names);
	if (!daemon_session_finished(s))
		return;
	daemon_session_signal_counters(s);
	bus_signals_finished(s, session_reason(s->session));
}

/*
 * Notifies the client that waits for the session that a snapshot is due. The client then requests
 * it.
 */
static void daemon_session_notify_due(struct daemon_session *s)
{
	static const char *const names[] = { "SnapshotsDue", NULL };
	struct session_counters now;

	session_counters(s->session, &now);
	if (now.snapshots_due == s->n_due_notified)
		return;
	s->n_due_notified = now.snapshots_due;
	bus_signals_properties(s, names);
}

static void daemon_session_log_step(const struct log_subject *about,
				    const struct session_shed *step)
{
	double cost = value_share(step->cost_ppm, step->n_cpus);
	double limit = value_share(step->limit_ppm, step->n_cpus);
	const char *of = value_share_of(step->n_cpus), *what = budget_shed_names[step->what];

	if (step->back)
		log_session(about, "resumed %s: overhead %.2f%% of %s, limit %.2f%%", what, cost,
			    of, limit);
	else
		log_session_warning(about, 0, "stopped %s: overhead %.2f%% of %s, limit %.2f%%",
				    what, cost, of, limit);
}

/*
 * Logs, for readers of the journal, which parts of the recording were stopped to reduce the
 * overhead of the recording, or resumed.
 */
static void daemon_session_report_steps(struct daemon_session *s)
{
	const struct log_subject about = daemon_session_subject(s, LOG_SESSION_OTHER);
	static const char *const names[] = { "Shed", "BudgetSteps", NULL };
	const struct session_shed *step;
	struct session_counters now;

	session_counters(s->session, &now);
	if (now.n_steps == s->n_steps_notified)
		return;
	for (; s->n_steps_notified < now.n_steps; s->n_steps_notified++) {
		step = session_step(s->session, s->n_steps_notified);
		if (step)
			daemon_session_log_step(&about, step);
	}
	bus_signals_properties(s, names);
}

/* Handles a change of state. May free S. */
static int daemon_session_on_settle(sd_event_source *source, void *userdata)
{
	struct daemon_session *s = userdata;
	struct manager *m = s->manager;

	daemon_session_report_steps(s);
	if (daemon_session_finished(s))
		session_leave_providers(s->session);
	daemon_session_notify_due(s);
	collection_snapshot_keep(s);
	daemon_session_notify_state(s);
	daemon_session_answer_waiters(s);
	collection_snapshots_settle(s);
	if (s->removing && !daemon_session_active(s) && !collection_snapshot_is_keeping(s))
		m->remove(m, s);
	m->settle(m);
	return 0;
}

static void daemon_session_on_changed(struct session *session, void *userdata)
{
	struct daemon_session *s = userdata;

	sd_event_source_set_enabled(s->settle, SD_EVENT_ONESHOT);
}

static int daemon_session_on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct daemon_session *s = userdata;
	sd_bus *bus = s->manager->bus;

	session_dispatch(s->session);
	/* The message can remove this session, so the session is not used any more. If
	 * sd_bus_process() fails, the event source of the bus handles the error. */
	if (bus)
		sd_bus_process(bus, NULL);
	return 0;
}

static int daemon_session_on_output_timeout(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct daemon_session *s = userdata;
	struct manager *m = s->manager;
	struct session_counters now;

	session_counters(s->session, &now);
	s->n_output_checks = now.bytes == s->output_checked_bytes ? s->n_output_checks + 1 : 0;
	if (s->n_output_checks < timeout_output_checks) {
		s->output_checked_bytes = now.bytes;
		sd_event_source_set_time_relative(source, TIMEOUT_OUTPUT_CHECK_NS / 1000);
		sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
		return 0;
	}
	daemon_session_warn(s, 0, "output stalled; removed, archive truncated");
	daemon_session_signal_counters(s);
	bus_signals_finished(s, "output does not move");
	m->remove(m, s);
	m->settle(m);
	return 0;
}

static int daemon_session_arm_output_timeout(struct daemon_session *s)
{
	struct session_counters now;

	session_counters(s->session, &now);
	s->output_checked_bytes = now.bytes;
	return sd_event_add_time_relative(s->manager->event, &s->output_timeout, CLOCK_MONOTONIC,
					  TIMEOUT_OUTPUT_CHECK_NS / 1000, 0,
					  daemon_session_on_output_timeout, s);
}

void daemon_session_remove(struct daemon_session *s, const char *reason)
{
	int r = 0;

	if (daemon_session_active(s)) {
		session_stop(s->session, reason);
		if (!s->output_timeout)
			r = daemon_session_arm_output_timeout(s);
		if (r < 0)
			daemon_session_warn(s, r, "cannot set the timer for its removal");
	}
	s->removing = true;
	sd_event_source_set_enabled(s->settle, SD_EVENT_ONESHOT);
}

static int daemon_session_make_path(struct daemon_session *s)
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

static int daemon_session_add_sources(struct daemon_session *s)
{
	sd_event *event = s->manager->event;
	int r = sd_event_add_io(event, &s->io, session_fd(s->session), EPOLLIN,
				daemon_session_on_io, s);

	if (r < 0)
		return r;
	r = sd_event_source_set_priority(s->io, PRIORITY_DRAIN);
	if (r < 0)
		return r;
	r = sd_event_add_defer(event, &s->settle, daemon_session_on_settle, s);
	if (r < 0)
		return r;
	r = sd_event_source_set_priority(s->settle, PRIORITY_SETTLE);
	return r < 0 ? r : sd_event_source_set_enabled(s->settle, SD_EVENT_OFF);
}

/* Creates the memory of a flight recorder. */
static int daemon_session_make_flight(struct daemon_session *s, struct create_request *request)
{
	struct session_options *o = &request->options;
	int dir_fd = s->manager->flights_fd;

	if (dir_fd < 0)
		return dir_fd;
	session_options_fill_flight(o);
	s->flight_fd = flight_directories_make(dir_fd, s->uid, o->name);
	if (s->flight_fd < 0)
		return s->flight_fd;
	return flight_new(&(struct flight_options){ s->flight_fd, o->flight_ns, o->flight_bytes },
			  &request->store);
}

/* Creates the store of the archive. */
static int daemon_session_make_store(struct daemon_session *s, struct create_request *request)
{
	int r;

	if (request->store)
		return 0;
	if (request->options.mode == SESSION_FLIGHT) {
		r = daemon_session_make_flight(s, request);
		/*
		 * The files belong to the service, but if a write hangs, the hanging thread is
		 * charged to the user of the session.
		 */
		if (r == 0)
			request->store->writer.uid = s->uid;
		return r;
	}
	r = store_fd_new(request->output_fd, &request->store);
	if (r < 0)
		return r;
	request->output_fd = -1; /* the store now owns the output */
	request->store->writer = thread_identity_of(s->uid);
	return 0;
}

/* Sets up the object path and the event sources. */
static int daemon_session_set_up(struct daemon_session *s)
{
	int r = daemon_session_make_path(s) ?: daemon_session_add_sources(s);

	if (r < 0)
		return r;
	session_set_changed(s->session, daemon_session_on_changed, s);
	return 0;
}

int daemon_session_new_recovered(struct manager *m, uid_t uid, const char *name, int flight_fd,
				 struct daemon_session **ret)
{
	_cleanup_(daemon_session_freep) struct daemon_session *s = calloc(1, sizeof(*s));
	struct session_options options = { .mode = SESSION_FLIGHT };
	int r;

	if (!s)
		return -ENOMEM;
	s->manager = m;
	s->uid = uid;
	s->linger = s->recovered = true;
	s->flight_fd = -1;
	s->state_notified = SESSION_FAILED;
	strcpy(options.name, name);
	r = session_new_recovered(&options, flight_fd, &s->session) ?: daemon_session_set_up(s);
	if (r < 0)
		return r;
	s->flight_fd = flight_fd;
	*ret = TAKE_PTR(s);
	return 0;
}

int daemon_session_new(const struct daemon_session_args *args, struct create_request *request,
		       struct daemon_session **ret)
{
	_cleanup_(daemon_session_freep) struct daemon_session *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->manager = args->manager;
	s->uid = args->uid;
	s->linger = request->linger;
	s->flight_fd = -1;
	s->state_notified = SESSION_READY;
	if (!s->linger) {
		s->owner = strdup(args->owner);
		if (!s->owner)
			return -ENOMEM;
	}
	r = daemon_session_make_store(s, request);
	if (r < 0)
		return r;
	request->options.default_rings_max = limits_default_rings(machine_memory());
	r = session_new(&request->options, request->store, &s->session);
	if (r < 0)
		return r;
	s->profile = TAKE_PTR(request->use);
	if (s->profile)
		session_set_triggered(s->session, collection_snapshot_triggered, s);
	free(request->profile);
	/* The session now owns the contents. */
	*request = (struct create_request){ .output_fd = -1 };
	r = daemon_session_set_up(s);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

struct daemon_session *daemon_session_free(struct daemon_session *s)
{
	if (!s)
		return NULL;
	collection_snapshots_drop(s);
	/* The event source is freed before its descriptor, which belongs to the session. */
	sd_event_source_disable_unref(s->io);
	if (s->session)
		session_set_changed(s->session, NULL, NULL);
	/*
	 * Removes the flight recorder's directory before any caller gets a reply. But when the
	 * service exits, the directory stays, and the next service offers the content again.
	 */
	if (s->flight_fd >= 0 && s->session && !s->manager->ending)
		flight_directories_remove(s->manager->flights_fd, s->uid,
					  session_options(s->session)->name, s->flight_fd);
	for (size_t i = 0; i < s->n_waiters; i++) {
		if (s->waiters[i].what == WAIT_REMOVED && !daemon_session_active(s))
			sd_bus_reply_method_return(s->waiters[i].call, NULL);
		else if (s->waiters[i].what == WAIT_REMOVED)
			bus_error_reply(s->waiters[i].call, -ETIMEDOUT,
					"the session was removed, but the last bytes could not "
					"be written to its output: the archive is truncated");
		else
			bus_error_reply(s->waiters[i].call, -ECANCELED, NULL);
		sd_bus_message_unref(s->waiters[i].call);
	}
	session_free(s->session);
	close_fd(s->flight_fd);
	collection_use_free(s->profile);
	sd_event_source_disable_unref(s->settle);
	sd_event_source_disable_unref(s->output_timeout);
	free(s->path);
	free(s->owner);
	return free_ptr(s);
}
