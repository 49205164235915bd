/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/sessions/collection-snapshots.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/value.h"
#include "capture/store/flight.h"
#include "capture/store/snapshot.h"
#include "daemon/common/bus-error.h"

/* Requested snapshots of one or more sessions, with one reply. */
struct snapshot_round {
	sd_bus_message *call; /* call to be answered; NULL = no caller */
	bool one;             /* the request is for one session: the reply has no numbers */
	/* Number of pending snapshots, plus one while the requests are being made. */
	unsigned n_pending;
	uint32_t n_written, n_passed_over;
	int error; /* the first error */
};

/* One requested snapshot. */
struct collection_pending {
	struct collection_pending *next;
	struct snapshot_round *round;
	uint64_t number; /* number from session_take_snapshot() */
};

/* ---- rounds ---- */

static struct snapshot_round *collection_round_new(sd_bus_message *call, bool one)
{
	struct snapshot_round *round = calloc(1, sizeof(*round));

	if (!round)
		return NULL;
	round->call = sd_bus_message_ref(call);
	round->one = one;
	round->n_pending = 1;
	return round;
}

static int collection_round_answer(const struct snapshot_round *round)
{
	if (round->error < 0 && round->n_written == 0)
		return bus_error_reply(round->call, -EIO, "cannot write the snapshot: %s",
				       strerror(-round->error));
	if (round->one)
		return sd_bus_reply_method_return(round->call, NULL);
	return sd_bus_reply_method_return(round->call, "uu", round->n_written,
					  round->n_passed_over);
}

/* Ends one request of ROUND. After the last request, sends the reply and frees ROUND. */
static void collection_round_step(struct snapshot_round *round)
{
	int r;

	if (--round->n_pending > 0)
		return;
	if (round->call) {
		r = collection_round_answer(round);
		if (r < 0 && r != -ENOTCONN)
			log_warning(r, "cannot reply to the request for snapshots");
		sd_bus_message_unref(round->call);
	}
	free(round);
}

/* ---- requests ---- */

static bool collection_is_flight_of_collection(const struct daemon_session *s)
{
	return s->profile && s->profile->mode == SESSION_FLIGHT;
}

static void collection_count_failed(struct daemon_session *s, struct snapshot_round *round,
				    int error)
{
	const struct log_subject about = daemon_session_subject(s, LOG_SESSION_OTHER);

	s->profile->n_failed++;
	if (round->error == 0)
		round->error = error;
	log_session_warning(&about, error, "cannot write a snapshot to %s",
			    s->profile->collection.directory);
}

static int collection_snapshots_request(struct daemon_session *s, const char *reason,
					struct snapshot_round *round)
{
	struct collection_pending *pending = calloc(1, sizeof(*pending));
	struct store *to = NULL;
	char mark[256];
	int r = pending ? collection_use_store(s->profile, s->profile->packed, &to) : -ENOMEM;

	/* (if the session has ended, the mark is ignored, but the content can still be written) */
	snprintf(mark, sizeof(mark), "snapshot: %s", reason);
	if (r == 0) {
		session_mark(s->session, mark);
		r = session_take_snapshot(s->session, to, &pending->number);
	}
	if (r < 0) {
		store_free(to);
		free(pending);
		return r;
	}
	pending->round = round;
	pending->next = s->profile->pending;
	s->profile->pending = pending;
	round->n_pending++;
	/* The snapshot may have ended already. */
	sd_event_source_set_enabled(s->settle, SD_EVENT_ONESHOT);
	return 0;
}

/*
 * Requests a snapshot of S. If LIMIT_NS is not 0, the snapshot is for a trigger, and is skipped if
 * the last one for a trigger was less than LIMIT_NS ago. Returns 0, 1 if the snapshot is skipped,
 * or a negative errno.
 */
