/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/record/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <fcntl.h>
#include <inttypes.h>

#include "base/text.h"
#include "capture/programs/capabilities.h"
#include "capture/providers/provider-socket.h"
#include "capture/store/flight.h"
#include "capture/probes/probe-cleanup.h"
#include "capture/proc/proc.h"
#include "capture/sandbox/thread.h"
#include "cli/bus/bus-client.h"
#include "cli/bus/bus-host.h"
#include "cli/service/client-options.h"
#include "cli/common/verb.h"

enum { SEARCHES_MAX = 32 }; /* maximum number of searches at the same time */

struct recording_ops {
	int (*create)(struct recording *r, struct session_options *options, int output_fd,
		      bool (*interrupted)(void));
	int (*start)(struct recording *r);
	int (*pollfd)(struct recording *r, struct pollfd *ret);
	int (*dispatch)(struct recording *r);
	int (*stop)(struct recording *r);
	int (*snapshot)(struct recording *r, int fd);
	int (*snapshot_state)(struct recording *r);
	uint64_t (*snapshots_due)(struct recording *r);
	int (*search)(struct recording *r, uint32_t pid);
	int (*search_state)(struct recording *r, uint32_t pid);
	int (*view)(struct recording *r, struct session_view *ret);
};

struct recording {
	const struct recording_ops *ops;
	struct bus_client *client; /* for a recording by the daemon */
	char *path;
	struct session *session;      /* for a recording by this process */
	struct provider_links *links; /* of programs with events of their own; NULL = none */
	int poll_fd;                  /* watches the session and the links; -1 = no links */
	uint64_t snapshot;            /* number of the last requested snapshot */
	/* Last searches, one for each process. */
	struct {
		uint32_t pid;
		uint64_t number;
	} searches[SEARCHES_MAX];
	int search_error;
};

/* ---- the daemon ---- */

static int recording_bus_failed(const struct recording *r, int error)
{
	if (error < 0)
		cli_error("%s", bus_client_error(r->client));
	return error;
}

/*
 * Returns true if the output of the session has failed. An earlier part of the output can be valid.
 * The properties of the session say why the output failed.
 */
static bool recording_has_output_failed(struct recording *r)
{
	_cleanup_(session_view_deinit) struct session_view v = { 0 };

	return r->ops->view(r, &v) >= 0 && strcmp(v.reason, "output failed") == 0;
}

static int recording_bus_create(struct recording *r, struct session_options *options, int output_fd,
				bool (*interrupted)(void))
{
	const struct bus_client_create_args args = {
		.options = options,
		.output_fd = output_fd,
		.interrupted = interrupted,
	};
	int e = bus_client_create(r->client, &args, &r->path);

	if (e == -EINTR)
		return e;
	if (e >= 0)
		e = bus_client_watch(r->client, r->path);
	if (e >= 0)
		session_options_deinit(options);
	return recording_bus_failed(r, e);
}

static int recording_bus_start(struct recording *r)
{
	_cleanup_free_ char *text = NULL;
	int e = bus_client_start(r->client, r->path);

	if (e >= 0)
		return e;
	/* (the next call replaces the text) */
	text = strdup(bus_client_error(r->client));
	if (!recording_has_output_failed(r))
		cli_error("%s", text ? text : strerror(-e));
	return e;
}

static int recording_bus_pollfd(struct recording *r, struct pollfd *ret)
{
	return bus_client_pollfd(r->client, ret);
}

static int recording_bus_dispatch(struct recording *r)
{
	return recording_bus_failed(r, bus_client_dispatch(r->client));
}

static int recording_bus_stop(struct recording *r)
{
	return recording_bus_failed(r, bus_client_request_stop(r->client, r->path));
}

static int recording_bus_snapshot(struct recording *r, int fd)
{
	return recording_bus_failed(r, bus_client_request_snapshot(r->client, r->path, fd));
}

static int recording_bus_snapshot_state(struct recording *r)
{
	return recording_bus_failed(r, bus_client_snapshot_state(r->client));
}

