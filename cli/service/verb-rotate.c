/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo rotate: starts the next chunk of a session.
 */
#include "cli/service/client-options.h"
#include "cli/common/verb.h"

static int verb_rotate(int argc, char **argv)
{
	_cleanup_(bus_client_freep) struct bus_client *c = NULL;
	_cleanup_free_ char *path = NULL;
	struct client_options o;
	int r = client_options_parse(argc, argv, 0, &o);

	if (r != CLIENT_OPTIONS_GO)
		return r;
	if (o.n_rest != 1)
		return cli_usage_error("expected the NAME of a session");
	r = client_find(&o, o.rest[0], &c, &path);
	if (r != CLI_OK)
		return r;
	return bus_client_rotate(c, path) < 0 ? client_failed(c) : CLI_OK;
}

const struct verb verb_rotate_row = {
	.name = "rotate",
	.synopsis = "NAME [OPTION ...]",
	.what = "Complete the current chunk of a collection's session, and start another one",
	.examples = "  kymo rotate machine\n  kymo rotate stalls\n",
	.options = CLIENT_OPTIONS_HELP,
	.run = verb_rotate,
};
