/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command's interface to the daemon on the bus.
 *
 * Functions return 0 or a negative errno. bus_client_error() is then the message: the daemon's own,
 * if the daemon refused.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "capture/programs/capabilities.h"
#include "cli/bus/session-view.h"

struct bus_client;

/* Returns NULL if there is no memory. */
struct bus_client *bus_client_new(void);
struct bus_client *bus_client_free(struct bus_client *c);

DEFINE_CLEANUP(struct bus_client *, bus_client_free)

/* Returns the message of the last failure. It is never NULL, and borrowed until the next call. */
const char *bus_client_error(const struct bus_client *c);

/* Connects to the bus at ADDRESS (NULL = the system bus), or by the way that bus_host() returns,
 * and checks that the daemon runs. Returns 0; -ETIMEDOUT if the bus itself does not answer; -EACCES
 * if only root can use this way; or -ENXIO if there is no bus or no daemon. */
int bus_client_connect(struct bus_client *c, const char *address);

/* Returns the version of the service, borrowed; "" = the service is too old to report one. */
const char *bus_client_version(const struct bus_client *c);

/* Usage and limit of a shared resource, for all users and for this user. */
struct bus_client_usage {
	char name[32];
	uint64_t all, all_max, user, user_max;
};

enum { BUS_CLIENT_USAGE_MAX = 16 };

struct bus_client_service {
	char version[64];
	uint64_t start_ns; /* CLOCK_BOOTTIME of the service's machine; 0 = unknown */
	struct bus_client_usage usage[BUS_CLIENT_USAGE_MAX];
	size_t n_usage;
};

/* Gets the state of the service. An older service returns less; this is not a failure. */
int bus_client_service(struct bus_client *c, struct bus_client_service *ret);

struct bus_client_create_args {
	const struct session_options *options;
	int output_fd; /* borrowed; -1 = no output */
	bool linger;
	bool (*interrupted)(void); /* whether to stop waiting; NULL = never */
};

/* Creates a session. *RET_PATH is a new string, owned by the caller. Returns -EINTR, without a
 * message, as soon as interrupted() returns true, like bus_client_start_unless(). */
int bus_client_create(struct bus_client *c, const struct bus_client_create_args *args,
		      char **ret_path);

/*
 * Creates a session of the collection NAME, with the same name. Returns -EAGAIN if the session can
 * perhaps be created later: the target of the collection does not exist yet, or a session of this
 * name is about to end; -EBADMSG if the collection is invalid; or another errno.
 */
int bus_client_create_profile(struct bus_client *c, const char *name, char **ret_path);

/* Makes the flight recorders of all collections write their files. Returns the number of recorders
 * that wrote a file, and of those that were skipped, because they had written a file recently. */
int bus_client_snapshot_all(struct bus_client *c, const char *reason, uint32_t *ret_written,
			    uint32_t *ret_passed_over);
int bus_client_find(struct bus_client *c, const char *name, char **ret_path);

/*
 * Start, stop and remove a session. Each function returns when the operation is complete: the
 * session runs, is written, or is removed. Stopping fails with -ETIMEDOUT if the session's output
 * stalls; removal abandons such an output.
 */
int bus_client_start(struct bus_client *c, const char *path);

/* Like bus_client_start(), but returns -EINTR, without a message, as soon as INTERRUPTED returns
 * true. The session can still start then. INTERRUPTED is called after each signal, and a few times
 * a second. */
int bus_client_start_unless(struct bus_client *c, const char *path, bool (*interrupted)(void));
int bus_client_stop(struct bus_client *c, const char *path);
int bus_client_remove(struct bus_client *c, const char *path);
int bus_client_mark(struct bus_client *c, const char *path, const char *text);
int bus_client_snapshot_memory(struct bus_client *c, const char *path);
int bus_client_rotate(struct bus_client *c, const char *path);

/*
 * Starts to write the data of a flight recorder to FD (borrowed), without waiting. Only one
 * snapshot can be in progress. After bus_client_dispatch() or bus_client_wait_snapshot(),
 * bus_client_snapshot_state() returns 0 while the snapshot is being written, 1 when it is complete,
 * or a negative errno.
 */
int bus_client_request_snapshot(struct bus_client *c, const char *path, int fd);
int bus_client_snapshot_state(struct bus_client *c);

/*
 * Starts the search for lost blocks in process PID, without waiting. Several searches can run at
 * once. After bus_client_dispatch(), bus_client_search_state() returns 0 while the search runs, 1
 * (once) when it is complete, or a negative errno.
 */
int bus_client_request_search(struct bus_client *c, const char *path, uint32_t pid);
int bus_client_search_state(struct bus_client *c, uint32_t pid);

/* Waits for the end of the snapshot. Returns 0 or a negative errno. */
int bus_client_wait_snapshot(struct bus_client *c);

/*
 * bus_client_begin_context() begins the context NAME, whose bit is then *RET_BIT.
 * bus_client_end_context() ends the context.
 */
int bus_client_begin_context(struct bus_client *c, const char *path, const char *name,
			     uint32_t *ret_bit);
int bus_client_end_context(struct bus_client *c, const char *path, const char *name);

int bus_client_view(struct bus_client *c, const char *path, struct session_view *ret);

struct bus_client_session {
	char *name, *path, *state;
};

/* Lists all sessions that this user can see, followed by a row of NULLs. */
int bus_client_list(struct bus_client *c, struct bus_client_session **ret);
struct bus_client_session *bus_client_list_free(struct bus_client_session *list);

/* A program that is connected to the daemon, with the sessions that record it. */
struct bus_client_provider {
	char *name, *cgroup;
	uint32_t pid, uid;
	struct bus_client_category {
		char *name;
		bool is_on; /* a session that this user can see records it */
	} * categories;
	size_t n_categories;
	struct bus_client_recorded {
		char *path, *name;
		uint64_t written, lost; /* records */
	} * sessions;
	size_t n_sessions;
};

struct bus_client_providers {
	struct bus_client_provider *providers;
	size_t n;
};

/* Lists the programs that this user can see. */
int bus_client_providers(struct bus_client *c, struct bus_client_providers *ret);
void bus_client_providers_deinit(struct bus_client_providers *p);

/* Like capabilities_probe(), for the daemon; the strings are valid until C is freed. */
int bus_client_capabilities(struct bus_client *c, struct capability caps[static CAPABILITIES_MAX]);

/*
 * To follow a session: after bus_client_watch(), poll the descriptor of bus_client_pollfd(), with
 * the timeout in milliseconds (-1 = none) that it returns, too. Then call bus_client_dispatch(),
 * which returns 1 when the session has finished or was removed, else 0, or -ECONNRESET if the
 * daemon has exited before.
 */
int bus_client_watch(struct bus_client *c, const char *path);
int bus_client_pollfd(struct bus_client *c, struct pollfd *ret);
int bus_client_dispatch(struct bus_client *c);

/* Gets the final state of the watched session, as its signals have told, even if the session no
 * longer answers. Returns 0, or -ENODATA if the session has not finished. */
int bus_client_last(struct bus_client *c, struct session_view *ret);

/* Returns the state of the session so far, from signals; borrowed until the next dispatch. */
const struct session_view *bus_client_seen(const struct bus_client *c);

/* Requests the next chunk or file, without waiting. */
int bus_client_request_rotate(struct bus_client *c, const char *path);

/* Requests the session to stop, without waiting. */
int bus_client_request_stop(struct bus_client *c, const char *path);