static uint64_t recording_bus_snapshots_due(struct recording *r)
{
	return bus_client_seen(r->client)->counters.snapshots_due;
}

static int recording_bus_view(struct recording *r, struct session_view *ret)
{
	int e = bus_client_view(r->client, r->path, ret);

	/* If the session is gone (it was removed, or the service has exited), its last state is
	 * known from signals. */
	return e < 0 && bus_client_last(r->client, ret) == 0 ? 0 : recording_bus_failed(r, e);
}

static int recording_bus_search(struct recording *r, uint32_t pid)
{
	return bus_client_request_search(r->client, r->path, pid);
}

static int recording_bus_search_state(struct recording *r, uint32_t pid)
{
	return bus_client_search_state(r->client, pid);
}

static const struct recording_ops bus_ops = {
	.create = recording_bus_create,
	.start = recording_bus_start,
	.pollfd = recording_bus_pollfd,
	.dispatch = recording_bus_dispatch,
	.stop = recording_bus_stop,
	.snapshot = recording_bus_snapshot,
	.snapshot_state = recording_bus_snapshot_state,
	.snapshots_due = recording_bus_snapshots_due,
	.search = recording_bus_search,
	.search_state = recording_bus_search_state,
	.view = recording_bus_view,
};

/* ---- this process ---- */

/* Makes a store of a duplicate of FD. */
static int recording_dup_store(int fd, struct store **ret)
{
	int e, own_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	e = own_fd < 0 ? -errno : store_fd_new(own_fd, ret);
	if (e < 0) {
		cli_error("cannot use the output: %s", strerror(-e));
		close_fd(own_fd);
	}
	return e;
}

/* Makes a store in the memory of this process. */
static int recording_flight_store(struct session_options *o, struct store **ret)
{
	int e;

	session_options_fill_flight(o);
	e = flight_new(&(struct flight_options){ -1, o->flight_ns, o->flight_bytes }, ret);
	if (e < 0)
		cli_error("cannot create a flight recorder: %s", strerror(-e));
	return e;
}

/* Reports what a killed recording has left behind, and that it was cleaned up. */
static void recording_report_cleanup(const char *text)
{
	fprintf(stderr, "kymo: %s\n", text);
}

