/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots of flight recorders of collections: each goes to a file in the collection's directory,
 * by whatever it was asked for.
 *
 * For triggers not more often than the collection's Interval= says; those that were passed over are
 * counted. Nothing waits: a snapshot is taken and written by threads of the session, and who asked
 * is answered when it has ended.
 */
#pragma once

#include "daemon/daemon-session.h"
#include "daemon/collection-use.h"

/*
 * Asks for one of each flight recorder of a collection that runs. REASON is for the archives and
 * the log. CALL (NULL = nobody waits) is answered with how many were written and how many passed
 * over, when all have ended. Returns 0 or a negative errno.
 */
int collection_snapshot_all(struct manager *m, const char *reason, sd_bus_message *call);

/*
 * Asks for one of S, however soon it comes after the last one. CALL is answered, without values.
 * Returns 0, -EOPNOTSUPP if S is no flight recorder of a collection, or what
 * session_take_snapshot() does.
 */
int collection_snapshot_now(struct daemon_session *s, const char *reason, sd_bus_message *call);

/*
 * To be called when the session has changed. When S, a flight recorder of a collection, has ended
 * for a new one (COLLECTION_REASON_OUTDATED), what it held goes to a file, as what a service holds
 * that ends. Until it has, S is kept, which the other one notifies.
 */
void collection_snapshot_keep(struct daemon_session *s);
bool collection_snapshot_is_keeping(const struct daemon_session *s);

/*
 * S has seen something that it was to look for, and reports that not more often than it should: a
 * session_triggered_fn, USERDATA being S.
 */
void collection_snapshot_triggered(struct session *session, const struct trigger *t,
				   void *userdata);

/* Has what a dead service has left of the flight recorder S written where P says, without waiting:
 * its end is logged, and the service waits for it when it ends. Returns 0 or a negative errno. */
int collection_snapshot_recovered(struct daemon_session *s, struct collection_use *p);

/* Waits for none of those any more. */
void collection_savings_free(struct manager *m);

/* Takes note of those of S that have ended. To be called when the session has changed. */
void collection_snapshots_settle(struct daemon_session *s);

/* Forgets those that have not, and answers who waits for them. */
void collection_snapshots_drop(struct daemon_session *s);
