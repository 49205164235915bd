/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo context: starts or ends a named period, to which allocations belong.
 */
#include <stdio.h>
#include <string.h>

#include "cli/service/client-options.h"
#include "cli/common/verb.h"

static int verb_context(int argc, char **argv)
{
	_cleanup_(bus_client_freep) struct bus_client *c = NULL;
	_cleanup_free_ char *path = NULL;
	struct client_options o;
	uint32_t bit = 0;
	bool begin;
	int r = client_options_parse(argc, argv, 0, &o);

	if (r != CLIENT_OPTIONS_GO)
		return r;
	if (o.n_rest != 3)
		return cli_usage_error("expected the NAME of a session, 'begin' or 'end', and the "
				       "name of a CONTEXT");
	begin = strcmp(o.rest[1], "begin") == 0;
	if (!begin && strcmp(o.rest[1], "end") != 0)
		return cli_usage_error("'%s' is neither 'begin' nor 'end'", o.rest[1]);
	r = client_find(&o, o.rest[0], &c, &path);
	if (r != CLI_OK)
		return r;
	r = begin ? bus_client_begin_context(c, path, o.rest[2], &bit)
		  : bus_client_end_context(c, path, o.rest[2]);
	if (r < 0)
		return client_failed(c);
	if (begin)
		printf("%u\n", bit);
	return CLI_OK;
}

const struct verb verb_context_row = {
	.name = "context",
	.synopsis = "NAME begin|end CONTEXT [OPTION ...]",
	.what = "Begin or end a named context for the allocations of a session",
	.examples = "  kymo context web begin request\n  kymo context web end request\n",
	.options = CLIENT_OPTIONS_HELP,
	.run = verb_context,
};
