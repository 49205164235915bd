/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo mark: puts a mark into the archive of a running session.
 */
#include <string.h>

#include "base/text.h"
#include "cli/service/client-options.h"
#include "cli/common/verb.h"

static int verb_mark(int argc, char **argv)
{
	_cleanup_(bus_client_freep) struct bus_client *c = NULL;
	_cleanup_free_ char *path = NULL;
	struct client_options o;
	char text[257]; /* the limit of archives */
	int r = client_options_parse(argc, argv, 0, &o);

	if (r != CLIENT_OPTIONS_GO)
		return r;
	if (o.n_rest != 2)
		return cli_usage_error("expected the NAME of a session and one TEXT");
	r = client_find(&o, o.rest[0], &c, &path);
	if (r != CLI_OK)
		return r;
	text_clean(text, sizeof(text), o.rest[1], strlen(o.rest[1]));
	return bus_client_mark(c, path, text) < 0 ? client_failed(c) : CLI_OK;
}

const struct verb verb_mark_row = {
	.name = "mark",
	.synopsis = "NAME TEXT [OPTION ...]",
	.what = "Write a mark into the archive of a running session",
	.examples = "  kymo mark web deployed\n  kymo mark web \"test 7 begins\"\n",
	.options = CLIENT_OPTIONS_HELP,
	.run = verb_mark,
};
