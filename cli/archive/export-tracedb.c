/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls of an archive as trace points (trace-db): a file for each process, with a table of its
 * statements beside it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/archive/export.h"
#include "cli/common/read-events.h"
#include "cli/common/verb.h"
#include "cli/query/trace-points.h"
#include "writer/koids.h"

static int export_tracedb_put(struct export *e, const char *path, const void *data, size_t n)
{
	const struct packed_output_args args = {
		.path = path,
		.force = e->force,
		.method = PACK_NONE,
		.whole = packed_output_any_bytes,
		.inputs = &e->input.fd,
		.n_inputs = 1,
	};

	packed_output_deinit(&e->output);
	e->output = PACKED_OUTPUT_NULL;
	if (packed_output_open(&e->output, &args) < 0 ||
	    packed_output_write(&e->output, data, n) < 0 || packed_output_finish(&e->output) < 0)
		return CLI_FAILED;
	return CLI_OK;
}

/* A line for each: its number, a tab, the function. */
static int export_tracedb_statements(struct export *e, const struct trace_points *points,
				     const char *path)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);

	if (!to)
		return cli_failed("out of memory");
	for (uint64_t i = 1; trace_points_function(points, i); i++)
		fprintf(to, "%llu\t%s\n", (unsigned long long)i, trace_points_function(points, i));
	if (fclose(to) < 0)
		return cli_failed("out of memory");
	return export_tracedb_put(e, path, text, bytes);
}

static int export_tracedb_process(struct export *e, const struct trace_points *points, uint32_t pid)
{
	_cleanup_(outbuf_deinit) struct outbuf bytes = { 0 };
	const char *suffix = strrchr(e->output_path, '.') ?: "";
	int length = (int)(strlen(e->output_path) - strlen(suffix)), r;
	_cleanup_free_ char *path = NULL, *statements = NULL;

	if (asprintf(&path, "%.*s-%u%s", length, e->output_path, pid & FXT_KOID_TID_MASK, suffix) <
		    0 ||
	    asprintf(&statements, "%.*s-%u.statements", length, e->output_path,
		     pid & FXT_KOID_TID_MASK) < 0)
		return cli_failed("out of memory");
	r = trace_points_write(points, pid, e->narrow ? TRACEDB_W16 : TRACEDB_W64, &bytes);
	if (r < 0)
		return cli_failed("%s: %s", path, strerror(-r));
	r = export_tracedb_put(e, path, bytes.data, bytes.size);
	if (r == CLI_OK)
		r = export_tracedb_statements(e, points, statements);
	if (r == CLI_OK)
		fprintf(stderr, "%s, and %s\n", path, statements);
	e->n_files++;
	return r;
}

int export_tracedb(struct export *e)
{
	_cleanup_(trace_points_deinit) struct trace_points points = { 0 };
	_cleanup_(open_trace_close) struct open_trace t = OPEN_TRACE_NULL;
	_cleanup_free_ uint32_t *pids = NULL;
	int r = open_trace(&t, e->input_path), status;
	size_t n = 0;

	e->reported = true;
	if (strcmp(e->output_path, "-") == 0)
		return cli_usage_error("a file for each process needs a name: '-o FILE.tdb'");
	if (r == CLI_OK)
		r = read_events(&t, trace_points_take, &points);
	if (r != CLI_OK)
		return r;
	if (points.n_calls == 0)
		return cli_failed("%s: no calls were recorded; 'kymo record --call=SPEC' does so",
				  t.name);
	if (points.sampled)
		return cli_failed(
			"%s: only some allocations were recorded, so sizes of buffers are "
			"not known; leave --memory-interval out",
			t.name);
	if (trace_points_processes(&points, &pids, &n) < 0)
		return cli_failed("out of memory");
	status = open_trace_finish(&t);
	for (size_t i = 0; r == CLI_OK && i < n; i++)
		r = export_tracedb_process(e, &points, pids[i]);
	e->damaged = status == CLI_DAMAGE;
	return r == CLI_OK ? status : r;
}
