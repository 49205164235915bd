/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/service/client-options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/common/verb.h"

enum { OPT_BUS = 256, OPT_JSON, OPT_DIRECT, OPT_FORCE, OPT_COMPRESS, OPT_ALL, OPT_REASON };

static const struct {
	unsigned flag; /* 0 = of every verb */
	struct option option;
} rows[] = {
	{ 0, { "bus", required_argument, NULL, OPT_BUS } },
	{ 0, { "help", no_argument, NULL, 'h' } },
	{ CLIENT_JSON, { "json", no_argument, NULL, OPT_JSON } },
	{ CLIENT_OUTPUT, { "force", no_argument, NULL, OPT_FORCE } },
	{ CLIENT_OUTPUT, { "compress", optional_argument, NULL, OPT_COMPRESS } },
	{ CLIENT_ALL, { "all", no_argument, NULL, OPT_ALL } },
	{ CLIENT_ALL, { "reason", required_argument, NULL, OPT_REASON } },
	{ CLIENT_DIRECT, { "direct", no_argument, NULL, OPT_DIRECT } },
};

int client_options_parse(int argc, char **argv, unsigned known, struct client_options *ret)
{
	struct option options[ARRAY_SIZE(rows) + 1] = { 0 };
	struct client_options o = { 0 };
	size_t n = 0;
	int c;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!rows[i].flag || rows[i].flag & known)
			options[n++] = rows[i].option;
	}
	while ((c = getopt_long(argc, argv,
				known & CLIENT_COUNT    ? ":hn:"
				: known & CLIENT_OUTPUT ? ":ho:"
							: ":h",
				options, NULL)) >= 0) {
		switch (c) {
		case OPT_BUS:
			o.bus = optarg;
			break;
		case OPT_JSON:
			o.json = true;
			break;
		case OPT_DIRECT:
			o.direct = true;
			break;
		case OPT_ALL:
			o.all = true;
			break;
		case OPT_REASON:
			o.reason = optarg;
			break;
		case 'o':
			if (*optarg == '\0')
				return cli_usage_error("-o: an empty name");
			o.output = optarg;
			break;
		case OPT_FORCE:
			o.force = true;
			break;
		case OPT_COMPRESS:
			o.compress = PACK_ZSTD;
			if (optarg && pack_parse(optarg, &o.compress) < 0)
				return cli_usage_error("--compress: '%s' is none of snappy, zstd "
						       "and gzip",
						       optarg);
			break;
		case 'n':
			if (text_parse_u64(optarg, UINT32_MAX, &o.count) < 0 || o.count == 0)
				return cli_usage_error("-n: '%s' is not a count", optarg);
			break;
		case 'h':
			return cli_help();
		default:
			return cli_bad_option(c, argv, options);
		}
	}
	o.rest = argv + optind;
	o.n_rest = argc - optind;
	*ret = o;
	return CLIENT_OPTIONS_GO;
}

int client_failed(const struct bus_client *c)
{
	cli_error("%s", bus_client_error(c));
	return CLI_FAILED;
}

void client_meet(const struct bus_client *c)
{
	static bool said;
	const char *version = bus_client_version(c);

	if (said || strcmp(version, KYMO_VERSION) == 0)
		return;
	said = true;
	fprintf(stderr, "kymo: this is version " KYMO_VERSION ", and the service is %s%s\n",
		*version ? "version " : "older, of a version that it does not say", version);
}

int client_connect(const struct client_options *o, struct bus_client **ret)
{
	_cleanup_(bus_client_freep) struct bus_client *c = bus_client_new();

	if (!c) {
		cli_error("out of memory");
		return CLI_FAILED;
	}
	if (bus_client_connect(c, o->bus) < 0) {
		cli_error("%s%s", bus_client_error(c),
			  o->bus || bus_client_is_elsewhere() ? ""
							      : "; it is started as root: kymod");
		return CLI_FAILED;
	}
	client_meet(c);
	*ret = TAKE_PTR(c);
	return CLI_OK;
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
