/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All sessions of the daemon: their owners, their limits, and their ends.
 *
 * Each user has a separate namespace of sessions. The object of root's session NAME is
 * /org/kymo/Trace1/session/NAME, and the object of another user's session is
 * /org/kymo/Trace1/session/UID/NAME. The numbers of components differ, so no two paths are equal.
 * Users can see and control their own sessions. rights.h defines who can see and change the
 * sessions of others. For users who cannot see a session, its object does not exist.
 *
 * A session is bound to the connection that created it. When the connection leaves the bus, the
 * session is stopped, and removed when its file is complete. A session with the option `linger` is
 * not bound. A stopped session stays listed, and counts against the limits, until it is removed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "bus/kymo-bus.h"
#include "daemon/sessions/daemon-state.h"
#include "daemon/sessions/session-options-bus.h"

/*
 * Installs access control on BUS for GROUP (access.h), and adds OBJECTS: the manager and the
 * sessions.
 */
int manager_new(sd_event *event, sd_bus *bus, const char *group,
		const struct manager_objects *objects, struct manager **ret);
struct manager *manager_free(struct manager *m);

DEFINE_CLEANUP(struct manager *, manager_free)

struct manager_create_args {
	const char *name;
	const char *owner; /* unique name of the caller's connection */
	uid_t uid;
};

/*
 * Creates a session. Takes ownership of the contents of REQUEST on success only. Returns 0, or a
 * negative errno with an error message in RETERR.
 */
int manager_create(struct manager *m, const struct manager_create_args *args,
		   struct create_request *request, struct daemon_session **ret,
		   sd_bus_error *reterr);

/*
 * Checks that the rate limit allows another expensive call of UID. Returns 0, or -EDQUOT with an
 * error message.
 */
int manager_rate_limit(struct manager *m, uid_t uid, sd_bus_error *reterr);

/* Usage and limits of a shared resource: of all users together, and of one user. */
struct manager_usage {
	const char *name;
	uint64_t all, all_max, user, user_max;
};

enum { MANAGER_USAGE_MAX = 6 };

void manager_usage(const struct manager *m, uid_t uid,
		   struct manager_usage ret[static MANAGER_USAGE_MAX]);

/*
 * Finds the session NAME or UID/NAME of user UID. Returns 0, or a negative errno with an error
 * message.
 */
int manager_find(const struct manager *m, const char *name, uid_t uid, struct daemon_session **ret,
		 sd_bus_error *reterr);

/*
 * Finds a session like manager_find(), for users who may see all sessions: also finds sessions of
 * other users, by UID/NAME, or by NAME if only one user has a session of this name.
 */
int manager_find_any(const struct manager *m, const char *name, uid_t uid,
		     struct daemon_session **ret, sd_bus_error *reterr);

/* Returns the session at PATH, for any caller, or NULL. */
struct daemon_session *manager_find_path(const struct manager *m, const char *path);

/* Ends S at once, frees it, and sends the signal SessionRemoved. */
void manager_remove(struct manager *m, struct daemon_session *s);

/*
 * Handles a possible change of a session's state: runs or stops the tick, and exits if all sessions
 * have ended.
 */
void manager_settle(struct manager *m);

/*
 * Stops all sessions, waits until their outputs are written or TIMEOUT_SHUTDOWN_NS is over, and
 * ends the event loop with STATUS.
 */
void manager_shutdown(struct manager *m, int status);

/* The rights that a message needs (access_demand_fn). In manager-rights.c. */
struct access_demand;
int manager_demand(sd_bus_message *call, uid_t uid, struct access_demand *ret, void *userdata);
