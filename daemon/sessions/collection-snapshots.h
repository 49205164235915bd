/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots of collections' flight recorders. Each snapshot is written to a file in the
 * collection's directory, whatever requested it.
 *
 * Snapshots for triggers are limited by the collection's Interval=. Skipped snapshots are counted.
 * Nothing blocks: threads of the session take and write the snapshot, and the caller gets the reply
 * when the snapshot has ended.
 */
#pragma once

#include "daemon/sessions/collection-use.h"
#include "daemon/sessions/daemon-session-state.h"

/*
 * Requests a snapshot of each running flight recorder of a collection. REASON is for the archives
 * and the log. The reply to CALL (NULL = no caller) has the numbers of written and skipped
 * snapshots, and is sent when all snapshots have ended. Returns 0 or a negative errno.
 */
int collection_snapshot_all(struct manager *m, const char *reason, sd_bus_message *call);

/*
 * Requests a snapshot of S, regardless of the interval. The reply to CALL has no values. Returns 0,
 * -EOPNOTSUPP if S is not a flight recorder of a collection, or an error of
 * session_take_snapshot().
 */
int collection_snapshot_now(struct daemon_session *s, const char *reason, sd_bus_message *call);

/*
 * Handles a change of the session. If S is a flight recorder of a collection, and has ended to be
 * created again (COLLECTION_REASON_OUTDATED), its content is written to a file. Until then,
 * collection_snapshot_is_keeping() is true, and S must not be removed.
 */
void collection_snapshot_keep(struct daemon_session *s);
bool collection_snapshot_is_keeping(const struct daemon_session *s);

/*
 * Handles a trigger of S that has fired: takes a snapshot if the last one is longer ago than the
 * collection's interval. This is a session_triggered_fn; USERDATA is S.
 */
void collection_snapshot_triggered(struct session *session, const struct trigger *t,
				   void *userdata);

/*
 * Writes the content that a dead service has left of the flight recorder S to the store of P,
 * without waiting for the end. The result is logged, and the service does not exit before that.
 * Returns 0 or a negative errno.
 */
int collection_snapshot_recovered(struct daemon_session *s, struct collection_use *p);

/* Frees the snapshots of dead services' content that are in progress, without waiting for them. */
void collection_savings_free(struct manager *m);

/* Handles the snapshots of S that have ended. To be called when the session has changed. */
void collection_snapshots_settle(struct daemon_session *s);

/* Drops the snapshots of S that are in progress, and replies to their callers. */
void collection_snapshots_drop(struct daemon_session *s);
