/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/sessions/daemon-session-waiters.h"

#include <errno.h>
#include <string.h>

#include "base/foreign-fds.h"
#include "daemon/access/access.h"
#include "daemon/common/bus-error.h"

static void daemon_session_answer(const struct daemon_session *s, const struct waiter *w)
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
		daemon_session_warn(s, r, "cannot reply to a caller");
}

static void daemon_session_answer_snapshot(const struct daemon_session *s, const struct waiter *w)
{
	int error, r;
	bool taken = session_snapshots(s->session, &error) >= w->snapshot;

	if (!taken)
		r = bus_error_reply(w->call, -ESHUTDOWN,
				    "the session ended before the snapshot was taken");
	else if (error < 0)
		r = bus_error_reply(w->call, error, "the snapshot is incomplete: %s",
				    strerror(-error));
	else
		r = sd_bus_reply_method_return(w->call, NULL);
	if (r < 0)
		daemon_session_warn(s, r, "cannot reply to a caller");
}

static int daemon_session_reply_search(const struct daemon_session *s, const struct waiter *w)
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

/*
 * Returns true if the snapshot for which W waits has ended. Each accepted snapshot ends, even if
 * the session has ended before.
 */
static bool daemon_session_flight_has_ended(const struct daemon_session *s, const struct waiter *w)
{
	int error;

	return session_flight_snapshot(s->session, w->snapshot, &error);
}

static int daemon_session_reply_flight(const struct daemon_session *s, const struct waiter *w)
{
	int error = 0;

	session_flight_snapshot(s->session, w->snapshot, &error);
	if (error == -ENODATA)
		return bus_error_reply(w->call, -EAGAIN, "nothing has been recorded yet");
	if (error == -EAGAIN)
		return bus_error_reply(w->call, error,
				       "events come faster than the flight recorder can keep "
				       "them: try again, or enlarge it");
	if (error == -EBUSY)
		return bus_error_reply(w->call, error,
				       "too many snapshots are being written to outputs that "
				       "are stalled");
	if (error < 0)
		return bus_error_reply(w->call, -EIO, "cannot write the snapshot: %s",
				       store_strerror(error));
	return sd_bus_reply_method_return(w->call, NULL);
}

static int daemon_session_reply_chunk(const struct daemon_session *s, const struct waiter *w)
{
	if (session_chunks(s->session) >= w->snapshot)
		return sd_bus_reply_method_return(w->call, NULL);
	return bus_error_reply(w->call, -ESHUTDOWN,
			       "the session ended before the chunk was complete");
}

/* Sends the reply to W, which waits for a numbered snapshot, search or chunk. */
static void daemon_session_answer_numbered(const struct daemon_session *s, const struct waiter *w)
{
	int r = w->what == WAIT_FLIGHT   ? daemon_session_reply_flight(s, w)
		: w->what == WAIT_SEARCH ? daemon_session_reply_search(s, w)
					 : daemon_session_reply_chunk(s, w);

	if (r < 0)
		daemon_session_warn(s, r, "cannot reply to a caller");
}

static bool daemon_session_is_due(const struct daemon_session *s, const struct waiter *w)
{
	int error;

	switch (w->what) {
	case WAIT_STARTED:
		/*
		 * A session that fails to start is "draining" before it is "failed", so its error
		 * also ends the wait.
		 */
		return session_has_run(s->session) || session_error(s->session, NULL) < 0 ||
		       daemon_session_finished(s);
	case WAIT_FINISHED:
		return daemon_session_finished(s);
	case WAIT_SNAPSHOT:
		return daemon_session_finished(s) ||
		       session_snapshots(s->session, &error) >= w->snapshot;
	case WAIT_SEARCH:
		return daemon_session_finished(s) ||
		       session_searches(s->session, &error) >= w->snapshot;
	case WAIT_FLIGHT:
		return daemon_session_flight_has_ended(s, w);
	case WAIT_CHUNK:
		return daemon_session_finished(s) || session_chunks(s->session) >= w->snapshot;
	default:
		return false;
	}
}

void daemon_session_answer_waiters(struct daemon_session *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n_waiters; i++) {
		struct waiter w = s->waiters[i];

		if (daemon_session_is_due(s, &w)) {
			if (w.what == WAIT_SNAPSHOT)
				daemon_session_answer_snapshot(s, &w);
			else if (w.what == WAIT_FLIGHT || w.what == WAIT_CHUNK ||
				 w.what == WAIT_SEARCH)
				daemon_session_answer_numbered(s, &w);
			else
				daemon_session_answer(s, &w);
			sd_bus_message_unref(w.call);
		} else {
			s->waiters[kept++] = w;
		}
	}
	s->n_waiters = kept;
}

static int daemon_session_add_waiter(struct daemon_session *s, const struct waiter *w)
{
	if (s->n_waiters == LIMIT_WAITERS)
		return -EDQUOT;
	s->waiters[s->n_waiters++] = *w;
	sd_bus_message_ref(w->call);
	sd_event_source_set_enabled(s->settle, SD_EVENT_ONESHOT);
	return 0;
}

int daemon_session_wait(struct daemon_session *s, enum wait_for what, sd_bus_message *call)
{
	return daemon_session_add_waiter(s, &(struct waiter){ .what = what, .call = call });
}

int daemon_session_snapshot(struct daemon_session *s, sd_bus_message *call)
{
	struct waiter w = { .what = WAIT_SNAPSHOT, .call = call };

	return session_snapshot(s->session, &w.snapshot) ?: daemon_session_add_waiter(s, &w);
}

int daemon_session_search(struct daemon_session *s, uint32_t pid, sd_bus_message *call)
{
	struct waiter w = { .what = WAIT_SEARCH, .call = call };

	if (s->n_waiters == LIMIT_WAITERS)
		return -EDQUOT;
	return session_search(s->session, pid, &w.snapshot) ?: daemon_session_add_waiter(s, &w);
}

int daemon_session_take_snapshot(struct daemon_session *s, int fd, uid_t uid, sd_bus_message *call)
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
	return daemon_session_add_waiter(s, &w);
}

int daemon_session_rotate(struct daemon_session *s, sd_bus_message *call)
{
	struct waiter w = { .what = WAIT_CHUNK, .call = call };

	return session_rotate(s->session, &w.snapshot) ?: daemon_session_add_waiter(s, &w);
}

bool daemon_session_is_writing(const struct daemon_session *s)
{
	for (size_t i = 0; i < s->n_waiters; i++)
		if (s->waiters[i].what == WAIT_FLIGHT)
			return true;
	return s->profile && s->profile->pending;
}

void daemon_session_drop_waiters(struct daemon_session *s, const char *sender)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n_waiters; i++) {
		if (strcmp(access_sender_name(s->manager->access, s->waiters[i].call), sender) !=
		    0) {
			s->waiters[kept++] = s->waiters[i];
			continue;
		}
		/*
		 * Only this caller waits for the snapshot, and the snapshot's output may never
		 * accept data. So the snapshot is cancelled.
		 */
		if (s->waiters[i].what == WAIT_FLIGHT)
			session_cancel_snapshot(s->session, s->waiters[i].snapshot);
		sd_bus_message_unref(s->waiters[i].call);
	}
	s->n_waiters = kept;
}
