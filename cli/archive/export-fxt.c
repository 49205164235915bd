/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes the compression of an archive: decompresses and compresses it. The bytes of the archive
 * itself, including damaged ones, do not change.
 */
#include <errno.h>
#include <inttypes.h>

#include "base/text.h"
#include "cli/archive/export.h"
#include "cli/common/open-trace.h"
#include "cli/common/progress.h"
#include "cli/common/verb.h"
#include "writer/fxt/fxt-writer.h"

enum { READ_BYTES = 256 * 1024 };

/*
 * Fills TO with READ_BYTES, or fewer at the end of the input. Returns the number of bytes, or a
 * negative errno.
 */
static ssize_t export_fxt_fill(struct unpack *u, uint8_t *to)
{
	size_t have = 0;
	ssize_t n = 1;

	while (n > 0 && have < READ_BYTES) {
		n = unpack_read(u, to + have, READ_BYTES - have);
		if (n > 0)
			have += (size_t)n;
	}
	return n < 0 ? n : (ssize_t)have;
}

/* Checks that the file begins like a trace. Returns CLI_OK or CLI_FAILED. */
static int export_fxt_check_head(const struct export *e, struct unpack *u, const uint8_t *head,
				 size_t n)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	int r = fxt_reader_new_memory(&reader, head, n);

	if (r == 0)
		return CLI_OK;
	if (r < 0)
		cli_error("out of memory");
	else
		open_trace_complain_alien(e->input.name, unpack_damage(u), r);
	return CLI_FAILED;
}

static int export_fxt_open_output(struct export *e)
{
	const struct packed_output_args args = {
		.path = e->output_path,
		.force = e->force,
		.method = e->method,
		.whole = fxt_whole_records,
		.inputs = &e->input.fd,
		.n_inputs = 1,
	};

	return packed_output_open(&e->output, &args) < 0 ? CLI_FAILED : CLI_OK;
}

/* Copies the input; its first N bytes are in BUFFER. */
static int export_fxt_copy(struct export *e, struct unpack *u, uint8_t *buffer, ssize_t n)
{
	struct progress progress;
	int r = 0;

	progress_begin(&progress, input_file_size(&e->input));
	while (r == 0 && n > 0) {
		r = packed_output_write(&e->output, buffer, (size_t)n);
		progress_show(&progress,
			      progress.total ? input_file_position(&e->input) : e->output.bytes);
		if (r == 0)
			n = export_fxt_fill(u, buffer);
	}
	progress_clear();
	if (n < 0)
		input_file_failed(&e->input, (int)n);
	return r < 0 || n < 0 || packed_output_finish(&e->output) < 0 ? CLI_FAILED : CLI_OK;
}

static int export_fxt_report_damage(struct export *e, const struct unpack_damage *damage)
{
	if (!damage)
		return CLI_OK;
	e->damaged = true;
	cli_error("%s: %s, at byte %" PRIu64 " of the file; the %s before it were exported",
		  e->input.name, damage->what, damage->packed_offset,
		  TEXT_SIZE(damage->unpacked_offset));
	return CLI_DAMAGE;
}

int export_fxt(struct export *e)
{
	_cleanup_(unpack_freep) struct unpack *u = NULL;
	_cleanup_free_ uint8_t *buffer = malloc(READ_BYTES);
	ssize_t n = buffer ? unpack_new_fd(&u, e->input.fd) : -ENOMEM;
	int r;

	if (n == 0)
		n = export_fxt_fill(u, buffer);
	if (n < 0)
		return input_file_failed(&e->input, (int)n);
	r = export_fxt_check_head(e, u, buffer, (size_t)n) ?: export_fxt_open_output(e)
		    ?: export_fxt_copy(e, u, buffer, n);
	if (r != CLI_OK)
		return r;
	e->input_method = unpack_method(u);
	e->input_bytes = input_file_position(&e->input);
	return export_fxt_report_damage(e, unpack_damage(u));
}
