/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `kymo why` of foreign archives: the parts of each thread are exactly its time, the steps of each
 * path cover its interval, and each instance has a sentence. The archive with tracks is read
 * without damage.
 *
 * Inputs of the corpus are explained in all ways, inputs of the fuzzer in one way each (see
 * fuzz-edit.c for the reason).
 */
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/table.h"
#include "edit/edit-why.h"
#include "reader/fxt/fxt-events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The views of an archive. */
struct views {
	struct summary *summary;
	struct profile *profile;
	struct why *why;
};

static void open_views(struct views *v, enum why_what what)
{
	static const struct profile_names names;
	const struct profile_options profile = { .to_ns = UINT64_MAX };
	const struct why_options options = {
		.what = what,
		.to_ns = UINT64_MAX,
		.n_worst = 5,
		.with_idle = true,
		.names = &names,
		.span = "*",
		.between_from = "*",
		.between_to = "*",
		.max_splits = 10000,
	};

	if (summary_new(&v->summary) < 0 || profile_new(&v->profile, &profile) < 0 ||
	    why_new(&v->why, &options, v->summary, v->profile) < 0)
		abort();
}

static void close_views(struct views *v)
{
	why_free(v->why);
	profile_free(v->profile);
	summary_free(v->summary);
}

static void read_archive(struct views *v, const uint8_t *data, size_t size)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	_cleanup_(fxt_events_freep) struct fxt_events *events = NULL;
	const struct fxt_record *record;
	const char *what;
	struct event ev;
	int outcome;

	if (fxt_reader_new_memory(&reader, data, size) != 0 || fxt_events_new(&events) < 0)
		return;
	while ((outcome = fxt_reader_next(reader, &record)) > 0)
		if (outcome == FXT_READER_RECORD &&
		    fxt_events_get(events, record, &ev, &what) == FXT_EVENTS_EVENT &&
		    (summary_add(v->summary, &ev) < 0 || profile_add(v->profile, &ev) < 0 ||
		     why_add(v->why, &ev) < 0))
			abort();
}

static void check_times(const struct why_times *t)
{
	assert(t->total_ns == t->running_ns + t->runnable_ns + why_split_blocked(t) +
				      t->unknown_ns + t->absent_ns);
}

static void check_instance(const struct why_instance *i)
{
	uint64_t at_ns = i->from_ns;

	assert(i->verdict.text);
	check_times(&i->times);
	assert(i->times.total_ns == i->to_ns - i->from_ns);
	for (size_t k = 0; k < i->path.n_steps; k++) {
		assert(i->path.steps[k].from_ns == at_ns);
		assert(i->path.steps[k].to_ns > at_ns);
		at_ns = i->path.steps[k].to_ns;
	}
	assert(at_ns == i->to_ns);
}

static void check_results(const struct why *w)
{
	check_times(&w->total);
	for (size_t i = 0; i < w->n_threads; i++)
		check_times(&w->threads[i].times);
	for (size_t i = 0; i < w->n_worst; i++)
		check_instance(&w->worst[i]);
	for (size_t i = 0; i < w->n_open_waits; i++)
		assert(w->open_waits[i].ns <= w->to_ns);
	assert(w->durations.n + w->n_partial == w->n_instances);
}

static void check_output(const struct outbuf *bytes)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	const struct fxt_record *record;
	int r = fxt_reader_new_memory(&reader, bytes->data, bytes->size);

	assert(r == 0);
	while ((r = fxt_reader_next(reader, &record)) > 0)
		assert(r == FXT_READER_RECORD);
}

/* Writes the archive with tracks. */
static void write_tracks(const struct views *v, const uint8_t *data, size_t size)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	_cleanup_(edit_why_freep) struct edit_why *edit = NULL;
	const struct fxt_record *record;
	struct edit_output out;
	const char *what;
	int outcome, r;

	if (edit_output_init(&out) < 0 || edit_why_new(&edit, &out, v->why, v->summary) < 0 ||
	    fxt_reader_new_memory(&reader, data, size) != 0)
		abort();
	r = 0;
	while (r == 0 && (outcome = fxt_reader_next(reader, &record)) > 0)
		if (outcome == FXT_READER_RECORD)
			r = edit_why_record(edit, record, &what);
	r = r ?: edit_why_finish(edit);
	if (r == 0)
		check_output(&out.bytes);
	edit_output_deinit(&out);
}

static void explain(const uint8_t *data, size_t size, enum why_what what)
{
	struct views v = { 0 };
	int r;

	open_views(&v, what);
	read_archive(&v, data, size);
	if (summary_finish(v.summary) < 0)
		abort();
	r = why_finish(v.why);
	assert(r == 0 || r == -ENODATA);
	if (r == 0) {
		check_results(v.why);
		write_tracks(&v, data, size);
	}
	close_views(&v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
#ifdef FUZZ_ONE_WAY
	explain(data, size, (enum why_what)(table_hash(data, size) % WHY_INSTANCES));
#else
	for (enum why_what what = 0; what < WHY_INSTANCES; what++)
		explain(data, size, what);
#endif
	return 0;
}
