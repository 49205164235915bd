/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes calls of functions as a call trace, in the container in which readers can seek. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/apitrace/call-trace.h"
#include "cli/archive/export.h"
#include "cli/common/read-events.h"
#include "cli/common/verb.h"
#include "model/koids.h"

static void export_apitrace_deinit(struct call_trace *t)
{
	call_trace_deinit(t);
}

/* Writes the calls of process PID (0 = all) to the file at PATH. */
static int export_apitrace_write(struct export *e, struct call_trace *trace, uint32_t pid,
				 const char *path)
{
	_cleanup_(outbuf_deinit) struct outbuf stream = { 0 };
	const struct packed_output_args args = {
		.path = path,
		.force = e->force,
		.method = e->method,
		.whole = packed_output_any_bytes,
		.inputs = &e->input.fd,
		.n_inputs = 1,
	};
	int r = call_trace_write(trace, pid, &stream);

	if (r < 0)
		return cli_failed("cannot create a call trace: %s", strerror(-r));
	if (packed_output_open(&e->output, &args) < 0 ||
	    packed_output_write(&e->output, stream.data, stream.size) < 0 ||
	    packed_output_finish(&e->output) < 0)
		return CLI_FAILED;
	e->n_files++;
	return CLI_OK;
}

/* Writes one file per process: x-4711.trace. */
static int export_apitrace_split(struct export *e, struct call_trace *trace)
{
	const char *suffix = strrchr(e->output_path, '.') ?: "";
	int length = (int)(strlen(e->output_path) - strlen(suffix)), r;
	_cleanup_free_ uint32_t *pids = NULL;
	size_t n = 0;

	if (strcmp(e->output_path, "-") == 0)
		return cli_usage_error("'-o -' and '--split' cannot be combined");
	r = call_trace_processes(trace, &pids, &n) < 0 ? cli_failed("out of memory") : CLI_OK;
	for (size_t i = 0; r == CLI_OK && i < n; i++) {
		_cleanup_free_ char *path = NULL;

		packed_output_deinit(&e->output);
		e->output = PACKED_OUTPUT_NULL;
		if (asprintf(&path, "%.*s-%u%s", length, e->output_path,
			     pids[i] & FXT_KOID_TID_MASK, suffix) < 0)
			return cli_failed("out of memory");
		r = export_apitrace_write(e, trace, pids[i], path);
	}
	return r;
}

int export_apitrace(struct export *e)
{
	_cleanup_(call_stacks_deinit) struct call_stacks stacks = { 0 };
	_cleanup_(export_apitrace_deinit) struct call_trace trace = { .options = e->calls,
								      .stacks = &stacks };
	const struct symbol_options symbols = { 0 };
	_cleanup_(open_trace_close) struct open_trace t = OPEN_TRACE_NULL;
	int r = open_trace(&t, e->input_path), status;

	r = r ?: call_stacks_init(&stacks, &symbols) ?: read_events(&t, call_trace_on_event, &trace);
	if (r != CLI_OK)
		return r;
	if (trace.n == 0) {
		nothing_there_say(&t.parts, NOTHING_CALLS, t.name);
		return CLI_FAILED;
	}
	status = open_trace_finish(&t);
	r = e->calls.split ? export_apitrace_split(e, &trace)
			   : export_apitrace_write(e, &trace, 0, e->output_path);
	e->damaged = status == CLI_DAMAGE;
	return r == CLI_OK ? status : r;
}
