/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/record/record-job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/common/json.h"
#include "cli/common/verb.h"

#define PROGRESS_MS 500
#define DYING_MS    1000

enum { SNAPSHOTS_A_SECOND = 100 };

void record_job_deinit(struct record_job *j)
{
	run_command_cancel(&j->command);
	exit_hold_end(&j->exits.hold);
	recording_free(j->recording);
	output_file_deinit(&j->snapshot);
	output_file_deinit(&j->output);
	record_options_deinit(&j->options);
	recording_request_deinit(&j->asked);
	probed_files_deinit(&j->probed);
	record_loop_deinit(&j->loop);
}

static void record_job_clear_progress(const struct record_job *j)
{
	if (j->with_progress)
		fputs("\r\033[K", stderr);
}

static void record_job_show_progress(struct record_job *j)
{
	struct session_view v;

	if (!j->with_progress || clock_boot_ns() < j->next_progress_ns)
		return;
	j->next_progress_ns = clock_boot_ns() + PROGRESS_MS * UINT64_C(1000000);
	if (recording_view(j->recording, &v) < 0)
		return;
	fprintf(stderr, "\r%s  %" PRIu64 " events  %" PRIu64 " lost  %s\033[K",
		TEXT_TIME(session_view_duration_ns(&v)), v.counters.events, session_view_lost(&v),
		TEXT_SIZE(v.counters.bytes));
	fflush(stderr);
	session_view_deinit(&v);
}

static void record_job_tick(void *userdata)
{
	record_job_show_progress(userdata);
}

static bool record_job_command_has_ended(void *userdata)
{
	struct record_job *j = userdata;

	exit_hold_wake(&j->exits.hold);
	return run_command_poll(&j->command);
}

/* Waits for the end of the command, if it was held at its exit until now. */
static void record_job_wait_for_command(struct record_job *j)
{
	const struct timespec nap = { .tv_nsec = 1000000 };

	for (unsigned ms = 0; ms < DYING_MS && !run_command_poll(&j->command); ms++)
		nanosleep(&nap, NULL);
}

/* Waits until all data is written. Returns 0 or a negative errno. */
static int record_job_wait_finished(struct record_job *j)
{
	int r = record_loop_run(&j->loop);

	record_job_clear_progress(j);
	if (exit_search_end(&j->exits))
		record_job_wait_for_command(j);
	if (r == -EINTR)
		cli_error("interrupted again; the archive is truncated");
	return r;
}

/* Says that the command could not be executed, with the error R. */
static void record_job_explain_command(const struct record_job *j, int r)
{
	const char *command = j->options.rest[0];
	struct stat st;
	bool there = stat(command, &st) == 0, is_directory = there && S_ISDIR(st.st_mode);
	bool is_path = strchr(command, '/');

	if (is_directory && (is_path ? r == -EACCES : r == -ENOENT))
		cli_error("cannot execute %s: it is a directory", command);
	else if (r == -ENOENT && !is_path && there && access(command, X_OK) == 0)
		cli_error("cannot execute %s: it is not in PATH; for the file in this directory, "
			  "use './%s'",
			  command, command);
	else
		cli_error("cannot execute %s: %s", command,
			  r == -ECHILD ? "its process exited first" : strerror(-r));
}

static int record_job_start_command(struct record_job *j)
{
	int r;

	if (j->options.n_rest == 0)
		return 0;
	r = j->command.prepared ? run_command_exec(&j->command)
				: run_command_start(&j->command, j->options.rest, &j->loop.mask);
	if (r == -EINTR) {
		cli_error("interrupted: the kernel did not finish executing %s, so its process was "
			  "killed; nothing was recorded",
			  j->options.rest[0]);
		j->command_status = CLI_SIGNALLED + record_loop_interrupted_by();
	} else if (r < 0) {
		record_job_explain_command(j, r);
		j->command_status = r == -ENOENT ? CLI_NOT_FOUND : CLI_NOT_EXECUTABLE;
	}
	return r;
}

static const char *record_job_suffix(const struct record_job *j)
{
	return pack_ops(j->compress)->suffix;
}

/* ---- snapshots ---- */

