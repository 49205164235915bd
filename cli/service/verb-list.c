/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo list: lists the sessions of the daemon, one per line.
 */
#include <stdio.h>

#include "cli/service/client-options.h"
#include "cli/common/json.h"
#include "cli/common/verb.h"

static void verb_list_print_json(const struct bus_client_session *list)
{
	size_t n = 0;

	while (list[n].name)
		n++;
	json_print_pretty(JSON_LIST(s, list, n, JSON_OBJECT(JSON_OF(s, name, state, path))));
}

static void verb_list_print_text(const struct bus_client_session *list)
{
	for (const struct bus_client_session *s = list; s->name; s++)
		printf("%-24s %-9s %s\n", s->name, s->state, s->path);
}

static int verb_list(int argc, char **argv)
{
	_cleanup_(bus_client_freep) struct bus_client *c = NULL;
	struct bus_client_session *list;
	struct client_options o;
	int r = client_begin(argc, argv, CLIENT_JSON, &o, &c);

	if (r != CLIENT_OPTIONS_GO)
		return r;
	if (bus_client_list(c, &list) < 0)
		return client_failed(c);
	if (o.json)
		verb_list_print_json(list);
	else
		verb_list_print_text(list);
	bus_client_list_free(list);
	return CLI_OK;
}

const struct verb verb_list_row = {
	.name = "list",
	.synopsis = "[OPTION ...]",
	.what = "List the sessions of the service",
	.examples = "  kymo list\n  kymo list --json\n",
	.options = "      --json         print the list as JSON\n" CLIENT_OPTIONS_HELP,
	.run = verb_list,
};
