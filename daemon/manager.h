/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All sessions of the daemon: who owns them, how many there may be, and what ends them.
 *
 * Names are one space per user. The object of root's session NAME is
 * /org/kymo/Trace1/session/NAME, that of another user's /org/kymo/Trace1/session/UID/NAME: one
 * component against two, so they never meet, whatever the names are. Everyone sees and controls
 * their own; who may see and change others' says rights.h, and to all others an object that is not
 * theirs does not exist.
 *
 * A session is bound to the connection that made it. When that leaves the bus, the session is
 * stopped, and removed when its file is complete; one made with `linger` is bound to nobody. What
 * has stopped stays listed, and counts against the limits, until it is removed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "bus/kymo-bus.h"
#include "daemon/quotas.h"
#include "daemon/collection-use.h"
#include "daemon/session-options-bus.h"

/*
 * What users may take, in one place: of all together, of that only for root, of one user, and of
 * one user's own processes.
 */
enum {
	LIMIT_SESSIONS = 32,
	LIMIT_SESSIONS_ROOT = 8,
	LIMIT_SESSIONS_PER_USER = 8,
	LIMIT_SESSIONS_OWN = 4,
	LIMIT_WAITERS = 32, /* calls that wait for one session */
};
#define LIMIT_RING_BYTES          (UINT64_C(1) << 30) /* of all sessions, over all CPUs */
#define LIMIT_RING_BYTES_ROOT     (LIMIT_RING_BYTES / 4)
#define LIMIT_RING_BYTES_PER_USER (LIMIT_RING_BYTES / 2)
#define LIMIT_RING_BYTES_OWN      (LIMIT_RING_BYTES / 4)
#define LIMIT_BLOCKS                                                                               \
	MEMORY_BLOCKS_MAX /* that tables of all sessions have room for: 2 GiB when empty */
#define LIMIT_BLOCKS_ROOT           (LIMIT_BLOCKS / 4)
#define LIMIT_BLOCKS_PER_USER       (LIMIT_BLOCKS / 2)
#define LIMIT_BLOCKS_OWN            (LIMIT_BLOCKS / 4)
#define LIMIT_TABLE_BYTES           (UINT64_C(2) << 30) /* of unwind tables */
#define LIMIT_TABLE_BYTES_ROOT      (LIMIT_TABLE_BYTES / 4)
#define LIMIT_TABLE_BYTES_PER_USER  (LIMIT_TABLE_BYTES / 4)
#define LIMIT_TABLE_BYTES_OWN       (LIMIT_TABLE_BYTES / 8)
#define LIMIT_FLIGHT_BYTES          (UINT64_C(1) << 30) /* that all flight recorders keep */
#define LIMIT_FLIGHT_BYTES_ROOT     (LIMIT_FLIGHT_BYTES / 4)
#define LIMIT_FLIGHT_BYTES_PER_USER (LIMIT_FLIGHT_BYTES / 4)
#define LIMIT_FLIGHT_BYTES_OWN      (LIMIT_FLIGHT_BYTES / 8)

/* How long things may take. */
#define TIMEOUT_SHUTDOWN_NS   UINT64_C(10000000000) /* all outputs, when the daemon ends */
#define TELL_COUNTERS_NS      UINT64_C(1000000000)
#define COLLECTION_LOOK_TICKS 5 /* of those, between two looks for the units of a collection */

struct access;
struct daemon_session;
struct collection_saving;

struct manager {
	sd_event *event;
	sd_bus *bus;
	struct access *access;
	uint64_t start_ns;                 /* CLOCK_BOOTTIME */
	struct collection_places places;   /* as it is made: where packages put them */
	struct daemon_session *sessions;   /* newest first */
	struct collection_saving *savings; /* collection-snapshots.h */
	struct rate_limit efforts;
	sd_event_source *tick; /* counters, while a session runs */
	sd_event_source *deadline;
	/* Where flight recorders keep what they have (flights.h), or why there is no such place */
	int flights_fd;
	bool exiting, ending; /* sessions are stopped; what is left of them is let go of */
	int exit_status;
};

/* Guards BUS for GROUP (access.h) and offers the manager and its sessions there. */
int manager_new(sd_event *event, sd_bus *bus, const char *group, struct manager **ret);
struct manager *manager_free(struct manager *m);

DEFINE_CLEANUP(struct manager *, manager_free)

struct manager_create_args {
	const char *name;
	const char *owner; /* the unique name of the connection that asks */
	uid_t uid;
};

/* Makes a session. Takes over what REQUEST owns, only on success. Returns 0, or a negative errno
 * with a sentence in RETERR. */
int manager_create(struct manager *m, const struct manager_create_args *args,
		   struct create_request *request, struct daemon_session **ret,
		   sd_bus_error *reterr);

/*
 * Whether UID may do once more what costs the machine something. Returns 0, or -EDQUOT with a
 * sentence.
 */
int manager_rate_limit(struct manager *m, uid_t uid, sd_bus_error *reterr);

/* What is taken of something that there is once, and what may be: by all, and by one user. */
struct manager_usage {
	const char *name;
	uint64_t all, all_max, user, user_max;
};

enum { MANAGER_USAGE_MAX = 5 };

void manager_usage(const struct manager *m, uid_t uid,
		   struct manager_usage ret[static MANAGER_USAGE_MAX]);

/* The session that UID calls NAME, or UID/NAME. Returns 0, or a negative errno with a sentence. */
int manager_find(const struct manager *m, const char *name, uid_t uid, struct daemon_session **ret,
		 sd_bus_error *reterr);

/* Likewise for who may see all sessions: finds those of others too, as UID/NAME or, where only one
 * user has that name, by the name alone. */
int manager_find_any(const struct manager *m, const char *name, uid_t uid,
		     struct daemon_session **ret, sd_bus_error *reterr);

/* The session at PATH, for any caller, or NULL. */
struct daemon_session *manager_find_path(const struct manager *m, const char *path);

/* Ends S at once and forgets it; says so on the bus. */
void manager_remove(struct manager *m, struct daemon_session *s);

/* Called when the state of a session may have changed: keeps the clock and the end going. */
void manager_settle(struct manager *m);

/* Stops all sessions, waits until they are written, but not for ever, and ends the event loop with
 * STATUS. */
void manager_shutdown(struct manager *m, int status);

/* In manager-rights.c: what a message needs (access_demand_fn). */
struct access_demand;
int manager_demand(sd_bus_message *call, uid_t uid, struct access_demand *ret, void *userdata);

/* In manager-bus.c and session-bus.c: offers the objects. */
int manager_bus_offer(struct manager *m);
int session_bus_offer(struct manager *m);
