/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes an archive as tables: Parquet files in a directory.
 */
#include "cli/archive/export.h"
#include "cli/common/verb.h"
#include "cli/tables/tables.h"

int export_parquet(struct export *e)
{
	const struct tables_args args = { .directory = e->output_path,
					  .partition = e->partition,
					  .force = e->force };
	_cleanup_(open_trace_close) struct open_trace t = OPEN_TRACE_NULL;
	int r;

	if (e->method != PACK_NONE)
		return cli_usage_error("the pages of tables are compressed with zstd: omit "
				       "--compress");
	r = open_trace(&t, e->input_path) ?: tables_write(&t, &args, &e->made, &e->n_files);
	e->damaged = r == CLI_DAMAGE;
	return r;
}
