/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo providers: lists the programs that are connected to the daemon, to write events of their
 * own.
 */
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "cli/bus/bus-host.h"
#include "cli/service/client-options.h"
#include "cli/common/json.h"
#include "cli/common/verb.h"
#include "reader/views/cgroup-names.h"

/*
 * Returns the name of the user, or the number if there is no name, or if the user is one of another
 * machine.
 */
static const char *verb_providers_user(uint32_t uid, bool is_here, char to[static 32])
{
	const struct passwd *user = is_here ? getpwuid(uid) : NULL;

	snprintf(to, 32, "%u", uid);
	return uid == 0 ? "root" : user ? user->pw_name : to;
}

static void verb_providers_print_json(const struct bus_client_providers *list)
{
	char unit[CGROUP_NAME_MAX];

	json_print_pretty(JSON_LIST(
		p, list->providers, list->n,
		JSON_OBJECT(JSON_OF(p, pid, name, uid, cgroup),
			    JSON("unit", cgroup_unit(unit, p->cgroup)),
			    JSON("categories", JSON_LIST(k, p->categories, p->n_categories,
							 JSON_OBJECT(JSON("name", k->name),
								     JSON("on", k->is_on)))),
			    JSON("sessions",
				 JSON_LIST(s, p->sessions, p->n_sessions,
					   JSON_OBJECT(JSON_OF(s, name, path, written, lost)))))));
}

static void verb_providers_print_text(const struct bus_client_providers *list, bool is_here)
{
	char unit[CGROUP_NAME_MAX], user[32];

	if (list->n)
		printf("%-8s %-24s %-12s %s\n", "PID", "PROGRAM", "USER", "UNIT");
	for (size_t i = 0; i < list->n; i++) {
		const struct bus_client_provider *p = &list->providers[i];

		printf("%-8u %-24s %-12s %s\n", p->pid, p->name,
		       verb_providers_user(p->uid, is_here, user), cgroup_unit(unit, p->cgroup));
		for (size_t k = 0; k < p->n_categories; k++)
			printf("%s%s%s", k ? ", " : "         categories: ", p->categories[k].name,
			       p->categories[k].is_on ? " (on)" : "");
		if (p->n_categories)
			putchar('\n');
		for (size_t k = 0; k < p->n_sessions; k++)
			printf("         session %s: %" PRIu64 " written, %" PRIu64 " lost\n",
			       p->sessions[k].name, p->sessions[k].written, p->sessions[k].lost);
	}
}

static int verb_providers(int argc, char **argv)
{
	_cleanup_(bus_client_freep) struct bus_client *c = NULL;
	_cleanup_(bus_client_providers_deinit) struct bus_client_providers list = { 0 };
	struct client_options o;
	int r = client_begin(argc, argv, CLIENT_JSON, &o, &c);

	if (r != CLIENT_OPTIONS_GO)
		return r;
	if (bus_client_providers(c, &list) < 0)
		return client_failed(c);
	if (o.json)
		verb_providers_print_json(&list);
	else
		verb_providers_print_text(&list, !bus_host_is_elsewhere());
	return CLI_OK;
}

const struct verb verb_providers_row = {
	.name = "providers",
	.synopsis = "[OPTION ...]",
	.what = "List the programs that write events of their own",
	.examples = "  kymo providers\n  kymo providers --json\n",
	.options = "      --json         print the list as JSON\n" CLIENT_OPTIONS_HELP,
	.run = verb_providers,
};
