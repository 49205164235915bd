/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/managed.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/foreign-fds.h"
#include "base/text.h"
#include "base/value.h"
#include "capture/store/flight.h"
#include "daemon/access.h"
#include "daemon/bus-error.h"
#include "daemon/flights.h"
#include "daemon/patience.h"
#include "daemon/profile-look.h"
#include "daemon/profile-snapshots.h"
#include "daemon/tell.h"

/*
 * Drains take turns with the bus, at the same priority: whoever floods the bus, allowed or not, must
 * not keep rings from being emptied, and a drain is bounded by what the rings hold. A state is told
 * when all that led to it is done.
 */
enum {
	PRIORITY_DRAIN = SD_EVENT_PRIORITY_NORMAL,
	PRIORITY_SETTLE = SD_EVENT_PRIORITY_NORMAL + 10,
};

struct log_subject managed_subject(const struct managed *s, enum log_happening happening)
{
	return (struct log_subject){ session_options(s->session)->name, s->path, s->uid,
				     happening };
}

static int warn(const struct managed *s, int error, const char *text)
{
	const struct log_subject about = managed_subject(s, LOG_SESSION_OTHER);

	return log_session_warning(&about, error, "%s", text);
}

bool managed_finished(const struct managed *s)
{
	enum session_state state = session_state(s->session);

	return state == SESSION_STOPPED || state == SESSION_FAILED;
}

bool managed_recovered(const struct managed *s)
{
	return s->recovered;
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

	if (w->what != WAIT_REMOVED && session_error(s->session, &text) < 0) {
		bool ran = w->what != WAIT_STARTED || session_has_run(s->session);

		r = bus_error_reply(w->call, ran ? -EIO : -ENODEV, *text ? "%s" : NULL, text);
	} else {
		r = sd_bus_reply_method_return(w->call, NULL);
	}
	if (r < 0)
		warn(s, r, "a caller got no answer");
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
		warn(s, r, "a caller got no answer");
}

static int reply_search(const struct managed *s, const struct waiter *w)
{
	int error;
	bool done = session_searches(s->session, &error) >= w->snapshot;

	if (!done)
		return bus_error_reply(w->call, -ESHUTDOWN,
				       "the session ended before the process was searched");
	if (error < 0)
		return bus_error_reply(w->call, error, "the memory cannot be searched: %s",
				       strerror(-error));
	return sd_bus_reply_method_return(w->call, NULL);
}

/* One that is asked for from here on will have an end. */
static bool flight_has_ended(const struct managed *s, const struct waiter *w)
{
	int error;

	return session_flight_snapshot(s->session, w->snapshot, &error);
}

static int reply_flight(const struct managed *s, const struct waiter *w)
{
	int error = 0;

	session_flight_snapshot(s->session, w->snapshot, &error);
	if (error == -ENODATA)
		return bus_error_reply(w->call, -EAGAIN, "nothing has been recorded yet");
	if (error == -EAGAIN)
		return bus_error_reply(w->call, error,
				       "more happens in a moment than the flight recorder keeps: "
				       "try again, or let it keep more");
	if (error == -EBUSY)
		return bus_error_reply(w->call, error,
				       "too many snapshots are on their way to outputs that do not "
				       "take them");
	if (error < 0)
		return bus_error_reply(w->call, -EIO, "the snapshot could not be written: %s",
				       store_strerror(error));
	return sd_bus_reply_method_return(w->call, NULL);
}

static int reply_chunk(const struct managed *s, const struct waiter *w)
{
	if (session_chunks(s->session) >= w->snapshot)
		return sd_bus_reply_method_return(w->call, NULL);
	return bus_error_reply(w->call, -ESHUTDOWN, "the session ended before");
}

/* Of what only some sessions have: W is answered by its number. */
static void answer_numbered(const struct managed *s, const struct waiter *w)
{
	int r = w->what == WAIT_FLIGHT   ? reply_flight(s, w)
		: w->what == WAIT_SEARCH ? reply_search(s, w)
					 : reply_chunk(s, w);

	if (r < 0)
		warn(s, r, "a caller got no answer");
}