/*
 * Returns a new file name: FILE-20261120-190834.fxt for FILE.fxt, whose suffix must be known; the
 * second file has -2.fxt.
 */
static char *record_job_snapshot_path(const struct record_job *j)
{
	char number[16] = "";
	const char *path = j->options.output, *end;
	time_t now = time(NULL);
	char moment[32], *ret;
	struct tm tm;

	strftime(moment, sizeof(moment), "%Y%m%d-%H%M%S", localtime_r(&now, &tm));
	end = strstr(path, ".fxt");
	if (!end)
		end = path + strlen(path);
	for (unsigned n = 2;; n++) {
		if (asprintf(&ret, "%.*s-%s%s%s", (int)(end - path), path, moment, number, end) < 0)
			return NULL;
		if (n > SNAPSHOTS_A_SECOND || access(ret, F_OK) < 0)
			return ret;
		free(ret);
		snprintf(number, sizeof(number), "-%u", n);
	}
}

static int record_job_open_snapshot(struct record_job *j)
{
	_cleanup_free_ char *path = NULL;

	if (j->options.output && strcmp(j->options.output, "-") == 0) {
		cli_error("cannot write a snapshot to standard output, because the rest of the "
			  "recording goes there");
		return -EINVAL;
	}
	/* Without -o, the snapshot gets the default name, which contains the time. */
	path = j->options.output ? record_job_snapshot_path(j) : NULL;
	if (j->options.output && !path)
		return -ENOMEM;
	return output_file_open(path, record_job_suffix(j), false, &j->snapshot);
}

/* Takes a snapshot, at SIGUSR1. */
static void record_job_take_snapshot(void *userdata)
{
	struct record_job *j = userdata;

	if (j->is_writing) {
		cli_error("a snapshot is being written already");
		return;
	}
	if (record_job_open_snapshot(j) < 0)
		return;
	j->is_writing = recording_snapshot(j->recording, j->snapshot.fd) == 0;
	if (!j->is_writing) {
		output_file_discard(&j->snapshot);
		output_file_deinit(&j->snapshot);
	}
}

/* Reports the result of a snapshot. */
static void record_job_poll_snapshot(struct record_job *j)
{
	int r = j->is_writing ? recording_snapshot_state(j->recording) : 0;

	if (r == 0)
		return;
	j->is_writing = false;
	record_job_clear_progress(j);
	if (r > 0)
		fprintf(stderr, "%s: snapshot\n", j->snapshot.path);
	else
		output_file_end(&j->snapshot);
	output_file_deinit(&j->snapshot);
}

/* Takes one snapshot for all requests by points so far. */
static void record_job_take_due_snapshot(struct record_job *j)
{
	uint64_t n_due = j->flight ? recording_snapshots_due(j->recording) : 0;

	if (j->is_writing || n_due == j->n_due_handled)
		return;
	j->n_due_handled = n_due;
	record_job_take_snapshot(j);
}

/* Replaces an existing file, when the recording has begun. (A flight recorder writes at its
 * end.) */
static void record_job_keep_output(struct record_job *j)
{
	if (j->is_started && !j->flight)
		output_file_keep_written(&j->output);
	j->loop.is_hasty = (j->output.beside && !j->flight) || exit_search_is_urgent(&j->exits);
}

static void record_job_poll(void *userdata)
{
	struct record_job *j = userdata;

	record_job_poll_snapshot(j);
	record_job_take_due_snapshot(j);
	exit_search_poll(&j->exits, j->loop.interrupted);
	record_job_keep_output(j);
}

/* Writes the last data of a flight recorder. */
static int record_job_write_kept(struct record_job *j)
{
	int r = j->is_writing ? record_loop_wait_snapshot(&j->loop) : 0;

	record_job_poll_snapshot(j);
	/* (a point may have requested a snapshot when it ended the recording) */
	if (r != -EINTR)
		record_job_take_due_snapshot(j);
	if (j->is_writing)
		r = record_loop_wait_snapshot(&j->loop);
	record_job_poll_snapshot(j);
	if (r != -EINTR)
		r = recording_snapshot(j->recording, j->output.fd);
	r = r ?: record_loop_wait_snapshot(&j->loop);
	if (r == -EINTR)
		cli_error("interrupted again; the archive is not complete");
	return r;
}

