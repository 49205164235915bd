/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes an archive as a native Perfetto trace, in one pass: the samples by the writer of the
 * archive's own copy of them, everything else by writer/perfetto.
 */
#include <inttypes.h>

#include "base/text.h"
#include "cli/archive/export.h"
#include "cli/common/read-events.h"
#include "cli/common/verb.h"
#include "writer/fxt/fxt-perfetto-samples.h"
#include "writer/perfetto/perfetto-writer.h"

enum { WRITE_BYTES = 256 * 1024 };

struct export_perfetto {
	struct export *e;
	struct perfetto_writer *writer;
	struct fxt_perfetto_samples *samples;
	bool failed; /* a message was printed */
};

static void export_perfetto_deinit(struct export_perfetto *p)
{
	perfetto_writer_free(p->writer);
	fxt_perfetto_samples_free(p->samples);
}

/* Writes the packets that are due, or all packets. */
static void export_perfetto_write(struct export_perfetto *p, bool all)
{
	struct outbuf *packets = perfetto_writer_packets(p->writer);
	const struct outbuf *batch = fxt_perfetto_samples_batch(p->samples, all);

	if (p->failed)
		return;
	if (packets->size >= WRITE_BYTES || all) {
		if (packed_output_write(&p->e->output, packets->data, packets->size) < 0)
			p->failed = true;
		outbuf_reset(packets);
	}
	if (batch && !p->failed) {
		if (packed_output_write(&p->e->output, batch->data, batch->size) < 0)
			p->failed = true;
		fxt_perfetto_samples_next(p->samples);
	}
}

/* Adds EV. A sample in an archive has no CPU: it is that of its thread in the schedule. */
static int export_perfetto_on_event(void *userdata, const struct event *ev)
{
	struct export_perfetto *p = userdata;
	struct event sample;
	int r;

	if (ev->kind == EVENT_SAMPLE) {
		sample = *ev;
		sample.cpu = perfetto_writer_cpu_of(p->writer, ev->tid);
		r = fxt_perfetto_samples_add(p->samples, &sample);
	} else {
		r = fxt_perfetto_samples_add(p->samples, ev) ?: perfetto_writer_add(p->writer, ev);
	}
	if (r == 0)
		export_perfetto_write(p, false);
	return r;
}

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

/* Returns STATUS, or CLI_DAMAGE if it has reported a partial export. */
static int export_perfetto_complain(const struct export_perfetto *p, const struct open_trace *t,
				    int status)
{
	uint64_t n = perfetto_writer_left_out(p->writer);

	if (n == 0)
		return status;
	cli_error("%s: %" PRIu64
		  " event%s of CPUs from 1024 on %s left out, because Perfetto cannot show them",
		  t->name, n, text_s(n), text_was(n));
	return CLI_DAMAGE;
}

int export_perfetto(struct export *e)
{
	_cleanup_(export_perfetto_deinit) struct export_perfetto p = { .e = e };
	_cleanup_(open_trace_close) struct open_trace t = OPEN_TRACE_NULL;
	int r = open_trace(&t, e->input_path), status;

	if (r == CLI_OK &&
	    (perfetto_writer_new(&p.writer) < 0 || fxt_perfetto_samples_new(&p.samples) < 0))
		r = cli_failed("out of memory");
	r = r ?: export_perfetto_open_output(e, &t) ?: read_events(&t, export_perfetto_on_event, &p);
	if (r != CLI_OK)
		return r;
	if (perfetto_writer_flush(p.writer) < 0)
		return cli_failed("out of memory");
	export_perfetto_write(&p, true);
	if (p.failed || packed_output_finish(&e->output) < 0)
		return CLI_FAILED;
	status = open_trace_finish(&t);
	e->damaged = status == CLI_DAMAGE;
	return export_perfetto_complain(&p, &t, status);
}