static bool is_due(const struct managed *s, const struct waiter *w)
{
	int error;

	switch (w->what) {
	case WAIT_STARTED:
		/* A session that fails passes through "draining" before it is "failed". */
		return session_has_run(s->session) || session_error(s->session, NULL) < 0 ||
		       managed_finished(s);
	case WAIT_FINISHED:
		return managed_finished(s);
	case WAIT_SNAPSHOT:
		return managed_finished(s) || session_snapshots(s->session, &error) >= w->snapshot;
	case WAIT_SEARCH:
		return managed_finished(s) || session_searches(s->session, &error) >= w->snapshot;
	case WAIT_FLIGHT:
		return flight_has_ended(s, w);
	case WAIT_CHUNK:
		return managed_finished(s) || session_chunks(s->session) >= w->snapshot;
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
			else if (w.what == WAIT_FLIGHT || w.what == WAIT_CHUNK ||
				 w.what == WAIT_SEARCH)
				answer_numbered(s, &w);
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

int managed_search(struct managed *s, uint32_t pid, sd_bus_message *call)
{
	struct waiter w = { .what = WAIT_SEARCH, .call = call };
	int r;

	if (s->n_waiters == LIMIT_WAITERS)
		return -EDQUOT;
	r = session_search(s->session, pid, &w.snapshot);
	return r < 0 ? r : add_waiter(s, &w);
}

int managed_take_snapshot(struct managed *s, int fd, uid_t uid, sd_bus_message *call)
{
	struct waiter w = { .what = WAIT_FLIGHT, .call = call };
	_cleanup_close_passed_ int own_fd = fd;
	struct store *to;
	int r;

	if (s->n_waiters == LIMIT_WAITERS)
		return -EDQUOT;
	r = store_fd_new(own_fd, &to);
	if (r < 0)
		return r;
	TAKE_FD(own_fd);
	to->writer = thread_identity_of(uid);
	r = session_take_snapshot(s->session, to, &w.snapshot);
	if (r < 0) {
		store_free(to);
		return r;
	}
	return add_waiter(s, &w);
}

int managed_rotate(struct managed *s, sd_bus_message *call)
{
	struct waiter w = { .what = WAIT_CHUNK, .call = call };
	int r = session_rotate(s->session, &w.snapshot);

	return r < 0 ? r : add_waiter(s, &w);
}

bool managed_is_writing(const struct managed *s)
{
	for (size_t i = 0; i < s->n_waiters; i++) {
		if (s->waiters[i].what == WAIT_FLIGHT)
			return true;
	}
	return s->profile && s->profile->pending;
}

void managed_drop_waiters(struct managed *s, const char *sender)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n_waiters; i++) {
		if (strcmp(sd_bus_message_get_sender(s->waiters[i].call), sender) != 0) {
			s->waiters[kept++] = s->waiters[i];
			continue;
		}
		/* Nobody else waits for its end, and its output may never take it. */
		if (s->waiters[i].what == WAIT_FLIGHT)
			session_cancel_snapshot(s->session, s->waiters[i].snapshot);
		sd_bus_message_unref(s->waiters[i].call);
	}
	s->n_waiters = kept;
}

static uint64_t lost_in_all(const struct session_counters *c)
{
	uint64_t n = 0;

	for (size_t i = 0; i < CLASS_MAX; i++)
		n += c->lost[i];
	return n;
}

/* The first loss is worth a line while it can still be helped; how much it was in all is in the last one. */
static void log_loss(struct managed *s, const struct session_counters *c)
{
	const struct log_subject about = managed_subject(s, LOG_SESSION_LOST);
	uint64_t lost = lost_in_all(c);

	if (lost == 0 || s->told_loss)
		return;
	s->told_loss = true;
	log_session_warning(&about, 0,
			    "%" PRIu64 " records were lost: the machine makes more than its rings "
			    "of %" PRIu64 " KiB a CPU or its output take",
			    lost, session_options(s->session)->ring_bytes >> 10);
}

/* Likewise of what a flight recorder cannot hold. */
static void log_dropped(struct managed *s, const struct session_counters *c)
{
	const struct log_subject about = managed_subject(s, LOG_SESSION_LOST);
	char keeps[TEXT_FORMAT_MAX];

	if (c->dropped_bytes == 0 || s->told_dropped)
		return;
	s->told_dropped = true;
	log_session_warning(&about, 0,
			    "more came at once than the flight recorder may keep (%s): what it "
			    "held until then has gone",
			    text_format_size(keeps, session_options(s->session)->flight_bytes));
}

/* And of a limit below what was asked for. */
static void log_limited(struct managed *s, const struct session_counters *c)
{
	const struct log_subject about = managed_subject(s, LOG_SESSION_OTHER);
	uint64_t asked = session_options(s->session)->flight_bytes;
	char keeps[TEXT_FORMAT_MAX], wanted[TEXT_FORMAT_MAX];

	if (c->flight_limit >= asked || s->told_limited)
		return;
	s->told_limited = true;
	log_session_warning(&about, 0,
			    "the flight recorder may keep %s instead of %s: the runtime directory "
			    "has too little free space",
			    text_format_size(keeps, c->flight_limit),
			    text_format_size(wanted, asked));
}

