/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/service/client-options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "capture/options/option-table.h"
#include "cli/bus/bus-host.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"

static int client_parse_output(void *to, char *value)
{
	if (*value == '\0')
		return cli_usage_error("%s: an empty name", verb_options_typed());
	*(const char **)to = value;
	return CLI_OK;
}

/* Parses the argument of --compress, like for a recording. */
static int client_parse_compress(void *to, char *value)
{
	struct session_options session = { 0 };
	const struct option_row *row = option_of_bus("compress");
	char why[VALUE_WHY_MAX];

	if (option_parse(row, &session, value ?: row->implied, why) < 0)
		return cli_usage_error("%s: %s", verb_options_typed(), why);
	*(enum pack_method *)to = session.compress;
	return CLI_OK;
}

int client_options_parse_count(void *to, char *value)
{
	char why[VALUE_WHY_MAX];

	if (value_parse(VALUE_COUNT, value, 1, UINT32_MAX, to, why) < 0)
		return cli_usage_error("%s: %s", verb_options_typed(), why);
	return CLI_OK;
}

int client_options_parse(int argc, char **argv, unsigned known, struct client_options *ret)
{
	struct client_options o = { 0 };
	const struct {
		unsigned flag; /* 0 = the option is for every verb */
		struct verb_option option;
	} rows[] = {
		{ 0, OPTION_TEXT("bus", 0, &o.bus) },
		{ CLIENT_JSON, OPTION_FLAG("json", &o.json) },
		{ CLIENT_OUTPUT, OPTION_VALUE("output", 'o', client_parse_output, &o.output) },
		{ CLIENT_OUTPUT, OPTION_FLAG("force", &o.force) },
		{ CLIENT_OUTPUT,
		  { "compress", 0, optional_argument, .parse = client_parse_compress,
		    .userdata = &o.compress } },
		{ CLIENT_ALL, OPTION_FLAG("all", &o.all) },
		{ CLIENT_ALL, OPTION_TEXT("reason", 0, &o.reason) },
		{ CLIENT_COUNT, OPTION_VALUE("count", 'n', client_options_parse_count, &o.count) },
		{ CLIENT_DIRECT, OPTION_FLAG("direct", &o.direct) },
	};
	struct verb_option options[ARRAY_SIZE(rows) + 1] = { 0 };
	size_t n = 0;
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!rows[i].flag || rows[i].flag & known)
			options[n++] = rows[i].option;
	r = verb_options_parse(argc, argv, options);
	if (r != VERB_OPTIONS_GO)
		return r;
	o.rest = argv + optind;
	o.n_rest = argc - optind;
	*ret = o;
	return CLIENT_OPTIONS_GO;
}

int client_failed(const struct bus_client *c)
{
	return cli_failed("%s", bus_client_error(c));
}

void client_check_version(const struct bus_client *c)
{
	static bool complained;
	const char *version = bus_client_version(c);

	if (complained || strcmp(version, KYMO_VERSION) == 0)
		return;
	complained = true;
	fprintf(stderr, "kymo: this is version " KYMO_VERSION ", and the service is %s%s\n",
		*version ? "version " : "an older one, of unknown version", version);
}

int client_connect(const struct client_options *o, struct bus_client **ret)
{
	_cleanup_(bus_client_freep) struct bus_client *c = bus_client_new();
	int r;

	if (!c)
		return cli_failed("out of memory");
	r = bus_client_connect(c, o->bus);
	if (r < 0)
		return cli_failed("%s%s", bus_client_error(c),
				  r != -ENXIO || o->bus || bus_host_is_chosen()
					  ? ""
					  : "; to start it, run 'kymod' as root");
	client_check_version(c);
	*ret = TAKE_PTR(c);
	return CLI_OK;
}

int client_begin(int argc, char **argv, unsigned known, struct client_options *ret,
		 struct bus_client **ret_client)
{
	int r = client_options_parse(argc, argv, known, ret);

	if (r != CLIENT_OPTIONS_GO)
		return r;
	if (ret->n_rest)
		return cli_usage_error("no argument is expected");
	r = client_connect(ret, ret_client);
	return r == CLI_OK ? CLIENT_OPTIONS_GO : r;
}

int client_find(const struct client_options *o, const char *name, struct bus_client **ret,
		char **ret_path)
{
	_cleanup_(bus_client_freep) struct bus_client *c = NULL;
	int r = client_connect(o, &c);

	if (r != CLI_OK)
		return r;
	if (bus_client_find(c, name, ret_path) < 0)
		return client_failed(c);
	*ret = TAKE_PTR(c);
	return CLI_OK;
}
