/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A GDB trace file, written again: the part that kymo can read.
 */
#include "cli/archive/export.h"
#include "cli/common/open-trace.h"
#include "cli/common/verb.h"
#include "cli/tfile/tfile-copy.h"

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
	if (!t.frames)
		return cli_failed("%s: it is not a GDB trace file", t.name);
	r = tfile_copy(&copy, &t, NULL, NULL) ?: export_tfile_write(e, &copy);
	if (r != CLI_OK)
		return r;
	tfile_copy_say_missing(&copy, e->output_path);
	e->damaged = t.n_damages > 0;
	return open_trace_finish(&t);
}
