/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo record: one loop over the recording, signals and a clock for the progress line, until the
 * session has finished, whoever ended it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/json.h"
#include "cli/output-file.h"
#include "cli/record-loop.h"
#include "cli/record-options.h"
#include "cli/recording.h"
#include "cli/run-command.h"
#include "cli/verb.h"

#define PROGRESS_MS 500

struct job {
	struct record_options options;
	struct output_file output;
	struct recording *recording;
	struct run_command command;
	struct record_loop loop;
	bool with_progress;
	uint64_t next_progress_ns;
};

static void job_deinit(struct job *j)
{
	recording_free(j->recording);
	output_file_deinit(&j->output);
	record_options_deinit(&j->options);
	record_loop_deinit(&j->loop);
}

static int check_options(const struct record_options *o)
{
	bool to_stdout = o->output && strcmp(o->output, "-") == 0;

	if (o->n_rest && !o->separated)
		return cli_usage_error("unexpected argument '%s'; a command comes after '--'",
				       o->rest[0]);
	if (!o->n_rest && o->separated)
		return cli_usage_error("there is no command after '--'");
	if (to_stdout && o->n_rest)
		return cli_usage_error("'-o -' and a command would write to the same place");
	if (to_stdout && o->json)
		return cli_usage_error("'-o -' and '--json' would write to the same place");
	return CLI_OK;
}

static void clear_progress(const struct job *j)
{
	if (j->with_progress)
		fputs("\r\033[K", stderr);
}

static void show_progress(struct job *j)
{
	char time[TEXT_FORMAT_MAX], size[TEXT_FORMAT_MAX];
	struct session_view v;

	if (!j->with_progress || clock_boot_ns() < j->next_progress_ns)
		return;
	j->next_progress_ns = clock_boot_ns() + PROGRESS_MS * UINT64_C(1000000);
	if (recording_view(j->recording, &v) < 0)
		return;
	fprintf(stderr, "\r%s  %" PRIu64 " events  %" PRIu64 " lost  %s\033[K",
		text_format_time(time, session_view_duration_ns(&v)), v.counters.events,
		session_view_lost(&v), text_format_size(size, v.counters.bytes));
	fflush(stderr);
	session_view_deinit(&v);
}

static void tick(void *userdata)
{
	show_progress(userdata);
}

static bool command_has_ended(void *userdata)
{
	struct job *j = userdata;

	return run_command_poll(&j->command);
}

/* Until all is written. Returns 0 or a negative errno. */
static int wait_finished(struct job *j)
{
	int r = record_loop_run(&j->loop);

	clear_progress(j);
	if (r == -EINTR)
		cli_error("interrupted again: the archive is left without its end");
	return r;
}

static int start_command(struct job *j)
{
	int r;

	if (j->options.n_rest == 0)
		return 0;
	r = run_command_start(&j->command, j->options.rest, &j->loop.mask);
	if (r < 0)
		cli_error("cannot execute %s: %s", j->options.rest[0], strerror(-r));
	return r;
}

static void print_json(const struct job *j, const struct session_view *v)
{
	struct json_object *o = session_view_json(v);

	json_add_bytes(o, "file", j->output.path, strlen(j->output.path));
	json_print_pretty(o);
}

static int report(struct job *j)
{
	_cleanup_(session_view_deinit) struct session_view v = { 0 };
	int status;

	if (recording_view(j->recording, &v) < 0)
		return CLI_FAILED;
	if (j->options.n_rest)
		run_command_report(&j->command, j->options.rest[0]);
	status = session_view_report(&v, j->output.path);
	if (j->options.json)
		print_json(j, &v);
	output_file_discard_empty(&j->output);
	return status;
}

static int record(struct job *j)
{
	int r;

	if (recording_start(j->recording) < 0) {
		output_file_discard(&j->output);
		return CLI_FAILED;
	}
	r = start_command(j);
	if (r < 0) {
		/* Nothing that was asked for has been recorded. */
		if (record_loop_stop(&j->loop) >= 0)
			wait_finished(j);
		output_file_discard(&j->output);
		return CLI_FAILED;
	}
	if (wait_finished(j) < 0) {
		output_file_discard_empty(&j->output);
		return CLI_FAILED;
	}
	return report(j);
}

static int run(int argc, char **argv)
{
	_cleanup_(job_deinit) struct job j = { .output = OUTPUT_FILE_NULL,
					       .loop = RECORD_LOOP_NULL };
	int r;

	r = record_options_parse(argc, argv, RECORD_OPTIONS_RECORD, &j.options);
	if (r != RECORD_OPTIONS_GO)
		return r;
	r = check_options(&j.options);
	if (r != CLI_OK)
		return r;
	snprintf(j.options.session.name, sizeof(j.options.session.name), "record_%d", getpid());
	j.with_progress = isatty(STDERR_FILENO);
	j.loop.wants_stop = command_has_ended;
	j.loop.userdata = &j;
	if (j.with_progress) {
		j.loop.tick = tick;
		j.loop.interval_ms = PROGRESS_MS;
	}
	if (record_loop_init(&j.loop) < 0)
		return CLI_FAILED;
	if (recording_new(&j.options, &j.recording) < 0 ||
	    output_file_open(j.options.output, pack_ops(j.options.session.compress)->suffix,
			     j.options.force, &j.output) < 0)
		return CLI_FAILED;
	j.loop.recording = j.recording;
	if (recording_create(j.recording, &j.options.session, j.output.fd) < 0 ||
	    output_file_begin(&j.output) < 0) {
		output_file_discard(&j.output);
		return CLI_FAILED;
	}
	return record(&j);
}

const struct verb verb_record_row = {
	.name = "record",
	.synopsis = "[OPTION ...] [-- COMMAND [ARGUMENT ...]]",
	.what = "Record what the machine does, until Ctrl-C, or while COMMAND runs",
	.options =
		"  -o FILE             the archive (kymo-YYYYMMDD-HHMMSS.fxt); '-' is a pipe\n" RECORD_OPTIONS_HELP
		"  --direct            record in this process, without the service\n"
		"  --json              print what became of it as JSON\n"
		"  --bus ADDRESS       the bus of the service (the system bus)\n",
	.run = run,
};
