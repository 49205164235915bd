/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/archive/export.h"
#include "cli/common/verb.h"

int export_put_file(struct export *e, const char *path, const void *data, size_t n)
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
