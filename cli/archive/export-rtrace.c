/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the allocations of programs as reports in the text protocol: one file per program of a
 * process, in a directory. If each allocation event was recorded and the archive can be read twice,
 * the reports have all events; otherwise, only the blocks that were not freed.
 */
#include <string.h>

#include "cli/archive/export.h"
#include "cli/leaks/leaks-view.h"
#include "cli/common/verb.h"

int export_rtrace(struct export *e)
{
	_cleanup_(open_trace_close) struct open_trace t = OPEN_TRACE_NULL;
	_cleanup_(leaks_input_deinit) struct leaks_input in = { 0 };
	struct leaks_request request = { .top = UINT64_MAX };
	bool again = strcmp(e->input_path, "-") != 0;
	int r;

	if (e->method != PACK_NONE)
		return cli_usage_error("reports in the text protocol cannot be compressed: omit "
				       "--compress");
	r = open_trace(&t, e->input_path) ?: leaks_input_read(&in, &request, &t, NULL);
	if (r == CLI_OK)
		r = leaks_write_rtrace(&in, &(struct leaks_rtrace_args){
						    .directory = e->output_path,
						    .archive = again ? e->input_path : NULL,
						    .force = e->force,
						    .spec_time = e->spec_time,
					    });
	if (r != CLI_OK)
		return r;
	e->n_files = in.leaks->n_watches;
	e->damaged = in.damaged;
	return in.damaged ? CLI_DAMAGE : CLI_OK;
}