static void log_state(const struct managed *s)
{
	const struct log_subject started = managed_subject(s, LOG_SESSION_STARTED),
				 ended = managed_subject(s, LOG_SESSION_ENDED);
	char bytes[TEXT_FORMAT_MAX];
	struct session_counters c;
	const char *text;

	session_counters(s->session, &c);
	if (session_state(s->session) == SESSION_RUNNING)
		log_session(&started, "records");
	else if (managed_finished(s) && session_error(s->session, &text) < 0)
		log_session_warning(&ended, 0, "failed: %s", text);
	else if (managed_finished(s))
		log_session(&ended, "ended (%s): %" PRIu64 " events, %s, %" PRIu64 " records lost",
			    session_reason(s->session), c.events, text_format_size(bytes, c.bytes),
			    lost_in_all(&c));
}

void managed_tell_counters(struct managed *s)
{
	static const char *const names[] = { "Events",      "Lost", "Bytes", "Dropped",
					     "FlightLimit", "Cost", NULL };
	struct session_counters now;

	session_counters(s->session, &now);
	log_loss(s, &now);
	log_dropped(s, &now);
	log_limited(s, &now);
	if (now.events == s->told_events && now.bytes == s->told_bytes)
		return;
	s->told_events = now.events;
	s->told_bytes = now.bytes;
	tell_properties(s, names);
}

static void on_looked(bool outdated, void *userdata)
{
	struct managed *s = userdata;

	s->profile->look = profile_look_free(s->profile->look);
	if (outdated && session_state(s->session) == SESSION_RUNNING)
		session_stop(s->session, PROFILE_REASON_OUTDATED);
}

/* Units may be put elsewhere than they were, or were expected. */
void managed_look_at_profile(struct managed *s)
{
	struct profile_use *p = s->profile;
	int r;

	if (!p || !p->collection.units || ++p->n_ticks % PROFILE_LOOK_TICKS != 0 ||
	    session_state(s->session) != SESSION_RUNNING || p->look)
		return;
	r = profile_look_new(s->manager->event, p->collection.units,
			     &session_options(s->session)->filter, on_looked, s, &p->look);
	if (r < 0)
		warn(s, r, "nobody can look where the units of its profile are");
}

static void tell_state(struct managed *s)
{
	static const char *const names[] = { "State",     "Reason",   "Error",
					     "StartTime", "StopTime", NULL };
	enum session_state state = session_state(s->session);

	if (state == s->told_state)
		return;
	s->told_state = state;
	log_state(s);
	tell_properties(s, names);
	if (!managed_finished(s))
		return;
	managed_tell_counters(s);
	tell_finished(s, session_reason(s->session));
}

static void log_step(const struct log_subject *about, const struct session_shed *step)
{
	double cost = value_share(step->cost_ppm, step->n_cpus);
	double limit = value_share(step->limit_ppm, step->n_cpus);
	const char *of = value_share_of(step->n_cpus), *what = budget_shed_names[step->what];

	if (step->back)
		log_session(about, "records %s again: it took %.2f%% of %s, the limit is %.2f%%",
			    what, cost, of, limit);
	else
		log_session_warning(about, 0, "sheds %s: it took %.2f%% of %s, the limit is %.2f%%",
				    what, cost, of, limit);
}

/* What has gone, or is back, is in the journal, too: whoever reads the recording later may wonder. (Each waits longer than the one before.) */
static void tell_steps(struct managed *s)
{
	const struct log_subject about = managed_subject(s, LOG_SESSION_OTHER);
	static const char *const names[] = { "Shed", "BudgetSteps", NULL };
	const struct session_shed *step;
	struct session_counters now;

	session_counters(s->session, &now);
	if (now.n_steps == s->n_told_steps)
		return;
	for (; s->n_told_steps < now.n_steps; s->n_told_steps++) {
		step = session_step(s->session, s->n_told_steps);
		if (step)
			log_step(&about, step);
	}
	tell_properties(s, names);
}

