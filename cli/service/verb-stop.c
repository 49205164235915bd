/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo stop: ends a session of the daemon, waits until its archive is complete, reports the result,
 * and removes it.
 */
#include <stdio.h>
#include <string.h>

#include "cli/service/client-options.h"
#include "cli/common/json.h"
#include "cli/common/verb.h"

static int verb_stop_one(struct bus_client *c, const char *path, bool json)
{
	_cleanup_(session_view_deinit) struct session_view v = { 0 };
	char why[512];
	int r, stopped = 0;

	if (bus_client_view(c, path, &v) < 0)
		return client_failed(c);
	/* A session that was never started has no archive. */
	if (strcmp(v.state, session_state_names[SESSION_READY]) != 0)
		stopped = bus_client_stop(c, path);
	session_view_deinit(&v);
	if (stopped < 0)
		snprintf(why, sizeof(why), "%s", bus_client_error(c));
	if (bus_client_view(c, path, &v) < 0)
		return client_failed(c);
	/*
	 * The call of Stop was refused. The session is not removed either, since this would ask for
	 * another password.
	 */
	if (stopped < 0 && strcmp(v.state, session_state_names[SESSION_RUNNING]) == 0)
		return cli_failed("%s", why);
	if (stopped < 0 && !*v.error)
		cli_error("%s", why); /* otherwise, the report has the reason */
	if (bus_client_remove(c, path) < 0)
		return client_failed(c);
	r = session_view_report(&v, v.name);
	if (json)
		json_print_pretty(session_view_json(&v));
	return r;
}

static int verb_stop(int argc, char **argv)
{
	_cleanup_(bus_client_freep) struct bus_client *c = NULL;
	_cleanup_free_ char *path = NULL;
	struct client_options o;
	int r = client_options_parse(argc, argv, CLIENT_JSON, &o);

	if (r != CLIENT_OPTIONS_GO)
		return r;
	if (o.n_rest != 1)
		return cli_usage_error("expected one NAME of a session; 'kymo list' shows them");
	r = client_find(&o, o.rest[0], &c, &path);
	return r == CLI_OK ? verb_stop_one(c, path, o.json) : r;
}

const struct verb verb_stop_row = {
	.name = "stop",
	.synopsis = "NAME [OPTION ...]",
	.what = "Stop a session of the service, complete its archive and remove it",
	.examples = "  kymo stop web\n  kymo stop web --json\n",
	.options = "      --json         print the result as JSON\n" CLIENT_OPTIONS_HELP,
	.run = verb_stop,
};
