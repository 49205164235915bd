/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/archive/edit-trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/common/verb.h"
#include "edit/edit-merge.h"
#include "writer/fxt/fxt-writer.h"

/* The number of bytes that are written at once. */
enum { FLUSH_BYTES = 1 << 20 };

int edit_trace_open(struct edit_trace *t, const char *path, bool force, const struct open_trace *in,
		    unsigned n)
{
	int inputs[EDIT_INPUTS_MAX];
	struct packed_output_args args = {
		.path = path,
		.force = force,
		.method = pack_of_suffix(path),
		.whole = fxt_whole_records,
		.inputs = inputs,
		.n_inputs = n,
	};

	for (unsigned i = 0; i < n; i++)
		inputs[i] = in[i].fd;
	if (packed_output_open(&t->to, &args) < 0)
		return CLI_FAILED;
	return edit_output_init(&t->output) < 0 ? edit_trace_failed(t, -ENOMEM) : CLI_OK;
}

int edit_trace_open_fd(struct edit_trace *t, int fd, const char *name)
{
	if (packed_output_open_fd(&t->to, fd, name) < 0)
		return CLI_FAILED;
	return edit_output_init(&t->output) < 0 ? edit_trace_failed(t, -ENOMEM) : CLI_OK;
}

int edit_trace_flush(struct edit_trace *t, bool all)
{
	struct outbuf *b = &t->output.bytes;

	if (b->size < FLUSH_BYTES && !all)
		return CLI_OK;
	if (packed_output_write(&t->to, b->data, b->size) < 0)
		return CLI_FAILED;
	outbuf_reset(b);
	return CLI_OK;
}

int edit_trace_process_all(struct edit_trace *t, struct open_trace *in, edit_trace_fn fn,
			   void *userdata)
{
	const struct fxt_record *record;
	int more, r, status = CLI_OK;

	while (status == CLI_OK && (more = open_trace_next(in, &record)) > 0) {
		r = fn(userdata, record);
		if (r < 0)
			return edit_trace_failed(t, r);
		status = edit_trace_flush(t, false);
	}
	return status != CLI_OK || more < 0 ? CLI_FAILED : CLI_OK;
}

int edit_trace_finish(struct edit_trace *t)
{
	int r = edit_trace_flush(t, true);

	return r == CLI_OK && packed_output_finish(&t->to) < 0 ? CLI_FAILED : r;
}

int edit_trace_failed(struct edit_trace *t, int e)
{
	return cli_failed("cannot make %s: %s", t->to.file.path, strerror(-e));
}

void edit_trace_close(struct edit_trace *t)
{
	packed_output_deinit(&t->to);
	edit_output_deinit(&t->output);
}

struct json_object *edit_trace_json(const struct edit_trace *t)
{
	return JSON_OBJECT(JSON("output", t->to.file.path), JSON_OF(&t->to, bytes, file_bytes));
}

/* Reports data that was left out: "WHAT N NOUNs REST". */
static void edit_trace_report_left_out(const char *name, const char *what, uint64_t n,
				       const char *noun, const char *rest)
{
	if (n > 0)
		fprintf(stderr, "%s: omitted %s%" PRIu64 " %s%s%s\n", name, what, n, noun,
			text_s(n), rest);
}

void edit_trace_report_unknown(const char *name, const struct edit_counts *counts)
{
	edit_trace_report_left_out(name, "", counts->refused, "record",
				   " of an unknown type or kind");
	edit_trace_report_left_out(name, "", counts->arguments, "argument",
				   ", unreadable or of an unknown type");
	edit_trace_report_left_out(name, "additional words at the end of ", counts->longer,
				   "record", "");
}
