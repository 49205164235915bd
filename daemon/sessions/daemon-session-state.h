/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session with its data for the daemon: the owner, the waiting calls, and the state that was last
 * reported.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "capture/session/session.h"
#include "daemon/common/log.h"
#include "daemon/sessions/collection-use.h"
#include "daemon/sessions/daemon-state.h"

enum wait_for {
	WAIT_STARTED,  /* the session runs, or failed to start */
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
	uint64_t snapshot; /* number of the snapshot, search or chunk */
};

struct daemon_session {
	struct manager *manager;
	struct daemon_session *next;
	struct session *session;
	char *path;
	/* Unique name of the connection that the session is bound to; NULL = not bound. */
	char *owner;
	uid_t uid;
	bool linger;
	bool recovered;                 /* the session was recovered from a dead service */
	bool removing;                  /* the session is removed when it has finished */
	struct collection_use *profile; /* collection of the session; NULL = no collection. Owned */
	/*
	 * The directory of the flight recorder (flight-directories.h), locked; -1 = no directory.
	 */
	int flight_fd;
	struct waiter waiters[LIMIT_WAITERS];
	size_t n_waiters;
	sd_event_source *io;     /* event source of the session's descriptor */
	sd_event_source *settle; /* event source that a change of state enables */
	/*
	 * Timer that checks whether the output makes progress while the session is being removed.
	 */
	sd_event_source *output_timeout;
	uint64_t output_checked_bytes; /* number of bytes written at the last check */
	unsigned n_output_checks;      /* number of consecutive checks without progress */
	enum session_state state_notified;
	uint64_t n_steps_notified, n_due_notified;
	/* Values in the last PropertiesChanged. */
	uint64_t events_notified, bytes_notified;
	bool loss_notified, dropped_notified, limited_notified; /* each event was already logged */
};

/* Describes S for a line in the log. */
struct log_subject daemon_session_subject(const struct daemon_session *s,
					  enum log_message_id message_id);

/* True when nothing more will be written. */
bool daemon_session_finished(const struct daemon_session *s);

/* True if the session was recovered from a dead service. */
bool daemon_session_recovered(const struct daemon_session *s);

/* True from the start of the session until it has finished. */
bool daemon_session_active(const struct daemon_session *s);

/*
 * False while a change of the session's state has not been reported to the bus and to waiting
 * calls.
 */
bool daemon_session_is_announced(const struct daemon_session *s);

/* Logs the warning TEXT about S, with ERROR, a negative errno or 0. Returns ERROR. */
int daemon_session_warn(const struct daemon_session *s, int error, const char *text);
