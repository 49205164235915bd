/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session with its data for the daemon: the owner, the waiting calls, and the state that was last
 * reported.
 *
 * The daemon drives the session from here. A change of its state can cause signals, replies to
 * waiting calls, and its removal. These happen a bit later, from the event loop, and not inside the
 * function that changed the state. So they may free the session, and no function sees it half
 * changed.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "capture/session/session.h"
#include "daemon/common/log.h"
#include "daemon/sessions/manager.h"
#include "daemon/sessions/collection-use.h"

enum wait_for {
	WAIT_STARTED,  /* runs, or failed to start */
	WAIT_FINISHED, /* the last byte is written, or never will be */
	WAIT_REMOVED,
	WAIT_SNAPSHOT, /* the snapshot is in the output's queue */
	WAIT_SEARCH,   /* the process was searched */
	WAIT_FLIGHT,   /* the flight recorder's snapshot is written, or never will be */
	WAIT_CHUNK,    /* the previous chunk is complete */
};

struct waiter {
	enum wait_for what;
	sd_bus_message *call;
	uint64_t snapshot; /* the number of the snapshot, search or chunk */
};

struct daemon_session {
	struct manager *manager;
	struct daemon_session *next;
	struct session *session;
	char *path;
	char *owner; /* unique name of the connection it is bound to; NULL = none */
	uid_t uid;
	bool linger;
	bool recovered;                 /* from a dead service */
	bool removing;                  /* remove it when it has finished */
	struct collection_use *profile; /* its collection; NULL = none. Owned */
	int flight_fd; /* the flight recorder's directory (flights.h), locked; -1 = none */
	struct waiter waiters[LIMIT_WAITERS];
	size_t n_waiters;
	sd_event_source *io;             /* the session's descriptor */
	sd_event_source *settle;         /* enabled by a change of state */
	sd_event_source *output_timeout; /* checks the output while the session is being removed */
	uint64_t output_checked_bytes;   /* bytes written at the last check */
	unsigned n_output_checks;        /* consecutive checks without progress */
	enum session_state state_notified;
	uint64_t n_steps_notified, n_due_notified;
	uint64_t events_notified, bytes_notified;               /* in the last PropertiesChanged */
	bool loss_notified, dropped_notified, limited_notified; /* logged */
};

struct daemon_session_args {
	struct manager *manager;
	const char *owner;
	uid_t uid;
};

/*
 * Creates a session from REQUEST, and takes ownership of its contents on success. Does not add it
 * to the manager's list.
 */
int daemon_session_new(const struct daemon_session_args *args, struct create_request *request,
		       struct daemon_session **ret);

/*
 * Likewise, from the content that a dead service has left of UID's flight recorder NAME in
 * FLIGHT_FD. Takes ownership of FLIGHT_FD on success.
 */
int daemon_session_new_recovered(struct manager *m, uid_t uid, const char *name, int flight_fd,
				 struct daemon_session **ret);

/* Frees the session in any state. Waiting calls get the reply that it was removed. */
struct daemon_session *daemon_session_free(struct daemon_session *s);

DEFINE_CLEANUP(struct daemon_session *, daemon_session_free)

/* Describes S for a line in the log. */
struct log_subject daemon_session_subject(const struct daemon_session *s,
					  enum log_message_id message_id);

/* True once nothing more will be written. */
bool daemon_session_finished(const struct daemon_session *s);

/* True if the session was recovered from a dead service. */
bool daemon_session_recovered(const struct daemon_session *s);

/* True from the start until it has finished. */
bool daemon_session_active(const struct daemon_session *s);

/* False while a change of its state is not reported to the bus and to waiting calls. */
bool daemon_session_is_announced(const struct daemon_session *s);

/* Sends the reply to CALL when S has reached WHAT. Returns 0, or -EDQUOT if too many calls wait. */
int daemon_session_wait(struct daemon_session *s, enum wait_for what, sd_bus_message *call);

/*
 * Takes a snapshot, and sends the reply to CALL when it is in the output's queue. Returns the
 * result of daemon_session_wait() or session_snapshot().
 */
int daemon_session_snapshot(struct daemon_session *s, sd_bus_message *call);

/*
 * Searches process PID, and sends the reply to CALL afterwards. Returns the result of
 * daemon_session_wait() or session_search().
 */
int daemon_session_search(struct daemon_session *s, uint32_t pid, sd_bus_message *call);

/*
 * Writes a flight recorder's snapshot to FD, which UID has passed, and sends the reply to CALL
 * afterwards. Takes ownership of FD, also on failure. Returns the result of daemon_session_wait(),
 * store_fd_new() or session_take_snapshot().
 */
int daemon_session_take_snapshot(struct daemon_session *s, int fd, uid_t uid, sd_bus_message *call);

/*
 * Starts another chunk, and sends the reply to CALL when the previous one is complete. Returns the
 * result of daemon_session_wait() or session_rotate().
 */
int daemon_session_rotate(struct daemon_session *s, sd_bus_message *call);

/* True while a requested snapshot is being written. */
bool daemon_session_is_writing(const struct daemon_session *s);

/* Drops the waiting calls of SENDER, which has left the bus. */
void daemon_session_drop_waiters(struct daemon_session *s, const char *sender);

/*
 * Stops the session if it runs. Removes it when it has finished, or when its output made no
 * progress for the time in timeouts.h. REASON is as for session_stop().
 */
void daemon_session_remove(struct daemon_session *s, const char *reason);

/*
 * Called at each tick. From time to time, this checks the cgroups of the collection's units. If
 * they have changed, it stops the session.
 */
void daemon_session_check_collection(struct daemon_session *s);

/* Sends signals for counters that have changed since the last call. */
void daemon_session_signal_counters(struct daemon_session *s);

/*
 * In session-bus.c: appends the entry {sv} of property NAME to the array in M. Returns 0 or a
 * negative errno.
 */
int session_bus_append_property(sd_bus_message *m, const struct daemon_session *s,
				const char *name);