static int recording_direct_watch(const struct recording *r, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(r->poll_fd, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

/* Lets programs connect that write events of their own. */
static int recording_direct_listen(struct recording *r)
{
	char why[VALUE_WHY_MAX];
	int e = provider_links_new(&r->links, PROVIDER_OWNER_DIRECT, why);

	if (e < 0) {
		cli_error("cannot record the events of programs: %s", *why ? why : strerror(-e));
		return e;
	}
	session_set_providers(r->session, r->links, &(struct providers_owner){ .uid = geteuid() });
	r->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (r->poll_fd < 0)
		return -errno;
	return recording_direct_watch(r, session_fd(r->session))
		       ?: recording_direct_watch(r, provider_links_fd(r->links));
}

static int recording_direct_create(struct recording *r, struct session_options *options,
				   int output_fd, bool (*interrupted)(void))
{
	struct store *store;
	int e = output_fd < 0 ? recording_flight_store(options, &store)
			      : recording_dup_store(output_fd, &store);

	if (e < 0)
		return e;
	if (options->categories & CATEGORIES_PROBES)
		probe_cleanup_start(recording_report_cleanup);
	thread_raise_priority();
	e = session_new(options, store, &r->session);
	if (e < 0) {
		store_free(store);
		cli_error("cannot create a session: %s", strerror(-e));
		return e;
	}
	*options = (struct session_options){ 0 };
	return session_options(r->session)->categories & CATEGORY_APP ? recording_direct_listen(r)
								      : 0;
}

static int recording_direct_pollfd(struct recording *r, struct pollfd *ret)
{
	*ret = (struct pollfd){ r->links ? r->poll_fd : session_fd(r->session), POLLIN, 0 };
	return -1;
}

static void recording_direct_serve(struct recording *r)
{
	if (r->links)
		provider_links_poll(r->links);
	session_dispatch(r->session);
}

static int recording_direct_start(struct recording *r)
{
	struct pollfd pfd;
	const char *text;
	int e = session_start(r->session);

	if (e < 0) {
		cli_error("cannot start: %s", strerror(-e));
		return e;
	}
	while (session_state(r->session) < SESSION_RUNNING) {
		recording_direct_pollfd(r, &pfd);
		if (poll(&pfd, 1, -1) < 0 && errno != EINTR)
			return -errno;
		recording_direct_serve(r);
	}
	e = session_error(r->session, &text);
	if (e < 0 && !recording_has_output_failed(r))
		cli_error("cannot start: %s", *text ? text : strerror(-e));
	return e;
}

/* Reports programs whose events are not recorded, and why. */
static void recording_report_programs(const struct recording *r)
{
	const struct provider_links_counts n =
		r->links ? *provider_links_counts(r->links) : (struct provider_links_counts){ 0 };
	uint64_t n_without = session_providers(r->session)->n_refused;

	if (n.dropped)
		fprintf(stderr,
			"kymo: closed %" PRIu64 " connection%s of programs: wrong packets\n",
			n.dropped, text_s(n.dropped));
	if (n.refused)
		fprintf(stderr,
			"kymo: refused %" PRIu64 " connection%s of programs: too many at once\n",
			n.refused, text_s(n.refused));
	if (n_without)
		fprintf(stderr,
			"kymo: did not record %" PRIu64
			" program%s: no memory is left for buffers, or the program could not use "
			"its buffer\n",
			n_without, text_s(n_without));
}

static int recording_direct_dispatch(struct recording *r)
{
	enum session_state state;

	recording_direct_serve(r);
	state = session_state(r->session);
	if (state != SESSION_STOPPED && state != SESSION_FAILED)
		return 0;
	recording_report_programs(r);
	return 1;
}

static int recording_direct_stop(struct recording *r)
{
	return session_stop(r->session, "requested");
}

static int recording_direct_snapshot(struct recording *r, int fd)
{
	struct store *to;
	int e = recording_dup_store(fd, &to) ?: session_take_snapshot(r->session, to, &r->snapshot);

	if (e < 0) {
		store_free(to);
		cli_error("cannot take a snapshot: %s", strerror(-e));
	}
	return e;
}

static int recording_direct_snapshot_state(struct recording *r)
{
	int e = 0;

	if (!session_flight_snapshot(r->session, r->snapshot, &e))
		return 0;
	if (e < 0)
		cli_error("cannot write the snapshot: %s",
			  e == -ENODATA  ? "nothing has been recorded yet"
			  : e == -EAGAIN ? "events come faster than it can keep them; enlarge "
					   "--keep-size"
					 : strerror(-e));
	return e < 0 ? e : 1;
}

static uint64_t recording_direct_snapshots_due(struct recording *r)
{
	struct session_counters now;

	session_counters(r->session, &now);
	return now.snapshots_due;
}

static int recording_direct_search(struct recording *r, uint32_t pid)
{
	uint64_t number;
	unsigned i = 0;
	int e;

	while (i < SEARCHES_MAX && r->searches[i].pid)
		i++;
	if (i == SEARCHES_MAX)
		return -EBUSY;
	e = session_search(r->session, pid, &number);
	if (e < 0)
		return e;
	r->searches[i].pid = pid;
	r->searches[i].number = number;
	return 0;
}

static int recording_direct_search_state(struct recording *r, uint32_t pid)
{
	int e;

	for (unsigned i = 0; i < SEARCHES_MAX; i++) {
		if (r->searches[i].pid != pid)
			continue;
		if (session_searches(r->session, &e) < r->searches[i].number)
			return 0;
		r->searches[i].pid = 0;
		r->search_error = e;
		return e < 0 ? e : 1;
	}
	return -ENOENT;
}

static int recording_direct_view(struct recording *r, struct session_view *ret)
{
	session_view_of(r->session, ret);
	return 0;
}

static const struct recording_ops direct_ops = {
	.create = recording_direct_create,
	.start = recording_direct_start,
	.pollfd = recording_direct_pollfd,
	.dispatch = recording_direct_dispatch,
	.stop = recording_direct_stop,
	.snapshot = recording_direct_snapshot,
	.snapshot_state = recording_direct_snapshot_state,
	.snapshots_due = recording_direct_snapshots_due,
	.search = recording_direct_search,
	.search_state = recording_direct_search_state,
	.view = recording_direct_view,
};

/* ---- both ---- */

static int recording_choose_direct(struct recording *r)
{
	const char *text = "";
	int e = capabilities_check(&text);

	if (e < 0) {
		cli_error("cannot record in this process: %s", text);
		return e;
	}
	r->ops = &direct_ops;
	if (!proc_sees_all())
		cli_error(
			"this process is in a pid namespace of its own (a container): the "
			"recording contains the process ids of the host; functions have names, and "
			"stacks are complete, only in processes of the container that start "
			"during the recording");
	return 0;
}

int recording_new(const struct record_options *options, struct recording **ret)
{
	_cleanup_(recording_freep) struct recording *r = calloc(1, sizeof(*r));
	int e;

	if (!r)
		return -ENOMEM;
	r->poll_fd = -1;
	if (options->direct) {
		e = recording_choose_direct(r);
		if (e < 0)
			return e;
		*ret = TAKE_PTR(r);
		return 0;
	}
	r->client = bus_client_new();
	if (!r->client)
		return -ENOMEM;
	r->ops = &bus_ops;
	e = bus_client_connect(r->client, options->bus);
	if (e < 0 && (options->bus || bus_host_is_chosen() || geteuid() != 0)) {
		cli_error("%s%s", bus_client_error(r->client),
			  e != -ENXIO || options->bus || bus_host_is_chosen()
				  ? ""
				  : "; ask an administrator to start it, or record as root");
		return e;
	}
	if (e < 0) {
		cli_error("%s; recording in this process (--direct)", bus_client_error(r->client));
		e = recording_choose_direct(r);
		if (e < 0)
			return e;
	} else {
		client_check_version(r->client);
	}
	*ret = TAKE_PTR(r);
	return 0;
}

struct recording *recording_free(struct recording *r)
{
	if (!r)
		return NULL;
	session_free(r->session);
	provider_links_free(r->links);
	close_fd(r->poll_fd);
	/* The daemon removes the session when this process leaves the bus. */
	bus_client_free(r->client);
	free(r->path);
	return free_ptr(r);
}

int recording_create(struct recording *r, struct session_options *options, int output_fd,
		     bool (*interrupted)(void))
{
	return r->ops->create(r, options, output_fd, interrupted);
}

int recording_start(struct recording *r)
{
	return r->ops->start(r);
}

int recording_pollfd(struct recording *r, struct pollfd *ret)
{
	return r->ops->pollfd(r, ret);
}

int recording_dispatch(struct recording *r)
{
	return r->ops->dispatch(r);
}

int recording_stop(struct recording *r)
{
	return r->ops->stop(r);
}

int recording_snapshot(struct recording *r, int fd)
{
	return r->ops->snapshot(r, fd);
}

int recording_snapshot_state(struct recording *r)
{
	return r->ops->snapshot_state(r);
}

uint64_t recording_snapshots_due(struct recording *r)
{
	return r->ops->snapshots_due(r);
}

int recording_search(struct recording *r, uint32_t pid)
{
	return r->ops->search(r, pid);
}

int recording_search_state(struct recording *r, uint32_t pid)
{
	return r->ops->search_state(r, pid);
}

const char *recording_search_error(const struct recording *r)
{
	return r->client ? bus_client_error(r->client) : strerror(-r->search_error);
}

int recording_view(struct recording *r, struct session_view *ret)
{
	return r->ops->view(r, ret);
}
