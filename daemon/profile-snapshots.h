/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots of flight recorders of profiles: each goes to a file in the profile's directory, by whatever it was asked for.
 *
 * For triggers not more often than the profile's Interval= says; those that were passed over are counted. Nobody waits: a snapshot is taken and written
 * by threads of the session, and who asked is answered when it has ended.
 */
#pragma once

#include "daemon/managed.h"
#include "daemon/profile-use.h"

/*
 * Asks for one of each flight recorder of a profile that runs. REASON is for the archives and the log. CALL (NULL = nobody waits) is answered with
 * how many were written and how many passed over, when all have ended. Returns 0 or a negative errno.
 */
int profile_snapshot_all(struct manager *m, const char *reason, sd_bus_message *call);

/*
 * Asks for one of S, however soon it comes after the last one. CALL is answered, without values. Returns 0, -EOPNOTSUPP if S is no flight
 * recorder of a profile, or what session_take_snapshot() does.
 */
int profile_snapshot_now(struct managed *s, const char *reason, sd_bus_message *call);

/*
 * To be called when the session has changed. When S, a flight recorder of a profile, has ended for a new one (PROFILE_REASON_OUTDATED), what it
 * held goes to a file, as what a service holds that ends. Until it has, S is kept, which the other one tells.
 */
void profile_snapshot_keep(struct managed *s);
bool profile_snapshot_is_keeping(const struct managed *s);

/* S has seen something that it was to look for, and tells that not more often than it should: a session_triggered_fn, USERDATA being S. */
void profile_snapshot_triggered(struct session *session, const struct trigger *t, void *userdata);

/* Has what a dead service has left of the flight recorder S written where P says, without waiting: its end is told by the log, and the
 * service waits for it when it ends. Returns 0 or a negative errno. */
int profile_snapshot_recovered(struct managed *s, struct profile_use *p);

/* Waits for none of those any more. */
void profile_savings_free(struct manager *m);

/* Takes note of those of S that have ended. To be called when the session has changed. */
void profile_snapshots_settle(struct managed *s);

/* Forgets those that have not, and answers who waits for them. */
void profile_snapshots_drop(struct managed *s);
