/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes an archive as a native Perfetto trace.
 */
#include "cli/archive/export.h"
#include "cli/archive/perfetto-trace.h"
#include "cli/common/verb.h"

static int export_perfetto_open_output(struct export *e, const struct open_trace *t)
{
	const struct packed_output_args args = {
		.path = e->output_path,
		.force = e->force,
		.method = e->method,
		.whole = packed_output_any_bytes,
		.inputs = &t->fd,
		.n_inputs = 1,
	};

	return packed_output_open(&e->output, &args) < 0 ? CLI_FAILED : CLI_OK;
}

static int export_perfetto_put(void *userdata, const void *p, size_t n)
{
	struct export *e = userdata;

	return packed_output_write(&e->output, p, n) < 0 ? CLI_FAILED : CLI_OK;
}

int export_perfetto(struct export *e)
{
	_cleanup_(open_trace_close) struct open_trace t = OPEN_TRACE_NULL;
	uint64_t n_left_out;
	int r = open_trace(&t, e->input_path);

	r = r ?: export_perfetto_open_output(e, &t);
	r = r ?: perfetto_trace(&t, export_perfetto_put, e, &n_left_out);
	if (r != CLI_OK)
		return r;
	if (packed_output_finish(&e->output) < 0)
		return CLI_FAILED;
	r = open_trace_finish(&t);
	e->damaged = r == CLI_DAMAGE;
	return perfetto_trace_complain(&t, n_left_out, r);
}