/* Follows a change of state; may free S. */
static int on_settle(sd_event_source *source, void *userdata)
{
	struct managed *s = userdata;
	struct manager *m = s->manager;

	(void)source;
	tell_steps(s);
	profile_snapshot_keep(s);
	tell_state(s);
	answer_waiters(s);
	profile_snapshots_settle(s);
	if (s->removing && !managed_active(s) && !profile_snapshot_is_keeping(s))
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
	s->n_patience = now.bytes == s->patience_bytes ? s->n_patience + 1 : 0;
	if (s->n_patience < patience_output_looks) {
		s->patience_bytes = now.bytes;
		sd_event_source_set_time_relative(source, PATIENCE_LOOK_NS / 1000);
		sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
		return 0;
	}
	warn(s, 0, "its output takes nothing any more, removed without its end");
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
					  PATIENCE_LOOK_NS / 1000, 0, on_patience, s);
}

void managed_remove(struct managed *s, const char *reason)
{
	int r = 0;

	if (managed_active(s)) {
		session_stop(s->session, reason);
		if (!s->patience)
			r = arm_patience(s);
		if (r < 0)
			warn(s, r, "no timer for its removal");
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

/* The memory of a flight recorder. */
static int make_flight(struct managed *s, struct create_request *request)
{
	struct session_options *o = &request->options;
	int dir_fd = s->manager->flights_fd;

	if (dir_fd < 0)
		return dir_fd;
	session_options_fill_flight(o);
	s->flight_fd = flights_make(dir_fd, s->uid, o->name);
	if (s->flight_fd < 0)
		return s->flight_fd;
	return flight_new(&(struct flight_options){ s->flight_fd, o->flight_ns, o->flight_bytes },
			  &request->store);
}

/* Where the archive goes. */
static int make_store(struct managed *s, struct create_request *request)
{
	int r;

	if (request->store)
		return 0;
	if (request->options.mode == SESSION_FLIGHT) {
		r = make_flight(s, request);
		/* (the files are ours, but it is the user's session that may hang) */
		if (r == 0)
			request->store->writer.uid = s->uid;
		return r;
	}
	r = store_fd_new(request->output_fd, &request->store);
	if (r < 0)
		return r;
	request->output_fd = -1; /* the store's now */
	request->store->writer = thread_identity_of(s->uid);
	return 0;
}

/* What each has: its object and its place in the event loop. */
static int set_up(struct managed *s)
{
	int r = make_path(s);

	if (r < 0)
		return r;
	r = add_sources(s);
	if (r < 0)
		return r;
	session_set_changed(s->session, on_changed, s);
	return 0;
}

int managed_new_recovered(struct manager *m, uid_t uid, const char *name, int flight_fd,
			  struct managed **ret)
{
	_cleanup_(managed_freep) struct managed *s = calloc(1, sizeof(*s));
	struct session_options options = { .mode = SESSION_FLIGHT };
	int r;

	if (!s)
		return -ENOMEM;
	s->manager = m;
	s->uid = uid;
	s->linger = s->recovered = true;
	s->flight_fd = -1;
	s->told_state = SESSION_FAILED;
	strcpy(options.name, name);
	r = session_new_recovered(&options, flight_fd, &s->session);
	if (r < 0)
		return r;
	r = set_up(s);
	if (r < 0)
		return r;
	s->flight_fd = flight_fd;
	*ret = TAKE_PTR(s);
	return 0;
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
	s->flight_fd = -1;
	s->told_state = SESSION_READY;
	if (!s->linger) {
		s->owner = strdup(args->owner);
		if (!s->owner)
			return -ENOMEM;
	}
	r = make_store(s, request);
	if (r < 0)
		return r;
	r = session_new(&request->options, request->store, &s->session);
	if (r < 0)
		return r;
	s->profile = TAKE_PTR(request->use);
	if (s->profile)
		session_set_triggered(s->session, profile_snapshot_triggered, s);
	free(request->profile);
	/* Both belong to the session now. */
	*request = (struct create_request){ .output_fd = -1 };
	r = set_up(s);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

struct managed *managed_free(struct managed *s)
{
	if (!s)
		return NULL;
	profile_snapshots_drop(s);
	/* Before its descriptor goes with the session. */
	sd_event_source_disable_unref(s->io);
	if (s->session)
		session_set_changed(s->session, NULL, NULL);
	/*
	 * Before anybody hears that it has gone. What is not removed but ends with us, the next
	 * service offers again.
	 */
	if (s->flight_fd >= 0 && s->session && !s->manager->ending)
		flights_remove(s->manager->flights_fd, s->uid, session_options(s->session)->name,
			       s->flight_fd);
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
	close_fd(s->flight_fd);
	profile_use_free(s->profile);
	sd_event_source_disable_unref(s->settle);
	sd_event_source_disable_unref(s->patience);
	free(s->path);
	free(s->owner);
	free(s);
	return NULL;
}
