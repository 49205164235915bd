/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One session as the daemon keeps it: whose it is, who waits for it, and what has been reported of
 * it.
 *
 * The session itself is driven from here. What follows from a change of its state (signals, answers
 * to calls that wait, removal) is not done inside the change but from the event loop, soon after:
 * so it may free the session, and nobody finds it half changed.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "capture/session/session.h"
#include "daemon/log.h"
#include "daemon/manager.h"
#include "daemon/collection-use.h"

enum wait_for {
	WAIT_STARTED,  /* runs, or could not start */
	WAIT_FINISHED, /* the last byte is written, or never will be */
	WAIT_REMOVED,
	WAIT_SNAPSHOT, /* it is on its way to the output */
	WAIT_SEARCH,   /* a process has been searched */
	WAIT_FLIGHT,   /* a flight recorder's snapshot is written, or never will be */
	WAIT_CHUNK,    /* the chunk before is complete */
};

struct waiter {
	enum wait_for what;
	sd_bus_message *call;
	uint64_t snapshot; /* or search, or chunk: number of the one that is waited for */
};

struct daemon_session {
	struct manager *manager;
	struct daemon_session *next;
	struct session *session;
	char *path;
	char *owner; /* unique name of the connection it is bound to; NULL = nobody */
	uid_t uid;
	bool linger;
	bool recovered;                 /* of a service that is dead */
	bool removing;                  /* to be removed when it has finished */
	struct collection_use *profile; /* that it was made of; NULL = of none. Owned */
	int flight_fd; /* of a flight recorder: its directory (flights.h), locked; -1 = none */
	struct waiter waiters[LIMIT_WAITERS];
	size_t n_waiters;
	sd_event_source *io;             /* the session's descriptor */
	sd_event_source *settle;         /* armed by a change of state */
	sd_event_source *output_timeout; /* with its output, while removing */
	uint64_t output_checked_bytes;   /* what was written when it was looked at last */
	unsigned n_output_checks;        /* looks since it was more than before */
	enum session_state told_state;
	uint64_t n_told_steps, n_told_due;
	uint64_t told_events, told_bytes;           /* in the last PropertiesChanged */
	bool told_loss, told_dropped, told_limited; /* in the log */
};

struct daemon_session_args {
	struct manager *manager;
	const char *owner;
	uid_t uid;
};

/* Makes a session of REQUEST, which it takes over on success. It is not in the manager's table. */
int daemon_session_new(const struct daemon_session_args *args, struct create_request *request,
		       struct daemon_session **ret);

/*
 * Likewise, of what a service that is dead has left of UID's flight recorder NAME in FLIGHT_FD,
 * which it takes over on success.
 */
int daemon_session_new_recovered(struct manager *m, uid_t uid, const char *name, int flight_fd,
				 struct daemon_session **ret);

/* Lets go of the session as it is. Calls that still wait are answered that it was removed. */
struct daemon_session *daemon_session_free(struct daemon_session *s);

DEFINE_CLEANUP(struct daemon_session *, daemon_session_free)

/* S as the subject of a line of the log. */
struct log_subject daemon_session_subject(const struct daemon_session *s,
					  enum log_message_id message_id);

/* True once nothing more will be written. */
bool daemon_session_finished(const struct daemon_session *s);

/* True of what a service that is dead has left. */
bool daemon_session_recovered(const struct daemon_session *s);

/* True from its start until it has finished. */
bool daemon_session_active(const struct daemon_session *s);

/* True unless a change of its state has yet to be reported to the bus and to those who wait. */
bool daemon_session_is_announced(const struct daemon_session *s);

/* Answers CALL when S has come as far as WHAT. Returns 0, or -EDQUOT if too many wait. */
int daemon_session_wait(struct daemon_session *s, enum wait_for what, sd_bus_message *call);

/*
 * Has a snapshot taken, and answers CALL when it is on its way to the output. Returns what
 * daemon_session_wait() or session_snapshot() does.
 */
int daemon_session_snapshot(struct daemon_session *s, sd_bus_message *call);

/*
 * Has process PID searched, and answers CALL when it has been. Returns what daemon_session_wait()
 * or session_search() does.
 */
int daemon_session_search(struct daemon_session *s, uint32_t pid, sd_bus_message *call);

/*
 * Has a flight recorder's snapshot written to UID's FD, which it takes over whatever it returns,
 * and answers CALL when it is. Returns what daemon_session_wait(), store_fd_new() or
 * session_take_snapshot() does.
 */
int daemon_session_take_snapshot(struct daemon_session *s, int fd, uid_t uid, sd_bus_message *call);

/*
 * Has another chunk begin, and answers CALL when the one before is complete. Returns what
 * daemon_session_wait() or session_rotate() does.
 */
int daemon_session_rotate(struct daemon_session *s, sd_bus_message *call);

/* True while a snapshot is being written that somebody, or a collection, waits for. */
bool daemon_session_is_writing(const struct daemon_session *s);

/* Forgets the calls of SENDER, who has left the bus. */
void daemon_session_drop_waiters(struct daemon_session *s, const char *sender);

/* Stops it if it runs, and removes it when it has finished or its output does not move for
 * as long as timeouts.h says. REASON is as for session_stop(). */
void daemon_session_remove(struct daemon_session *s, const char *reason);

/*
 * At each tick: looks for the units of its collection, now and then, and stops it if they are
 * elsewhere than it looks.
 */
void daemon_session_check_collection(struct daemon_session *s);

/* Sends signals about counters that have changed since the last time. */
void daemon_session_signal_counters(struct daemon_session *s);

/*
 * In session-bus.c: appends {sv} of the property NAME to M, an array of them. Returns 0 or a
 * negative errno.
 */
int session_bus_append_property(sd_bus_message *m, const struct daemon_session *s,
				const char *name);
