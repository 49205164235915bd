/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo collect: the command of kymo-collect@NAME.service. The command creates a session of the
 * collection and runs as long as the session, so that the unit has the state of the session. The
 * command's output goes to the journal.
 *
 * If the service dies, the command creates a session again. This starts the service, so that the
 * collection continues. The command waits longer each time, in case the service cannot run. It also
 * waits if the output cannot be written: a full disk can stay full for a while, and each start
 * loads programs into the kernel and unloads them.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/bus/bus-notify.h"
#include "cli/service/client-options.h"
#include "cli/common/verb.h"
#include "capture/options/collection.h"

#define WAIT_MS_MIN        100
#define WAIT_MS_MAX        5000
#define STATUS_MS          10000 /* interval of updates of the status */
#define OUTPUT_WAIT_MS_MIN 1000
#define OUTPUT_WAIT_MS_MAX 60000
#define LONG_ENOUGH_NS                                                                             \
	UINT64_C(10000000000) /* after a session of this length, the waiting time is reset */
#define OUTPUT_LONG_ENOUGH_NS UINT64_C(60000000000) /* like LONG_ENOUGH_NS, if output failed */

/* The result of a session that is followed by another one; other values are the exit status. */
enum { AGAIN = -1 };

struct collect {
	const char *name, *bus;
	int signal_fd;
	bool ready;   /* systemd was notified that the command is ready */
	bool stopped; /* a signal has stopped the command: it ends after the session */
	int wait_ms, output_wait_ms;
	uint64_t began_ns;         /* begin of the session */
	char *path;                /* path of the session */
	char last_complaint[1024]; /* the last complaint */
};

/* Prints a complaint, unless it is the same as the last one. */
static void verb_collect_complain(struct collect *k, const struct bus_client *c)
{
	char now[sizeof(k->last_complaint)];

	snprintf(now, sizeof(now), "%s", bus_client_error(c));
	if (strcmp(now, k->last_complaint) != 0)
		cli_error("%s: %s", k->name, bus_client_error(c));
	strcpy(k->last_complaint, now);
}

/* ---- signals ---- */

