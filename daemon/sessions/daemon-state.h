/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the daemon, which its sessions share.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "daemon/access/quotas.h"
#include "daemon/sessions/collection-use.h"

/*
 * Limits of the number of sessions: for all users; the part reserved for root; for one user; and
 * for one user's sessions with the option `own`. The other limits depend on the machine (limits.h).
 */
enum {
	LIMIT_SESSIONS = 32,
	LIMIT_SESSIONS_ROOT = 8,
	LIMIT_SESSIONS_PER_USER = 8,
	LIMIT_SESSIONS_OWN = 4,
	LIMIT_WAITERS = 32, /* maximum number of waiting calls of one session */
};
/* Timeouts and intervals. */
#define TIMEOUT_SHUTDOWN_NS UINT64_C(10000000000) /* timeout of all outputs when the daemon exits */
#define NOTIFY_COUNTERS_NS  UINT64_C(1000000000)
/* The number of ticks between two checks of a collection's units. */
#define COLLECTION_SCAN_TICKS 5

struct access;
struct daemon_session;
struct collection_saving;
struct daemon_providers;

struct manager;

/*
 * The objects on the bus, which show the manager and the sessions. The main program passes these
 * functions, since daemon/sessions must not include headers of daemon/bus, which itself includes
 * headers of daemon/sessions.
 */
struct manager_objects {
	/* Adds the objects to BUS; returns 0 or a negative errno. */
	int (*offer)(struct manager *m, sd_bus *bus);
	/* Appends the property NAME of S, an entry {sv}, to the array in M. Returns 0 or a negative
	 * errno. */
	int (*append_property)(sd_bus_message *m, const struct daemon_session *s, const char *name);
};

struct manager {
	const struct manager_objects *objects;
	/*
	 * Set by manager.c, called by sessions (see manager.h). remove() ends a session at once and
	 * frees it. settle() handles a change of a session's state.
	 */
	void (*remove)(struct manager *m, struct daemon_session *s);
	void (*settle)(struct manager *m);
	sd_event *event;
	sd_bus *bus;
	struct access *access;
	uint64_t start_ns;                  /* start of the daemon, CLOCK_BOOTTIME */
	struct collection_places places;    /* initially the directories of the package */
	struct daemon_session *sessions;    /* newest first */
	struct collection_saving *savings;  /* see collection-snapshots.h */
	struct daemon_providers *providers; /* see daemon-providers.h; NULL = no program connects */
	struct rate_limit efforts;
	sd_event_source *tick; /* timer that signals counters while a session runs */
	sd_event_source *deadline;
	/*
	 * The directory of flight recorders (flight-directories.h), or the negative errno of its
	 * creation.
	 */
	int flights_fd;
	/* exiting = sessions are being stopped; ending = remaining sessions are being freed. */
	bool exiting, ending;
	int exit_status;
};
