/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drives a session of the daemon (daemon-session-state.h).
 *
 * A change of the session's state can cause signals, replies to waiting calls, and the removal of
 * the session. The function that changes the state does none of these: the event loop does them a
 * bit later. So no function sees a session that is half changed, or was freed meanwhile.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "daemon/sessions/daemon-session-state.h"
#include "daemon/sessions/daemon-session-waiters.h"
#include "daemon/sessions/session-options-bus.h"

struct daemon_session_args {
	struct manager *manager;
	const char *owner;
	uid_t uid;
};

/*
 * Creates a session from REQUEST, and takes ownership of the contents of REQUEST on success. Does
 * not add the session to the manager's list.
 */
int daemon_session_new(const struct daemon_session_args *args, struct create_request *request,
		       struct daemon_session **ret);

/*
 * Creates a session like daemon_session_new(), from the content that a dead service has left of
 * UID's flight recorder NAME in FLIGHT_FD. Takes ownership of FLIGHT_FD on success.
 */
int daemon_session_new_recovered(struct manager *m, uid_t uid, const char *name, int flight_fd,
				 struct daemon_session **ret);

/* Frees the session in any state. Waiting calls get the reply that the session was removed. */
struct daemon_session *daemon_session_free(struct daemon_session *s);

DEFINE_CLEANUP(struct daemon_session *, daemon_session_free)

/*
 * Stops the session if it runs. Removes it when it has finished, or when its output made no
 * progress for the time in timeouts.h. REASON is as for session_stop().
 */
void daemon_session_remove(struct daemon_session *s, const char *reason);

/*
 * Called at each tick. Sometimes checks the cgroups of the collection's units, and stops the
 * session if a unit runs in another cgroup.
 */
void daemon_session_check_collection(struct daemon_session *s);

/* Sends signals for counters that have changed since the last call. */
void daemon_session_signal_counters(struct daemon_session *s);
