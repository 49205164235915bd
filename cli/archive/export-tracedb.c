/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the calls and moments of an archive as trace points (trace-db): one file per address
 * space, each with a table of its statements.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/archive/export.h"
#include "cli/common/read-events.h"
#include "cli/common/verb.h"
#include "cli/query/trace-points.h"
#include "model/koids.h"

static int export_tracedb_statements(struct export *e, const struct trace_points *points,
				     const char *path)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);

	if (!to)
		return cli_failed("out of memory");
	trace_statements_print(&points->statements, e->narrow ? TRACEDB_W16 : TRACEDB_W64, to);
	if (fclose(to) < 0)
		return cli_failed("out of memory");
	return export_put_file(e, path, text, bytes);
}

/*
 * Returns the name of an output: OUT.tdb becomes OUT-PID.tdb, or OUT-PID-2.tdb after the process
 * has executed another program.
 */
static char *export_tracedb_name(const struct export *e, const struct trace_points_space *space,
				 const char *suffix)
{
	const char *own = strrchr(e->output_path, '.') ?: "";
	int length = (int)(strlen(e->output_path) - strlen(own));
	char number[16] = "", *name;

	if (space->number > 0)
		snprintf(number, sizeof(number), "-%u", space->number + 1);
	return asprintf(&name, "%.*s-%u%s%s", length, e->output_path,
			space->pid & FXT_KOID_TID_MASK, number, suffix ?: own) < 0
		       ? NULL
		       : name;
}

static int export_tracedb_space(struct export *e, const struct trace_points *points,
				const struct trace_points_space *space)
{
	_cleanup_(outbuf_deinit) struct outbuf bytes = { 0 };
	_cleanup_free_ char *path = export_tracedb_name(e, space, NULL);
	_cleanup_free_ char *statements = export_tracedb_name(e, space, ".statements");
	int r;

	if (!path || !statements)
		return cli_failed("out of memory");
	r = trace_points_write(points, space, e->narrow ? TRACEDB_W16 : TRACEDB_W64, &bytes);
	if (r < 0)
		return cli_failed("%s: %s", path, strerror(-r));
	r = export_put_file(e, path, bytes.data, bytes.size)
		    ?: export_tracedb_statements(e, points, statements);
	if (r == CLI_OK)
		fprintf(stderr, "%s, and %s\n", path, statements);
	e->n_files++;
	return r;
}

int export_tracedb(struct export *e)
{
	_cleanup_(trace_points_deinit) struct trace_points points = { 0 };
	_cleanup_(open_trace_close) struct open_trace t = OPEN_TRACE_NULL;
	_cleanup_free_ struct trace_points_space *spaces = NULL;
	int r = trace_points_init(&points) ?: open_trace(&t, e->input_path), status;
	size_t n = 0;

	e->reported = true;
	if (strcmp(e->output_path, "-") == 0)
		return cli_usage_error(
			"there is one file for each address space, so '-o -' is not possible: "
			"use -o FILE.tdb");
	r = r ?: read_events(&t, trace_points_on_event, &points);
	if (r != CLI_OK)
		return r;
	r = trace_points_complain(&points, &t);
	if (r != CLI_OK || points.n_points == 0)
		return r != CLI_OK ? r : CLI_FAILED;
	if (trace_points_spaces(&points, &spaces, &n) < 0)
		return cli_failed("out of memory");
	status = open_trace_finish(&t);
	for (size_t i = 0; r == CLI_OK && i < n; i++)
		r = export_tracedb_space(e, &points, &spaces[i]);
	e->damaged = status == CLI_DAMAGE;
	return r == CLI_OK ? status : r;
}
