/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo record: makes a recording.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/record/record-job.h"
#include "cli/service/remote.h"
#include "cli/common/verb.h"

static int verb_record_check_options(const struct record_options *o)
{
	bool to_stdout = o->output && strcmp(o->output, "-") == 0;

	if (o->n_rest && !o->separated)
		return cli_usage_error("unexpected argument '%s'; a command comes after '--'",
				       o->rest[0]);
	if (!o->n_rest && o->separated)
		return cli_usage_error("there is no command after '--'");
	if (to_stdout && o->n_rest)
		return cli_usage_error("'-o -' and a command would both write to standard output");
	if (to_stdout && o->json)
		return cli_usage_error("'-o -' and '--json' would both write to standard output");
	return CLI_OK;
}

static int verb_record_run(int argc, char **argv)
{
	_cleanup_(record_job_deinit) struct record_job j = RECORD_JOB_NULL;
	const struct verb_option own[] = {
		RECORD_OPTION_ROWS(&j.options),
		OPTION_FLAG("direct", &j.options.direct),
		OPTION_FLAG("json", &j.options.json),
		{ 0 },
	};
	int r = record_options_parse(argc, argv, OPTION_OF_RECORD, own, &j.options);

	if (r != RECORD_OPTIONS_GO)
		return r;
	r = verb_record_check_options(&j.options);
	if (r != CLI_OK)
		return r;
	snprintf(j.options.session.name, sizeof(j.options.session.name), "record_%d", getpid());
	return record_job_exit(&j, record_job_run(&j));
}

static void verb_record_print_options(void)
{
	record_options_help(OPTION_OF_RECORD);
}

const struct verb verb_record_row = {
	.name = "record",
	.synopsis = "[OPTION ...] [-- COMMAND [ARGUMENT ...]]",
	.what = "Record the machine, until Ctrl-C, or while COMMAND runs",
	.examples =
		"  kymo record -d 5 -o t.fxt\n  kymo record -e default,offcpu -o make.fxt -- make\n",
	.options =
		"  -o, --output=FILE          archive (kymo-YYYYMMDD-HHMMSS.fxt); '-' is standard output\n"
		"      --force                replace an existing file\n"
		"      --direct               record in this process, without the service\n"
		"      --json                 print the result as JSON\n" REMOTE_HELP_WIDE
		"      --bus=ADDRESS          the bus of the service (the system bus)\n"
		"  -h, --help                 show this\n",
	.more_options = verb_record_print_options,
	.notes =
		"\nThe exit status is that of COMMAND; 126 if it cannot be executed, 127 if it does not\n"
		"exist, 128 + N if signal N killed it, and 125 if kymo failed.\n",
	.run = verb_record_run,
};