static int record_job_report_kept(const struct record_job *j, const struct session_view *v)
{
	struct stat st;

	if (fstat(j->output.fd, &st) == 0 && S_ISREG(st.st_mode))
		fprintf(stderr,
			"%s: %s, the most recent part of %s with %" PRIu64 " "
			"event%s\n",
			j->output.path, TEXT_SIZE((uint64_t)st.st_size),
			TEXT_TIME(session_view_duration_ns(v)), v->counters.events,
			text_s(v->counters.events));
	return session_view_complain(v, j->output.path);
}

static void record_job_print_json(const struct record_job *j, const struct session_view *v)
{
	json_print_pretty(JSON_ADD(
		session_view_json(v), JSON("file", json_from_text(j->output.path)),
		JSON_IF(j->command_status >= 0, "command_status", (uint64_t)j->command_status)));
}

/*
 * Returns true if the recording lacks the requested calls or moments, by the counts of V, and their
 * files were found by name on this machine. (With -p, the files are those of the selected
 * processes.)
 */
static bool record_job_lacks_calls(const struct record_job *j, const struct session_view *v)
{
	bool by_pid = j->asked.n_pids > 0 && !j->asked.of_command;

	return nothing_recorded_is_certain(v) && !by_pid &&
	       ((j->asked.categories & CATEGORY_CALLS && !v->counters.events_of[GROUP_CALLS]) ||
		(j->asked.categories & CATEGORY_MOMENTS && !v->counters.events_of[GROUP_MOMENTS]));
}

/* Reports gaps in a recording without errors; STATUS is its result. */
static int record_job_find_gaps(struct record_job *j, const struct session_view *v, int status)
{
	const char *what = j->quiet ? "the recording" : j->output.path;

	bool replaced = probed_files_complain(&j->probed, what) > 0;

	if (status != CLI_OK)
		return status;
	status = nothing_recorded_complain(&j->asked, v, what);
	j->is_empty = status != CLI_OK;
	if (record_job_lacks_calls(j, v))
		probed_files_tell(&j->probed, what);
	return replaced ? CLI_DAMAGE : status;
}

static int record_job_report(struct record_job *j)
{
	_cleanup_(session_view_deinit) struct session_view v = { 0 };
	int status;

	/* (even if the archive of a flight recorder is complete, it is then unknown which data it
	 * lacks) */
	if (recording_view(j->recording, &v) < 0) {
		output_file_fail(&j->output);
		return CLI_FAILED;
	}
	if (j->options.n_rest)
		j->command_status = run_command_report(&j->command, j->options.rest[0]);
	if (exit_search_is_on(&j->exits) && j->command_status == CLI_SIGNALLED + SIGKILL)
		cli_error("%s ended before its memory could be searched: its unreachable blocks "
			  "are unknown",
			  j->options.rest[0]);
	if (j->flight)
		status = record_job_report_kept(j, &v);
	else
		status = j->quiet ? session_view_complain(&v, "the recording")
				  : session_view_report(&v, j->output.path);
	status = record_job_find_gaps(j, &v, status);
	if (j->options.json && !j->quiet)
		record_job_print_json(j, &v);
	return output_file_end(&j->output) < 0 ? CLI_FAILED : status;
}

/* Removes the output of a recording that did not start. But if the output itself failed early, the
 * data in the output is valid, and is kept. */
static void record_job_discard_unstarted(struct record_job *j)
{
	_cleanup_(session_view_deinit) struct session_view v = { 0 };

	if (recording_view(j->recording, &v) < 0 || strcmp(v.reason, "output failed") != 0) {
		output_file_discard(&j->output);
		return;
	}
	if (j->quiet)
		session_view_complain(&v, "the recording");
	else
		session_view_report(&v, j->output.path);
	output_file_fail(&j->output);
}