static int collection_request_limited(struct daemon_session *s, const char *reason,
				      uint64_t limit_ns, struct snapshot_round *round)
{
	const struct log_subject about = daemon_session_subject(s, LOG_SESSION_OTHER);
	struct collection_use *p = s->profile;
	uint64_t now = clock_boot_ns();
	int r;

	if (p->last_ns && now - p->last_ns < limit_ns) {
		p->n_passed_over++;
		round->n_passed_over++;
		return 1;
	}
	r = collection_snapshots_request(s, reason, round);
	if (r < 0) {
		collection_count_failed(s, round, r);
		return r;
	}
	if (limit_ns)
		p->last_ns = now;
	log_session(&about, "writes a snapshot to %s: %s", p->collection.directory, reason);
	return 0;
}

int collection_snapshot_all(struct manager *m, const char *reason, sd_bus_message *call)
{
	struct snapshot_round *round = collection_round_new(call, false);

	if (!round)
		return -ENOMEM;
	for (struct daemon_session *s = m->sessions; s; s = s->next)
		if (collection_is_flight_of_collection(s) && daemon_session_active(s))
			collection_request_limited(s, reason, 0, round);
	collection_round_step(round);
	return 0;
}

int collection_snapshot_now(struct daemon_session *s, const char *reason, sd_bus_message *call)
{
	struct snapshot_round *round;
	int r;

	if (!collection_is_flight_of_collection(s))
		return -EOPNOTSUPP;
	round = collection_round_new(NULL, true);
	if (!round)
		return -ENOMEM;
	r = collection_request_limited(s, reason, 0, round);
	/* On failure, the caller replies to CALL. */
	if (r == 0)
		round->call = sd_bus_message_ref(call);
	collection_round_step(round);
	return r;
}

void collection_snapshot_keep(struct daemon_session *s)
{
	if (!collection_is_flight_of_collection(s) || s->profile->kept ||
	    !daemon_session_finished(s) ||
	    strcmp(session_reason(s->session), COLLECTION_REASON_OUTDATED) != 0)
		return;
	s->profile->kept = true;
	collection_snapshot_now(s, COLLECTION_REASON_OUTDATED, NULL);
}

bool collection_snapshot_is_keeping(const struct daemon_session *s)
{
	return s->profile && s->profile->kept && s->profile->pending;
}

/* Describes the trigger that has fired. */
static void collection_snapshots_describe(const struct trigger *t, char to[static 160])
{
	char value[TEXT_FORMAT_MAX], limit[TEXT_FORMAT_MAX], who[80] = "";

	if (t->kind == TRIGGER_WAKEUP || t->kind == TRIGGER_OFFCPU) {
		text_format_time(value, t->value);
		text_format_time(limit, t->limit);
	} else if (t->kind == TRIGGER_LEAK) {
		text_format_size(value, t->value);
		text_format_size(limit, t->limit);
	} else {
		value_format_percent(value, t->value);
		value_format_percent(limit, t->limit);
	}
	if (t->tid)
		snprintf(who, sizeof(who), " of %s (%u)", *t->comm ? t->comm : "?", t->tid);
	snprintf(to, 160, "%s%s: %s, the limit is %s", trigger_names[t->kind], who, value, limit);
}

void collection_snapshot_triggered(struct session *session, const struct trigger *t, void *userdata)
{
	struct daemon_session *s = userdata;
	struct snapshot_round *round;
	char reason[160];

	if (!collection_is_flight_of_collection(s))
		return;
	round = collection_round_new(NULL, true);
	if (!round)
		return;
	collection_snapshots_describe(t, reason);
	s->profile->n_passed_over += t->n_passed_over;
	/*
	 * Triggers measure the interval in the times of records. Records arrive in batches, so the
	 * interval between two calls can be shorter: the limit here is a bit lower.
	 */
	collection_request_limited(s, reason, s->profile->interval_ns / 10 * 9, round);
	collection_round_step(round);
}

/* Content from a dead service that is being written to a collection's directory. */
struct collection_saving {
	struct manager *manager;
	struct collection_saving *next;
	struct snapshot *snapshot;
	sd_event_source *ended;
	char *name, *path, *directory; /* name and path of the session, and its directory */
};

static struct collection_saving *collection_saving_free(struct collection_saving *s)
{
	if (!s)
		return NULL;
	sd_event_source_disable_unref(s->ended);
	snapshot_unref(s->snapshot);
	free(s->name);
	free(s->path);
	free(s->directory);
	return free_ptr(s);
}