static int verb_collect_open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The next pending signal, or 0. */
static int verb_collect_next_signal(const struct collect *k)
{
	struct signalfd_siginfo info;

	return read(k->signal_fd, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0;
}

static void verb_collect_handle_signals(struct collect *k, struct bus_client *c)
{
	int signo;

	while ((signo = verb_collect_next_signal(k))) {
		if (signo == SIGHUP && c && k->path) {
			bus_notify_reloading();
			if (bus_client_request_rotate(c, k->path) < 0)
				cli_error("%s: %s", k->name, bus_client_error(c));
			bus_notify_ready("Recording");
		} else if (signo != SIGHUP && !k->stopped) {
			k->stopped = true;
			bus_notify_stopping();
			if (c && k->path && bus_client_request_stop(c, k->path) < 0)
				cli_error("%s: %s", k->name, bus_client_error(c));
		}
	}
}

/* Waits for *WAIT_MS, or until the command must end. Then doubles *WAIT_MS, up to MAX_MS. STATUS
 * describes the reason. */
static int verb_collect_wait_and_double(struct collect *k, int *wait_ms, int max_ms,
					const char *status)
{
	struct pollfd fd = { k->signal_fd, POLLIN, 0 };

	if (!k->ready)
		bus_notify_ready(status);
	else
		bus_notify_status(status);
	k->ready = true;
	poll(&fd, 1, *wait_ms);
	*wait_ms = *wait_ms * 2 > max_ms ? max_ms : *wait_ms * 2;
	verb_collect_handle_signals(k, NULL);
	return k->stopped ? CLI_OK : AGAIN;
}

static int verb_collect_wait_and_try_again(struct collect *k, const char *status)
{
	return verb_collect_wait_and_double(k, &k->wait_ms, WAIT_MS_MAX, status);
}

/* ---- a session ---- */

static void verb_collect_print_status(const struct session_view *v)
{
	char text[160], lost[48] = "nothing lost";
	uint64_t n = session_view_lost(v);

	for (size_t i = 0; i < v->n_sheds; i++) {
		if (v->sheds[i].what != SHED_SESSION)
			continue;
		bus_notify_status("Paused: recording costs more than MaxOverhead=");
		return;
	}
	if (n)
		snprintf(lost, sizeof(lost), "%" PRIu64 " records lost", n);
	snprintf(text, sizeof(text), "Recording: %" PRIu64 " events, %s, %s", v->counters.events,
		 TEXT_SIZE(v->counters.bytes), lost);
	bus_notify_status(text);
}

/* Follows the session until it has ended. Returns 0, or a negative errno when the service has
 * exited. */
static int verb_collect_follow(struct collect *k, struct bus_client *c)
{
	uint64_t told_ns = clock_read_ns(CLOCK_MONOTONIC), now;
	struct pollfd fds[2];
	int r, timeout;

	while ((r = bus_client_dispatch(c)) == 0) {
		now = clock_read_ns(CLOCK_MONOTONIC);
		if (now - told_ns >= STATUS_MS * UINT64_C(1000000)) {
			told_ns = now;
			verb_collect_print_status(bus_client_seen(c));
		}
		timeout = bus_client_pollfd(c, &fds[0]);
		fds[1] = (struct pollfd){ k->signal_fd, POLLIN, 0 };
		if (poll(fds, 2, timeout) > 0 && fds[1].revents)
			verb_collect_handle_signals(k, c);
	}
	return r < 0 ? r : 0;
}

/* Returns the exit status for a session that has ended. */
static int verb_collect_report(const struct collect *k, const struct session_view *v)
{
	int r = session_view_report(v, k->name);

	fprintf(stderr, "%s: ended: %s\n", k->name, *v->reason ? v->reason : v->state);
	/*
	 * Losses are recorded in the archive, and do not make the unit fail. A session that was
	 * reduced or stopped because of its overhead makes the unit fail.
	 */
	if (r == CLI_DAMAGE && strcmp(v->reason, "overhead") != 0)
		r = CLI_OK;
	return r;
}

static bool verb_collect_is_of_stopped_service(const struct session_view *v)
{
	return strcmp(v->reason, "service stopped") == 0;
}

/* Returns true if the collection continues after the end of the session. */
static bool verb_collect_continues(const struct collect *k, const struct session_view *v)
{
	return !k->stopped && (strcmp(v->reason, COLLECTION_REASON_OUTDATED) == 0 ||
			       verb_collect_is_of_stopped_service(v));
}

static bool verb_collect_has_run(const struct collect *k, uint64_t ns)
{
	return clock_read_ns(CLOCK_MONOTONIC) - k->began_ns >= ns;
}

/* Waits until the output may work again; some errors need an administrator. */
static int verb_collect_wait_for_output(struct collect *k, const struct session_view *v)
{
	char status[sizeof(v->error) + 64];

	if (verb_collect_has_run(k, OUTPUT_LONG_ENOUGH_NS))
		k->output_wait_ms = OUTPUT_WAIT_MS_MIN;
	snprintf(status, sizeof(status), "Not recording: %s; trying again in %d s", v->error,
		 k->output_wait_ms / 1000);
	fprintf(stderr, "%s: trying again in %d s\n", k->name, k->output_wait_ms / 1000);
	return verb_collect_wait_and_double(k, &k->output_wait_ms, OUTPUT_WAIT_MS_MAX, status);
}

/* Handles the end of the session. */
static int verb_collect_finish(struct collect *k, struct bus_client *c)
{
	_cleanup_(session_view_deinit) struct session_view v = { 0 };
	int r;

	if (bus_client_view(c, k->path, &v) < 0 && bus_client_last(c, &v) < 0)
		return client_failed(c);
	r = verb_collect_report(k, &v);
	/* The session must be removed, except those of a stopping service: these are stored, and
	 * the next service has them. */
	if (!verb_collect_is_of_stopped_service(&v))
		bus_client_remove(c, k->path);
	if (!k->stopped && strcmp(v.reason, "output failed") == 0)
		return verb_collect_wait_for_output(k, &v);
	return verb_collect_continues(k, &v)
		       ? verb_collect_wait_and_try_again(k, "Restarting the recording")
		       : r;
}

/* Returns true if the output of the session failed before its start was reported. */
static bool verb_collect_has_failed_output(const struct collect *k, struct bus_client *c)
{
	_cleanup_(session_view_deinit) struct session_view v = { 0 };

	return bus_client_view(c, k->path, &v) == 0 && strcmp(v.reason, "output failed") == 0;
}

static int verb_collect_run_session(struct collect *k, struct bus_client *c)
{
	char status[160];
	int r;

	k->began_ns = clock_read_ns(CLOCK_MONOTONIC);
	if (bus_client_watch(c, k->path) < 0 || bus_client_start(c, k->path) < 0) {
		if (verb_collect_has_failed_output(k, c))
			return verb_collect_finish(k, c);
		verb_collect_complain(k, c);
		bus_client_remove(c, k->path);
		return verb_collect_wait_and_try_again(k, "Could not start; trying again");
	}
	snprintf(status, sizeof(status), "Recording the collection %s", k->name);
	bus_notify_ready(status);
	k->ready = true;
	*k->last_complaint = '\0';
	r = verb_collect_follow(k, c);
	if (verb_collect_has_run(k, LONG_ENOUGH_NS))
		k->wait_ms = WAIT_MS_MIN;
	if (r == 0)
		return verb_collect_finish(k, c);
	verb_collect_complain(k, c);
	return verb_collect_wait_and_try_again(k, "The service has ended; starting it again");
}

/* Runs one session, with a connection of its own. Returns AGAIN, or an enum cli_exit. */
static int verb_collect_once(struct collect *k)
{
	_cleanup_(bus_client_freep) struct bus_client *c = bus_client_new();
	_cleanup_free_ char *path = NULL;
	int r;

	if (!c)
		return cli_failed("out of memory");
	if (bus_client_connect(c, k->bus) < 0) {
		verb_collect_complain(k, c);
		return verb_collect_wait_and_try_again(k, "Waiting for the service");
	}
	r = bus_client_create_profile(c, k->name, &path);
	if (r < 0)
		verb_collect_complain(k, c);
	if (r == -EBADMSG)
		return CLI_USAGE;
	if (r == -EAGAIN)
		return verb_collect_wait_and_try_again(k, bus_client_error(c));
	if (r < 0)
		return verb_collect_wait_and_try_again(
			k, "The service refused the request; trying again");
	k->path = path;
	r = verb_collect_run_session(k, c);
	k->path = NULL;
	return r;
}

static int verb_collect(int argc, char **argv)
{
	struct collect k = { .wait_ms = WAIT_MS_MIN, .output_wait_ms = OUTPUT_WAIT_MS_MIN };
	struct client_options o;
	int r = client_options_parse(argc, argv, 0, &o);

	if (r != CLIENT_OPTIONS_GO)
		return r;
	if (o.n_rest != 1)
		return cli_usage_error(
			"expected the NAME of a collection; 'kymo verify-profile' checks it");
	k.name = o.rest[0];
	k.bus = o.bus;
	k.signal_fd = verb_collect_open_signals();
	if (k.signal_fd < 0)
		return cli_failed("cannot wait for signals: %s", strerror(errno));
	while ((r = verb_collect_once(&k)) == AGAIN)
		;
	close(k.signal_fd);
	return r;
}

const struct verb verb_collect_row = {
	.name = "collect",
	.synopsis = "NAME [OPTION ...]",
	.what = "Record a collection until stopped (kymo-collect@NAME.service)",
	.examples = "  systemctl start kymo-collect@machine\n  kymo collect machine\n",
	.options = CLIENT_OPTIONS_HELP,
	.run = verb_collect,
};