static int record_job_start(struct record_job *j)
{
	int r;

	if (recording_start(j->recording) < 0) {
		record_job_discard_unstarted(j);
		return CLI_FAILED;
	}
	r = record_job_start_command(j);
	if (r < 0) {
		/* The command did not start, so none of the requested events has been recorded. */
		if (record_loop_stop(&j->loop) >= 0)
			record_job_wait_finished(j);
		output_file_discard(&j->output);
		return CLI_FAILED;
	}
	j->is_started = true;
	if (record_job_wait_finished(j) < 0 || (j->flight && record_job_write_kept(j) < 0)) {
		output_file_fail(&j->output);
		return CLI_FAILED;
	}
	return record_job_report(j);
}

/* If needed, creates the process of the command before the recording starts. The files of the
 * command then get unwind tables, and a recording of selected processes includes the command. */
static int record_job_choose_command(struct record_job *j)
{
	const struct session_options *o = &j->options.session;
	struct capture_filter *f = &j->options.session.filter;
	/* (if only calls are requested, without a filter, the calls of the command are meant) */
	bool chosen = categories_need_filter(o->categories, f) ||
		      ((o->categories | CATEGORIES_CALLS) == CATEGORIES_CALLS && o->categories &&
		       !capture_filter_is_set(f));
	bool walked = (o->categories ?: CATEGORIES_DEFAULT) & CATEGORIES_USER_STACKS &&
		      (o->stacks == STACKS_AUTO || o->stacks == STACKS_EH);
	int r;

	if (j->options.n_rest == 0 || (!chosen && !walked))
		return 0;
	r = run_command_prepare(&j->command, j->options.rest, &j->loop.mask, walked);
	if (r < 0) {
		cli_error("cannot create a process for %s: %s", j->options.rest[0], strerror(-r));
		return r;
	}
	if (!chosen)
		return 0;
	f->pids = malloc(sizeof(*f->pids));
	if (!f->pids)
		return -ENOMEM;
	f->pids[f->n_pids++] = (uint32_t)j->command.prepared;
	j->options.session.command_waits = true;
	if (j->options.session.memory.reach != MEMORY_REACH_NO) {
		exit_search_begin(&j->exits, j->options.rest[0], j->command.prepared);
		j->command.hold = &j->exits.hold;
	}
	return 0;
}

int record_job_run(struct record_job *j)
{
	j->with_progress = isatty(STDERR_FILENO);
	j->flight = j->options.session.mode == SESSION_FLIGHT;
	j->compress = j->options.session.compress;
	if (j->flight)
		j->loop.asked = record_job_take_snapshot;
	j->loop.on_poll = record_job_poll;
	j->loop.wants_stop = record_job_command_has_ended;
	j->command.is_called_off = record_loop_is_interrupted;
	j->loop.userdata = j;
	if (j->with_progress) {
		j->loop.tick = record_job_tick;
		j->loop.interval_ms = PROGRESS_MS;
	}
	if (record_loop_init(&j->loop) < 0 || record_job_choose_command(j) < 0)
		return CLI_FAILED;
	if (recording_new(&j->options, &j->recording) < 0)
		return CLI_FAILED;
	if (j->output.fd < 0 && output_file_open(j->options.output, record_job_suffix(j),
						 j->options.force, &j->output) < 0)
		return CLI_FAILED;
	j->loop.recording = j->exits.recording = j->recording;
	j->loop.wake_fd = j->exits.hold.owner_fd;
	probed_files_note(&j->probed, &j->options.session);
	recording_request_set(&j->asked, &j->options.session, j->options.n_rest > 0);
	if (recording_create(j->recording, &j->options.session, j->flight ? -1 : j->output.fd,
			     record_loop_is_interrupted) < 0 ||
	    output_file_begin(&j->output) < 0) {
		output_file_discard(&j->output);
		return CLI_FAILED;
	}
	return record_job_start(j);
}

int record_job_exit(const struct record_job *j, int status)
{
	if (j->options.n_rest == 0 || status == CLI_USAGE)
		return status;
	if (j->command.pid == 0 && j->command_status >= 0)
		return j->command_status;
	if (status != CLI_OK && status != CLI_DAMAGE)
		return CLI_COMMAND_FAILED;
	return j->command_status >= 0 ? j->command_status : status;
}
