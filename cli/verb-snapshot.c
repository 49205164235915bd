/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo snapshot: puts what processes have allocated and not freed into the archive of a session that runs.
 */
#include "cli/client-options.h"
#include "cli/verb.h"

static int verb_snapshot(int argc, char **argv)
{
	_cleanup_(bus_client_freep) struct bus_client *c = NULL;
	_cleanup_free_ char *path = NULL;
	struct client_options o;
	int r = client_options_parse(argc, argv, 0, &o);

	if (r != CLIENT_OPTIONS_GO)
		return r;
	if (o.n_rest != 1)
		return cli_usage_error("it takes the NAME of a session");
	r = client_find(&o, o.rest[0], &c, &path);
	if (r != CLI_OK)
		return r;
	return bus_client_snapshot_memory(c, path) < 0 ? client_failed(c) : CLI_OK;
}

const struct verb verb_snapshot_row = {
	.name = "snapshot",
	.synopsis = "NAME [OPTION ...]",
	.what = "Put what is allocated now into the archive of a running session",
	.options = CLIENT_OPTIONS_HELP,
	.run = verb_snapshot,
};
