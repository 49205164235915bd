/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One session as the daemon keeps it: whose it is, who waits for it, and what has been told of it.
 *
 * The session itself is driven from here. What follows from a change of its state (signals,
 * answers to calls that wait, removal) is not done inside the change but from the event loop, soon
 * after: so it may free the session, and nobody finds it half changed.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "capture/session.h"
#include "daemon/manager.h"

enum wait_for {
	WAIT_STARTED,  /* runs, or could not start */
	WAIT_FINISHED, /* the last byte is written, or never will be */
	WAIT_REMOVED,
	WAIT_SNAPSHOT, /* it is on its way to the output */
};

struct waiter {
	enum wait_for what;
	sd_bus_message *call;
	uint64_t snapshot; /* number of the one that is waited for */
};

struct managed {
	struct manager *manager;
	struct managed *next;
	struct session *session;
	char *path;
	char *owner; /* unique name of the connection it is bound to; NULL = nobody */
	uid_t uid;
	bool linger;
	bool removing; /* to be removed when it has finished */
	struct waiter waiters[LIMIT_WAITERS];
	size_t n_waiters;
	sd_event_source *io;       /* the session's descriptor */
	sd_event_source *settle;   /* armed by a change of state */
	sd_event_source *patience; /* with its output, while removing */
	uint64_t patience_bytes;   /* what was written when it was armed */
	enum session_state told_state;
	size_t n_told_sheds;
	uint64_t told_events, told_bytes; /* in the last PropertiesChanged */
};

struct managed_args {
	struct manager *manager;
	const char *owner;
	uid_t uid;
};

/* Makes a session of REQUEST, which it takes over on success. It is not in the manager's table. */
int managed_new(const struct managed_args *args, struct create_request *request,
		struct managed **ret);

/* Lets go of the session as it is. Calls that still wait are told that it was removed. */
struct managed *managed_free(struct managed *s);

DEFINE_CLEANUP(struct managed *, managed_free)

/* True once nothing more will be written. */
bool managed_finished(const struct managed *s);

/* True from its start until it has finished. */
bool managed_active(const struct managed *s);

/* True unless a change of its state has yet to be told to the bus and to those who wait. */
bool managed_told(const struct managed *s);

/* Answers CALL when S has come as far as WHAT. Returns 0, or -EDQUOT if too many wait. */
int managed_wait(struct managed *s, enum wait_for what, sd_bus_message *call);

/* Has a snapshot taken, and answers CALL when it is on its way to the output. Returns what managed_wait() or
 * session_snapshot() does. */
int managed_snapshot(struct managed *s, sd_bus_message *call);

/* Forgets the calls of SENDER, who has left the bus. */
void managed_drop_waiters(struct managed *s, const char *sender);

/* Stops it if it runs, and removes it when it has finished or its output does not move for
 * PATIENCE_OUTPUT_NS. REASON is as for session_stop(). */
void managed_remove(struct managed *s, const char *reason);

/* Tells the bus of counters that have changed since the last time. */
void managed_tell_counters(struct managed *s);
