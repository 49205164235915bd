/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo monitor: prints the counters of one or all sessions each second: totals, and changes since
 * the previous line.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/service/client-options.h"
#include "cli/common/json.h"
#include "cli/common/verb.h"

static volatile sig_atomic_t interrupted;

static void verb_monitor_on_signal(int signal)
{
	interrupted = 1;
}

/* The last output of a session, for rates. */
struct last {
	char path[128];
	uint64_t events;
};

enum { LAST_MAX = 64 };

/* Returns the entry of PATH, which is added if it is new. NULL = there are too many entries. */
static struct last *verb_monitor_last_of(struct last *list, const char *path)
{
	for (size_t i = 0; i < LAST_MAX; i++) {
		if (*list[i].path == '\0')
			snprintf(list[i].path, sizeof(list[i].path), "%s", path);
		if (strcmp(list[i].path, path) == 0)
			return &list[i];
	}
	return NULL;
}

static void verb_monitor_print_text(const struct session_view *v, uint64_t new_events)
{
	printf("%-24s %-9s %9s %12" PRIu64 " events %10" PRIu64 " new %8" PRIu64
	       " lost %10s  cpu %s + %s, %.2f%%\n",
	       v->name, v->state, TEXT_TIME(session_view_duration_ns(v)), v->counters.events,
	       new_events, session_view_lost(v), TEXT_SIZE(v->counters.bytes),
	       TEXT_TIME(v->counters.daemon_cpu_ns), TEXT_TIME(v->counters.bpf.ns),
	       (double)v->counters.cost_ppm / 1e4);
}

static void verb_monitor_print(const struct session_view *v, const char *path, struct last *list,
			       bool json)
{
	struct last *last = verb_monitor_last_of(list, path);
	uint64_t new_events = v->counters.events;

	/* If the count has decreased, this is a new session with the name of a removed session. */
	if (last && last->events <= new_events)
		new_events -= last->events;
	if (last)
		last->events = v->counters.events;
	if (json)
		json_print_line(session_view_json(v));
	else
		verb_monitor_print_text(v, new_events);
}

static int verb_monitor_show(struct bus_client *c, const char *path, struct last *list, bool json)
{
	_cleanup_(session_view_deinit) struct session_view v = { 0 };

	if (bus_client_view(c, path, &v) < 0)
		return client_failed(c);
	verb_monitor_print(&v, path, list, json);
	return CLI_OK;
}

static int verb_monitor_show_all(struct bus_client *c, struct last *list, bool json)
{
	struct bus_client_session *sessions;

	if (bus_client_list(c, &sessions) < 0)
		return client_failed(c);
	for (const struct bus_client_session *s = sessions; s->name; s++) {
		_cleanup_(session_view_deinit) struct session_view v = { 0 };

		/* (the session may have been removed meanwhile) */
		if (bus_client_view(c, s->path, &v) >= 0)
			verb_monitor_print(&v, s->path, list, json);
	}
	bus_client_list_free(sessions);
	return CLI_OK;
}

/* Prints the counters each second, until Ctrl-C, or for the requested number of rounds. */
static int verb_monitor_watch(struct bus_client *c, const struct client_options *o,
			      const char *path)
{
	struct last list[LAST_MAX] = { 0 };
	uint64_t n = 0;
	int r = CLI_OK;

	while (!interrupted && r == CLI_OK) {
		r = path ? verb_monitor_show(c, path, list, o->json)
			 : verb_monitor_show_all(c, list, o->json);
		if (fflush(stdout) != 0)
			return CLI_OK; /* the dispatcher reports the error */
		if (o->count && ++n == o->count)
			break;
		sleep(1); /* a signal ends the sleep early */
	}
	return r;
}

static int verb_monitor(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = verb_monitor_on_signal };
	_cleanup_(bus_client_freep) struct bus_client *c = NULL;
	_cleanup_free_ char *path = NULL;
	struct client_options o;
	int r = client_options_parse(argc, argv, CLIENT_JSON | CLIENT_COUNT, &o);

	if (r != CLIENT_OPTIONS_GO)
		return r;
	if (o.n_rest > 1)
		return cli_usage_error("expected one NAME, or none for all sessions");
	r = o.n_rest ? client_find(&o, o.rest[0], &c, &path) : client_connect(&o, &c);
	if (r != CLI_OK)
		return r;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	return verb_monitor_watch(c, &o, path);
}

const struct verb verb_monitor_row = {
	.name = "monitor",
	.synopsis = "[NAME] [OPTION ...]",
	.what = "Show the counters of a session, or of all sessions, each second",
	.examples = "  kymo monitor web\n  kymo monitor -n 10 --json\n",
	.options = "  -n, --count=COUNT  stop after COUNT outputs\n"
		   "      --json         print one line of JSON each time\n" CLIENT_OPTIONS_HELP,
	.run = verb_monitor,
};
