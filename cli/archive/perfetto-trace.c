/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One pass over the archive. Samples are written by the code that also writes the archive's own
 * copy of them for Perfetto, the memory of processes by perfetto-leaks, everything else by
 * writer/perfetto. Events that have no packet of their own are written as they are in the archive.
 */
#include "cli/archive/perfetto-trace.h"

#include <errno.h>
#include <inttypes.h>

#include "base/text.h"
#include "cli/archive/perfetto-leaks.h"
#include "cli/archive/perfetto-record.h"
#include "cli/common/verb.h"
#include "model/maps.h"
#include "reader/fxt/fxt-events.h"
#include "writer/fxt/fxt-perfetto-samples.h"
#include "writer/perfetto/perfetto-writer.h"

enum {
	PERFETTO_TRACE_BYTES = 256 * 1024,
	PERFETTO_TRACE_FRAMES = 32, /* the scheduler's functions, and the first other one */
};

struct perfetto_trace {
	struct perfetto_writer *writer;
	struct fxt_perfetto_samples *samples;
	struct perfetto_leaks *leaks;
	struct perfetto_record record;
	perfetto_trace_put_fn put;
	void *userdata;
};

static void perfetto_trace_deinit(struct perfetto_trace *p)
{
	perfetto_writer_free(p->writer);
	perfetto_leaks_free(p->leaks);
	fxt_perfetto_samples_free(p->samples);
	perfetto_record_deinit(&p->record);
}

/* Writes the packets that are due, or all packets. Returns CLI_OK or CLI_FAILED. */
static int perfetto_trace_write(struct perfetto_trace *p, bool all)
{
	struct outbuf *packets = perfetto_writer_packets(p->writer);
	const struct outbuf *batch = fxt_perfetto_samples_batch(p->samples, all);

	if (packets->size >= PERFETTO_TRACE_BYTES || all) {
		if (p->put(p->userdata, packets->data, packets->size) != CLI_OK)
			return CLI_FAILED;
		outbuf_reset(packets);
	}
	if (batch) {
		if (p->put(p->userdata, batch->data, batch->size) != CLI_OK)
			return CLI_FAILED;
		fxt_perfetto_samples_next(p->samples);
	}
	return CLI_OK;
}

/*
 * Adds the reason of the wait whose stack is EV: the innermost kernel functions show why the thread
 * left its CPU.
 */
static int perfetto_trace_add_wait(struct perfetto_trace *p, const struct event *ev)
{
	const char *functions[PERFETTO_TRACE_FRAMES];
	size_t n = 0;

	while (n < PERFETTO_TRACE_FRAMES && n < ev->sample.n_frames &&
	       maps_is_kernel(ev->sample.frames[n])) {
		functions[n] = fxt_perfetto_samples_function(p->samples, ev, (unsigned)n);
		n++;
	}
	return perfetto_writer_add_wait(p->writer, ev, functions, n);
}

/*
 * Adds EV. A sample in an archive has no CPU, so it gets the CPU on which its thread runs according
 * to the schedule.
 */
static int perfetto_trace_add_event(struct perfetto_trace *p, const struct event *ev)
{
	struct event sample;

	if (perfetto_leaks_add(p->leaks, ev, perfetto_writer_packets(p->writer)) < 0)
		return -ENOMEM;
	if (ev->kind != EVENT_SAMPLE)
		return fxt_perfetto_samples_add(p->samples, ev)
			       ?: perfetto_writer_add(p->writer, ev);
	if (ev->sample.kind == SAMPLE_OFF_CPU)
		return perfetto_trace_add_wait(p, ev);
	sample = *ev;
	sample.cpu = perfetto_writer_cpu_of(p->writer, ev->tid);
	return fxt_perfetto_samples_add(p->samples, &sample);
}

/*
 * Whether events of KIND have packets of their own, or only help to write the packets of other
 * events.
 */
static bool perfetto_trace_is_own(enum event_kind kind)
{
	switch (kind) {
	case EVENT_SWITCH:
	case EVENT_WAKE:
	case EVENT_MIGRATE: /* (in the schedule) */
	case EVENT_TASK:
	case EVENT_LOST:
	case EVENT_MARK:
	case EVENT_CLOCK:
	case EVENT_INTERVAL:
	case EVENT_COUNTER:
	case EVENT_MAPPING:
	case EVENT_SAMPLE:
	case EVENT_FRAME:
	case EVENT_MOMENT: /* (an instant follows) */
		return true;
	default:
		return false;
	}
}

/* Returns 0 or -ENOMEM. */
static int perfetto_trace_add_plain(struct perfetto_trace *p, const struct fxt_record *record)
{
	struct perfetto_plain plain;
	int r = perfetto_record_get(&p->record, record, &plain);

	return r <= 0 ? r : perfetto_writer_add_plain(p->writer, &plain);
}

static int perfetto_trace_add(struct perfetto_trace *p, struct open_trace *t,
			      struct fxt_events *events, const struct fxt_record *record)
{
	struct event ev;
	const char *what;
	int r = fxt_events_get(events, record, &ev, &what);

	if (r == FXT_EVENTS_DAMAGE) {
		open_trace_damage(t, record->offset, what);
		return 0;
	}
	if (r == FXT_EVENTS_NONE)
		return perfetto_trace_add_plain(p, record);
	if (r < 0)
		return r;
	r = perfetto_trace_add_event(p, &ev);
	return r < 0 || perfetto_trace_is_own(ev.kind) ? r : perfetto_trace_add_plain(p, record);
}

static int perfetto_trace_run(struct perfetto_trace *p, struct open_trace *t)
{
	_cleanup_(fxt_events_freep) struct fxt_events *events = NULL;
	const struct fxt_record *record;
	int r;

	if (fxt_events_new(&events) < 0 || perfetto_writer_new(&p->writer) < 0 ||
	    fxt_perfetto_samples_new(&p->samples) < 0 ||
	    perfetto_leaks_new(&p->leaks, p->samples) < 0)
		return cli_failed("out of memory");
	while ((r = open_trace_next(t, &record)) > 0) {
		if (perfetto_trace_add(p, t, events, record) < 0)
			return cli_failed("out of memory");
		if (perfetto_trace_write(p, false) != CLI_OK)
			return CLI_FAILED;
	}
	if (r < 0)
		return CLI_FAILED;
	if (perfetto_writer_flush(p->writer) < 0 ||
	    perfetto_leaks_finish(p->leaks, perfetto_writer_packets(p->writer)) < 0)
		return cli_failed("out of memory");
	return perfetto_trace_write(p, true);
}

int perfetto_trace(struct open_trace *t, perfetto_trace_put_fn put, void *userdata,
		   uint64_t *ret_left_out)
{
	_cleanup_(perfetto_trace_deinit) struct perfetto_trace p = { .put = put,
								     .userdata = userdata };
	int r = perfetto_trace_run(&p, t);

	if (r == CLI_OK)
		*ret_left_out = perfetto_writer_left_out(p.writer);
	return r;
}

int perfetto_trace_complain(const struct open_trace *t, uint64_t n_left_out, int status)
{
	if (n_left_out == 0)
		return status;
	cli_error("%s: %" PRIu64
		  " event%s of CPUs from 1024 on %s left out, because Perfetto cannot show them",
		  t->name, n_left_out, text_s(n_left_out), text_was(n_left_out));
	return CLI_DAMAGE;
}
