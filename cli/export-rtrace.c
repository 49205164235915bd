/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What programs allocated and did not free, as leak reports in the text protocol: a file each program of a
 * process, in a directory.
 */
#include "cli/export.h"
#include "cli/leaks-view.h"
#include "cli/verb.h"

int export_rtrace(struct export *e)
{
	_cleanup_(open_trace_close) struct open_trace t = OPEN_TRACE_NULL;
	_cleanup_(leaks_input_deinit) struct leaks_input in = { 0 };
	struct leaks_request request = { .top = UINT64_MAX };
	int r;

	if (e->method != PACK_NONE)
		return cli_usage_error("reports in the text protocol are not compressed");
	r = open_trace(&t, e->input.name);
	if (r == CLI_OK)
		r = leaks_input_read(&in, &request, &t, NULL);
	if (r == CLI_OK)
		r = leaks_write_rtrace(&in, e->output_path, e->force);
	if (r != CLI_OK)
		return r;
	e->n_files = in.leaks->n_watches;
	e->damaged = in.damaged;
	return in.damaged ? CLI_DAMAGE : CLI_OK;
}
