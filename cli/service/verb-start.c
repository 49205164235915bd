/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo start: creates a session in the daemon and starts it. The session continues when the command
 * exits.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/service/client-options.h"
#include "cli/common/output-file.h"
#include "cli/options/record-options.h"
#include "cli/service/remote.h"
#include "cli/common/verb.h"

/*
 * Starts the session at PATH. The session needs its file as soon as it runs. So a signal during the
 * start is only noted, and afterwards, the session is removed before its file. (Loading the eBPF
 * programs can take seconds.)
 */
static int verb_start_run(struct bus_client *c, const char *path, const struct record_options *o,
			  bool *ret_may_run)
{
	int r;

	output_file_note_signals();
	r = bus_client_start_unless(c, path, output_file_is_interrupted);
	/* (the signal can arrive just before the answer) */
	if (r >= 0 && output_file_is_interrupted())
		r = -EINTR;
	if (r >= 0)
		return CLI_OK;
	if (r != -EINTR)
		client_failed(c);
	if (bus_client_remove(c, path) < 0 && r == -EINTR) {
		cli_error("the session may still start, because it cannot be removed: %s; 'kymo "
			  "stop %s' stops it",
			  bus_client_error(c), o->session.name);
		*ret_may_run = true;
	}
	return CLI_FAILED;
}

static int verb_start_make(struct bus_client *c, struct record_options *o,
			   struct output_file *output, bool *ret_may_run)
{
	_cleanup_free_ char *path = NULL;
	const struct bus_client_create_args args = {
		.options = &o->session,
		.output_fd = output->fd,
		.linger = true,
	};

	if (bus_client_create(c, &args, &path) < 0)
		return client_failed(c);
	if (output->fd >= 0 && output_file_begin(output) < 0) {
		bus_client_remove(c, path);
		return CLI_FAILED;
	}
	return verb_start_run(c, path, o, ret_may_run);
}

static int verb_start_check_options(struct record_options *o)
{
	const char *name = o->rest[0];

	if (o->n_rest != 1)
		return cli_usage_error("expected one NAME, for the new session");
	if (!session_name_valid(name))
		return cli_usage_error("'%s' is not a valid name for a session: use 1 to 64 "
				       "letters, digits and '_'",
				       name);
	if (o->session.mode == SESSION_FLIGHT && o->output)
		return cli_usage_error("-o cannot be used with --mode flight; to write an "
				       "archive, use 'kymo snapshot %s -o FILE'",
				       name);
	if (o->session.mode != SESSION_FLIGHT && !o->output)
		return cli_usage_error("no output: use -o FILE");
	strcpy(o->session.name, name);
	return CLI_OK;
}

static int verb_start(int argc, char **argv)
{
	_cleanup_(record_options_deinit) struct record_options o = { 0 };
	_cleanup_(bus_client_freep) struct bus_client *c = NULL;
	_cleanup_(output_file_deinit) struct output_file output = OUTPUT_FILE_NULL;
	const struct verb_option own[] = { RECORD_OPTION_ROWS(&o), { 0 } };
	int r = record_options_parse(argc, argv, OPTION_OF_START, own, &o);
	bool may_run = false;

	if (r != RECORD_OPTIONS_GO)
		return r;
	r = verb_start_check_options(&o);
	if (r != CLI_OK)
		return r;
	r = client_connect(&(struct client_options){ .bus = o.bus }, &c);
	if (r != CLI_OK)
		return r;
	if (o.output && output_file_open(o.output, "", o.force, &output) < 0)
		return CLI_FAILED;
	if (o.output)
		output_file_watch_signals(&output);
	r = verb_start_make(c, &o, &output, &may_run);
	if (r == CLI_OK || may_run)
		r = output_file_keep(&output) < 0 ? CLI_FAILED : r;
	else
		output_file_discard(&output);
	output_file_raise_noted();
	return r;
}

static void verb_start_print_options(void)
{
	record_options_help(OPTION_OF_START);
}

const struct verb verb_start_row = {
	.name = "start",
	.synopsis = "NAME [-o FILE] [OPTION ...]",
	.what = "Start a session in the service",
	.examples =
		"  kymo start web -o web.fxt --unit nginx\n  kymo start box --mode flight --keep 30s\n",
	.options =
		"  -o, --output=FILE          the archive; '-' is standard output; not with --mode=flight\n"
		"      --force                replace an existing file\n" REMOTE_HELP_WIDE
		"      --bus=ADDRESS          the bus of the service (the system bus)\n"
		"  -h, --help                 show this\n",
	.more_options = verb_start_print_options,
	.notes = "\n'kymo stop NAME' stops it.\n",
	.run = verb_start,
};