DEFINE_CLEANUP(struct collection_saving *, collection_saving_free)

static int collection_on_saved(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct collection_saving *s = userdata, **at;
	const struct log_subject about = { s->name, s->path, 0, LOG_SESSION_OTHER };
	struct manager *m = s->manager;
	int error = 0;

	snapshot_ended(s->snapshot, &error);
	if (error < 0)
		log_session_warning(&about, error,
				    "cannot write all data that the service kept when it died "
				    "to %s",
				    s->directory);
	else
		log_session(&about, "saved the data that the service kept when it died in %s",
			    s->directory);
	for (at = &m->savings; *at != s; at = &(*at)->next)
		;
	*at = s->next;
	collection_saving_free(s);
	m->settle(m);
	return 0;
}

/*
 * Notes the saving of the content of S. The result is logged, and the service does not exit before
 * that.
 */
static int collection_saving_new(struct daemon_session *s, const struct collection_use *p,
				 struct snapshot *snapshot)
{
	_cleanup_(collection_saving_freep) struct collection_saving *one = calloc(1, sizeof(*one));
	int r;

	if (!one)
		return -ENOMEM;
	one->manager = s->manager;
	one->snapshot = snapshot_ref(snapshot);
	one->name = strdup(session_options(s->session)->name);
	one->path = strdup(s->path);
	one->directory = strdup(p->collection.directory);
	if (!one->name || !one->path || !one->directory)
		return -ENOMEM;
	r = sd_event_add_io(s->manager->event, &one->ended, snapshot_fd(snapshot), EPOLLIN,
			    collection_on_saved, one);
	if (r < 0)
		return r;
	one->next = s->manager->savings;
	s->manager->savings = TAKE_PTR(one);
	return 0;
}

void collection_savings_free(struct manager *m)
{
	while (m->savings) {
		struct collection_saving *next = m->savings->next;

		collection_saving_free(m->savings);
		m->savings = next;
	}
}

int collection_snapshot_recovered(struct daemon_session *s, struct collection_use *p)
{
	_cleanup_(flight_snapshot_freep) struct flight_snapshot *left = NULL;
	_cleanup_(snapshot_unrefp) struct snapshot *snapshot = NULL;
	_cleanup_(store_freep) struct store *to = NULL;
	int r = flight_recover(s->flight_fd, &left)
			?: collection_use_store(p, session_options(s->session)->compress, &to)
			?: snapshot_new(to, &snapshot);

	if (r < 0)
		return r;
	TAKE_PTR(to);
	r = collection_saving_new(s, p, snapshot);
	if (r < 0)
		return r;
	/*
	 * From here on, the snapshot does not need the session. The caller removes the session, to
	 * make room for the next one.
	 */
	snapshot_set_data(snapshot, TAKE_PTR(left), 0);
	return 0;
}

/* ---- ends of snapshots ---- */

static void collection_snapshots_end(struct daemon_session *s,
				     const struct collection_pending *pending, int error)
{
	if (error < 0) {
		collection_count_failed(s, pending->round, error);
	} else {
		s->profile->n_written++;
		pending->round->n_written++;
	}
	collection_round_step(pending->round);
}

void collection_snapshots_settle(struct daemon_session *s)
{
	struct collection_pending **at, *pending;
	int error;

	if (!s->profile)
		return;
	for (at = &s->profile->pending; (pending = *at);) {
		if (!session_flight_snapshot(s->session, pending->number, &error)) {
			at = &pending->next;
			continue;
		}
		*at = pending->next;
		collection_snapshots_end(s, pending, error);
		free(pending);
	}
}

void collection_snapshots_drop(struct daemon_session *s)
{
	struct collection_pending *pending;

	while (s->profile && (pending = s->profile->pending)) {
		s->profile->pending = pending->next;
		if (pending->round->error == 0)
			pending->round->error = -ECANCELED;
		collection_round_step(pending->round);
		free(pending);
	}
}
