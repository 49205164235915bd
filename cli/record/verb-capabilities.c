/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo capabilities: shows the events that this machine can record, and the reasons why it cannot
 * record others. The daemon is asked, since it can have more rights. Without a daemon, this process
 * tests the capabilities itself.
 */
#include <stdio.h>

#include "capture/programs/capabilities.h"
#include "cli/bus/bus-host.h"
#include "cli/service/client-options.h"
#include "cli/common/json.h"
#include "cli/common/verb.h"

static int verb_capabilities(int argc, char **argv)
{
	_cleanup_(bus_client_freep) struct bus_client *c = bus_client_new();
	struct capability caps[CAPABILITIES_MAX];
	struct client_options o;
	int n, r = client_options_parse(argc, argv, CLIENT_JSON | CLIENT_DIRECT, &o);

	if (r != CLIENT_OPTIONS_GO)
		return r;
	if (o.n_rest)
		return cli_usage_error("no argument is expected");
	if (!c)
		return cli_failed("out of memory");
	if (o.direct) {
		n = capabilities_probe(caps);
	} else if (bus_client_connect(c, o.bus) >= 0) {
		n = bus_client_capabilities(c, caps);
		if (n < 0)
			return client_failed(c);
	} else if (o.bus || bus_host_is_elsewhere()) {
		return client_failed(c);
	} else {
		fprintf(stderr, "kymo capabilities: %s; checking in this process\n",
			bus_client_error(c));
		n = capabilities_probe(caps);
	}
	if (o.json)
		json_print_pretty(
			JSON_MAP(cap, caps, n,
				 JSON(cap->name, JSON_OBJECT(JSON_OF(cap, available, detail)))));
	for (int i = 0; i < n && !o.json; i++)
		printf("%-16s %-4s %s\n", caps[i].name, caps[i].available ? "yes" : "no",
		       caps[i].detail);
	return CLI_OK;
}

const struct verb verb_capabilities_row = {
	.name = "capabilities",
	.synopsis = "[OPTION ...]",
	.what = "List the events that this machine can record, and why it cannot record others",
	.examples = "  kymo capabilities\n  kymo capabilities --direct --json\n",
	.options = "      --direct       check in this process, not in the service\n"
		   "      --json         print it as JSON\n" CLIENT_OPTIONS_HELP,
	.run = verb_capabilities,
};
