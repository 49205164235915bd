/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo status: all that the daemon says of a session, or of every session.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/client-options.h"
#include "cli/json.h"
#include "cli/verb.h"

static void print_text(const struct session_view *v)
{
	char duration[TEXT_FORMAT_MAX], size[TEXT_FORMAT_MAX], cpu[TEXT_FORMAT_MAX];

	printf("%s\n", v->name);
	printf("    state:    %s%s%s%s\n", v->state, *v->reason ? " (" : "", v->reason,
	       *v->reason ? ")" : "");
	if (*v->error)
		printf("    error:    %s\n", v->error);
	printf("    owner:    %u\n", v->uid);
	printf("    duration: %s\n", text_format_time(duration, session_view_duration_ns(v)));
	printf("    events:   %" PRIu64 "\n", v->counters.events);
	for (size_t i = 0; i < CLASS_MAX; i++) {
		if (v->counters.lost[i])
			printf("    lost:     %" PRIu64 " of class %s\n", v->counters.lost[i],
			       event_class_names[i]);
	}
	printf("    bytes:    %s\n", text_format_size(size, v->counters.bytes));
	printf("    cost:     %s of CPU time\n", text_format_time(cpu, v->counters.daemon_cpu_ns));
	if (v->options)
		printf("    options:  %s\n",
		       json_object_to_json_string_ext(v->options,
						      JSON_C_TO_STRING_SPACED |
							      JSON_C_TO_STRING_NOSLASHESCAPE));
}

/* Prints the session at PATH, or adds it to LIST. */
static int show(struct bus_client *c, const char *path, struct json_object *list)
{
	_cleanup_(session_view_deinit) struct session_view v = { 0 };

	if (bus_client_view(c, path, &v) < 0)
		return client_failed(c);
	if (list)
		json_object_array_add(list, session_view_json(&v));
	else
		print_text(&v);
	return CLI_OK;
}

static int show_all(struct bus_client *c, struct json_object *list)
{
	struct bus_client_session *sessions;
	int r = CLI_OK;

	if (bus_client_list(c, &sessions) < 0)
		return client_failed(c);
	for (const struct bus_client_session *s = sessions; s->name && r == CLI_OK; s++)
		r = show(c, s->path, list);
	bus_client_list_free(sessions);
	return r;
}

static int show_one(struct bus_client *c, const char *name, struct json_object *list)
{
	_cleanup_free_ char *path = NULL;

	if (bus_client_find(c, name, &path) < 0)
		return client_failed(c);
	return show(c, path, list);
}

static int verb_status(int argc, char **argv)
{
	_cleanup_(bus_client_freep) struct bus_client *c = NULL;
	struct json_object *list = NULL;
	struct client_options o;
	int r;

	r = client_options_parse(argc, argv, CLIENT_JSON, &o);
	if (r != CLIENT_OPTIONS_GO)
		return r;
	if (o.n_rest > 1)
		return cli_usage_error("it takes one NAME, or none for all sessions");
	r = client_connect(&o, &c);
	if (r != CLI_OK)
		return r;
	if (o.json)
		list = json_object_new_array();
	r = o.n_rest ? show_one(c, o.rest[0], list) : show_all(c, list);
	if (list && r == CLI_OK)
		json_print_pretty(list);
	else
		json_object_put(list);
	return r;
}

const struct verb verb_status_row = {
	.name = "status",
	.synopsis = "[NAME] [OPTION ...]",
	.what = "Say how a session of the service is doing, or all of them",
	.options = "      --json         print it as JSON, an array\n" CLIENT_OPTIONS_HELP,
	.run = verb_status,
};
