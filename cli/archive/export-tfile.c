/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes GDB trace files. From the moments of an archive: one file per program of a process, each
 * with a script that opens it. From a GDB trace file: a copy of its readable part.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/archive/export.h"
#include "cli/common/open-trace.h"
#include "cli/common/read-events.h"
#include "cli/common/verb.h"
#include "cli/moments/moment-tfile.h"
#include "cli/tfile/tfile-copy.h"
#include "model/koids.h"

/* ---- from an archive ---- */

/* Writes one file of RUN and its script. PART counts from 0. AGAIN = true: the process had run
 * another program before. */
static int export_tfile_part(struct export *e, const struct moment_tfile *t,
			     const struct moment_tfile_run *run, bool again, unsigned part,
			     size_t *at, bool *ret_more)
{
	_cleanup_(outbuf_deinit) struct outbuf trace = { 0 }, script = { 0 };
	const char *suffix = strrchr(e->output_path, '.') ?: "";
	int length = (int)(strlen(e->output_path) - strlen(suffix)), r;
	_cleanup_free_ char *path = NULL, *script_path = NULL;
	char more[32] = "";

	if (part > 0)
		snprintf(more, sizeof(more), "-%u", part + 1);
	if (again)
		snprintf(more + strlen(more), sizeof(more) - strlen(more), "-exec%u", run->number);
	if (asprintf(&path, "%.*s-%u%s%s", length, e->output_path, run->pid & FXT_KOID_TID_MASK,
		     more, suffix) < 0 ||
	    asprintf(&script_path, "%.*s-%u%s.gdb", length, e->output_path,
		     run->pid & FXT_KOID_TID_MASK, more) < 0)
		return cli_failed("out of memory");
	r = moment_tfile_write(t, run, path, at, ret_more, &trace, &script);
	if (r < 0)
		return cli_failed("cannot create a trace file: %s", strerror(-r));
	r = export_put_file(e, path, trace.data, trace.size)
		    ?: export_put_file(e, script_path, script.data, script.size);
	if (r == CLI_OK)
		fprintf(stderr, "%s: gdb -x %s\n", path, script_path);
	e->n_files++;
	e->reported = true;
	return r;
}

static int export_tfile_run(struct export *e, const struct moment_tfile *t,
			    const struct moment_tfile_run *run, bool again)
{
	bool more = true;
	size_t at = 0;
	int r = CLI_OK;

	for (unsigned part = 0; r == CLI_OK && more; part++)
		r = export_tfile_part(e, t, run, again, part, &at, &more);
	return r;
}

static int export_tfile_of_archive(struct export *e, struct open_trace *t)
{
	_cleanup_(moment_tfile_deinit) struct moment_tfile moments = { 0 };
	_cleanup_free_ struct moment_tfile_run *runs = NULL;
	int r = read_events(t, moment_tfile_on_event, &moments), status;
	size_t n = 0;

	if (r != CLI_OK)
		return r;
	if (moments.n == 0) {
		nothing_there_say(&t->parts, NOTHING_MOMENTS, t->name);
		return CLI_FAILED;
	}
	if (strcmp(e->output_path, "-") == 0)
		return cli_usage_error(
			"there is one trace file for each process, so '-o -' is not possible: "
			"use '-o FILE.tf'");
	if (moment_tfile_runs(&moments, &runs, &n) < 0)
		return cli_failed("out of memory");
	status = open_trace_finish(t);
	for (size_t i = 0; r == CLI_OK && i < n; i++)
		r = export_tfile_run(e, &moments, &runs[i],
				     i > 0 && runs[i - 1].pid == runs[i].pid);
	e->damaged = status == CLI_DAMAGE;
	return r == CLI_OK ? status : r;
}

/* ---- from a GDB trace file ---- */

static int export_tfile_write(struct export *e, const struct tfile_copy *copy)
{
	const struct packed_output_args args = {
		.path = e->output_path,
		.force = e->force,
		.method = e->method,
		.whole = packed_output_any_bytes,
		.inputs = &e->input.fd,
		.n_inputs = 1,
	};

	if (packed_output_open(&e->output, &args) < 0 ||
	    packed_output_write(&e->output, copy->head.data, copy->head.size) < 0 ||
	    packed_output_write(&e->output, copy->frames.data, copy->frames.size) < 0 ||
	    packed_output_finish(&e->output) < 0)
		return CLI_FAILED;
	e->n_files++;
	return CLI_OK;
}

int export_tfile(struct export *e)
{
	_cleanup_(open_trace_close) struct open_trace t = OPEN_TRACE_NULL;
	_cleanup_(tfile_copy_deinit) struct tfile_copy copy = { 0 };
	const struct open_trace_kinds kinds = {
		.frames = true,
		.frame_finding = tfile_copy_found,
		.frame_userdata = &copy,
	};
	int r = open_trace_of(&t, e->input_path, &kinds);

	if (r != CLI_OK)
		return r;
	if (!t.frames && !t.calls)
		return export_tfile_of_archive(e, &t);
	if (!t.frames)
		return cli_failed("%s: it is neither an archive nor a GDB trace file", t.name);
	r = tfile_copy(&copy, &t, NULL, NULL) ?: export_tfile_write(e, &copy);
	if (r != CLI_OK)
		return r;
	tfile_copy_report_missing(&copy, e->output_path);
	e->damaged = t.n_damages > 0;
	return open_trace_finish(&t);
}
