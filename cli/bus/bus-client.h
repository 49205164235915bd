/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon, from the command's side: what cli/ asks it by the bus.
 *
 * Functions return 0 or a negative errno; bus_client_error() is then a sentence about it, the
 * daemon's own where the daemon refused.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "capture/programs/capabilities.h"
#include "cli/bus/session-view.h"

struct bus_client;

/* Returns NULL without memory. */
struct bus_client *bus_client_new(void);
struct bus_client *bus_client_free(struct bus_client *c);

DEFINE_CLEANUP(struct bus_client *, bus_client_free)

/*
 * From now on, who asks for the system bus gets that of another machine: of [USER@]HOST by ssh, or
 * of a container. NULL for one that is not meant. The strings are borrowed.
 */
void bus_client_go_to(const char *host, const char *machine);
bool bus_client_is_elsewhere(void);

/* Whether its CLOCK_BOOTTIME is another machine's. */
bool bus_client_has_other_clock(void);

/* About the last failure. Never NULL; borrowed until the next call. */
const char *bus_client_error(const struct bus_client *c);

/* Connects to the bus at ADDRESS (NULL = the system bus) and sees that the daemon is there.
 * Returns 0, or -ENXIO without a bus or a daemon. */
int bus_client_connect(struct bus_client *c, const char *address);

/* What the service calls its version; "" = it is older than that it says so. Borrowed. */
const char *bus_client_version(const struct bus_client *c);

/* Of something that there is once: taken and possible, by all and by us. */
struct bus_client_usage {
	char name[32];
	uint64_t all, all_max, user, user_max;
};

enum { BUS_CLIENT_USAGE_MAX = 16 };

struct bus_client_service {
	char version[64];
	uint64_t start_ns; /* CLOCK_BOOTTIME of its machine; 0 = not known */
	struct bus_client_usage usage[BUS_CLIENT_USAGE_MAX];
	size_t n_usage;
};

/* What the service says of itself. An older one says less, which is no failure. */
int bus_client_service(struct bus_client *c, struct bus_client_service *ret);

struct bus_client_create_args {
	const struct session_options *options;
	int output_fd; /* borrowed; -1 = none */
	bool linger;
};

/* *RET_PATH is a new string, the caller's. */
int bus_client_create(struct bus_client *c, const struct bus_client_create_args *args,
		      char **ret_path);

/* A session of the collection NAME, which is its name, too. Returns -EAGAIN if there may be one
 * later: what the collection is about is not there yet, or one of this name is about to end;
 * -EBADMSG if there is something wrong with the collection; or another errno. */
int bus_client_create_profile(struct bus_client *c, const char *name, char **ret_path);

/*
 * Has all flight recorders of collections write their files; how many did, and how many had done so
 * too short a while ago.
 */
int bus_client_snapshot_all(struct bus_client *c, const char *reason, uint32_t *ret_written,
			    uint32_t *ret_passed_over);
int bus_client_find(struct bus_client *c, const char *name, char **ret_path);

/* Each returns when it is done: running; written; gone. Stopping fails with -ETIMEDOUT when the
 * session's output takes nothing any more; removing gives up such an output. */
int bus_client_start(struct bus_client *c, const char *path);
int bus_client_stop(struct bus_client *c, const char *path);
int bus_client_remove(struct bus_client *c, const char *path);
int bus_client_mark(struct bus_client *c, const char *path, const char *text);
int bus_client_snapshot_memory(struct bus_client *c, const char *path);
int bus_client_rotate(struct bus_client *c, const char *path);

/*
 * Asks for what a flight recorder has kept to be written to FD (borrowed), and does not wait. One
 * at a time. Then bus_client_snapshot_state() says, after bus_client_dispatch() or
 * bus_client_wait_snapshot(), 0 = it is being written, 1 = it is, or a negative errno.
 */
int bus_client_ask_snapshot(struct bus_client *c, const char *path, int fd);
int bus_client_snapshot_state(struct bus_client *c);

/*
 * Asks for process PID to be searched for what it has lost, and does not wait; for several at
 * once. Then bus_client_search_state() says, after bus_client_dispatch(), 0 = not yet, 1 = done
 * (once), or a negative errno.
 */
int bus_client_ask_search(struct bus_client *c, const char *path, uint32_t pid);
int bus_client_search_state(struct bus_client *c, uint32_t pid);

/* Waits for its end. Returns 0 or a negative errno. */
int bus_client_wait_snapshot(struct bus_client *c);

/* Begins the context NAME, whose bit *RET_BIT is, or ends it. */
int bus_client_begin_context(struct bus_client *c, const char *path, const char *name,
			     uint32_t *ret_bit);
int bus_client_end_context(struct bus_client *c, const char *path, const char *name);

int bus_client_view(struct bus_client *c, const char *path, struct session_view *ret);

struct bus_client_session {
	char *name, *path, *state;
};

/* All sessions that we may see, and a row with NULLs at the end. */
int bus_client_list(struct bus_client *c, struct bus_client_session **ret);
struct bus_client_session *bus_client_list_free(struct bus_client_session *list);

/* Like capabilities_probe(), of the daemon; the strings hold until C is freed. */
int bus_client_capabilities(struct bus_client *c, struct capability caps[static CAPABILITIES_MAX]);

/*
 * To follow a session: from bus_client_watch() on, poll for what bus_client_pollfd() says (it
 * returns the timeout in milliseconds, -1 = none) and then call bus_client_dispatch(). That
 * returns 1 when the session has finished or was removed, else 0, or -ECONNRESET when the daemon
 * has gone before that.
 */
int bus_client_watch(struct bus_client *c, const char *path);
int bus_client_pollfd(struct bus_client *c, struct pollfd *ret);
int bus_client_dispatch(struct bus_client *c);

/* What signals have said of the watched session, once it has finished: for when it cannot be asked
 * any more. Returns 0, or -ENODATA if it has not finished. */
int bus_client_last(struct bus_client *c, struct session_view *ret);

/* What signals have said of it so far; borrowed until the next dispatch. */
const struct session_view *bus_client_seen(const struct bus_client *c);

/* Asks for its next chunk, or file, and does not wait. */
int bus_client_ask_rotate(struct bus_client *c, const char *path);

/* Asks it to stop and does not wait. */
int bus_client_ask_stop(struct bus_client *c, const char *path);
