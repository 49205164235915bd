/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/recorder/recorder.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "capture/proc/proc-records.h"
#include "capture/recorder/recorder-parts.h"

enum { MARK_MAX = 256 };

int recorder_init(struct recorder *r, const struct pipeline_owner *owner)
{
	*r = (struct recorder){ 0 };
	r->pipe = (struct pipeline){
		.archive = &r->archive,
		.tasks = &r->tasks,
		.to_ns = UINT64_MAX,
		.owner = *owner,
	};
	recorder_link(r);
	recorder_find_ways(r);
	r->news.pipe = r->trigger_input.pipe = r->selection.pipe = r->moments.pipe =
		r->blocks.pipe = r->tracepoints.pipe = r->lifecycle.pipe = r->schedule.pipe =
			r->marks.pipe = r->timelines.pipe = &r->pipe;
	r->selection.profiler = &r->profiler;
	r->timelines.schedule = &r->schedule;
	activity_init(&r->activity, &r->pipe);
	profiler_init(&r->profiler, &r->pipe);
	allocations_init(&r->allocations, &r->pipe);
	calls_init(&r->calls, &r->pipe);
	providers_stage_init(&r->providers, &r->pipe);
	r->named_stacks = (struct named_stacks){ .pipe = &r->pipe, .stacks = &r->profiler.stacks };
	r->calls.stacks = r->moments.stacks = r->profiler.named = &r->named_stacks;
	return tasks_init(&r->tasks);
}

void recorder_deinit(struct recorder *r)
{
	merge_free(r->merge);
	for (size_t i = 0; i < RECORDER_STAGES; i++)
		if (recorder_stages[i].ops->deinit)
			recorder_stages[i].ops->deinit(recorder_state(r, i));
	fxt_archive_deinit(&r->archive);
	tasks_deinit(&r->tasks);
	free(r->at_end);
	*r = (struct recorder){ 0 };
}

void recorder_set_buffer(struct recorder *r, struct outbuf *b, size_t full)
{
	fxt_archive_set_output(&r->archive, b);
	r->pipe.buffer_full = full;
}

void recorder_set_end(struct recorder *r, uint64_t end_ns)
{
	r->end_ns = end_ns;
	/* The pause has already set an earlier end. */
	if (r->pauses)
		return;
	r->pipe.to_ns = end_ns;
	recorder_note_losses(r);
}

/* ---- begin ---- */

static int recorder_make_tables(struct recorder *r)
{
	int error;

	r->at_end = calloc((size_t)CLASS_MAX * r->pipe.n_cpus, sizeof(*r->at_end));
	if (!r->at_end)
		return -ENOMEM;
	error = merge_new(r->pipe.collector, &r->merge);
	if (error == 0)
		error = fxt_archive_init(&r->archive, NULL, r->pipe.n_cpus);
	return error == 0 && r->pipe.splits ? tasks_will_split(&r->tasks) : error;
}

int recorder_begin(struct recorder *r, const struct worker_results *news,
		   const struct session_options *options)
{
	int error;

	r->pipe.collector = news->collector;
	r->calls.targets = news->calls;
	r->moments.moments = news->moments;
	r->tracepoints.tracepoints = news->tracepoints;
	r->profiler.probed = news->probed;
	r->calls.no_callers = options->stacks == STACKS_FP;
	r->profiler.offcpu_min_ns = options->offcpu_min_ns;
	r->pipe.n_cpus = collector_n_cpus(r->pipe.collector);
	r->pipe.categories = options->categories;
	r->pipe.filtered = session_options_filtered(options);
	r->pipe.reselects = session_options_reselects(options);
	r->pipe.own = options->own;
	r->pipe.splits = session_options_splits(options);
	r->pipe.from_ns = news->start_ns;
	r->chunk = r->pipe.splits;
	r->start_ns = r->begun_ns = r->pipe.chunk_ns = news->start_ns;
	r->listed_ns = news->listed_ns;
	error = recorder_make_tables(r);
	if (error < 0)
		return error;
	r->archive.no_perfetto_samples = options->no_perfetto_blobs;
	error = RECORDER_EACH(r, begin, options);
	if (error < 0)
		return error;
	error = recorder_learn_cgroups(r, &news->cgroups);
	return error < 0 ? error : recorder_learn_tasks(r, &news->tasks);
}

void recorder_release(struct recorder *r)
{
	r->closed = true;
	r->merge = merge_free(r->merge);
	r->pipe.collector = NULL;
}

int recorder_open(struct recorder *r, const struct session_options *options)
{
	int error = fxt_archive_begin(&r->archive);

	if (error == 0)
		error = recorder_write_start(r, &r->archive, options, r->start_ns);
	if (error == 0)
		error = recorder_write_clock(&r->archive, r->start_ns);
	if (error == 0)
		error = recorder_write_sampling(r, &r->archive, options, r->start_ns);
	if (error == 0)
		error = RECORDER_EACH(r, open);
	r->opened = error == 0;
	return error;
}

/* ---- records ---- */

/*
 * Handles finished words. Records of words are more frequent than all other records, so they bypass
 * the list of stages. Words of CLASS_SCHED go to the triggers and then to the schedule, which
 * converts them for the archive. Other words go to activity.
 */
static int recorder_on_words(const struct merge_ring *from, uint64_t *words, unsigned n_words,
			     void *userdata)
{
	struct recorder *r = userdata;
	int error = 0;

	if (from->class != CLASS_SCHED)
		return pipeline_after(&r->pipe, activity_words(&r->activity, from->class, from->cpu,
							       words, n_words));
	if (__builtin_expect(r->trigger_input.triggers != NULL, 0))
		error = trigger_input_words(&r->trigger_input, words, n_words);
	return pipeline_after(&r->pipe,
			      error ?: schedule_record(&r->schedule, from->cpu, words, n_words));
}

static int recorder_on_loss_begins(const struct merge_ring *from, const struct ring_lost *mark,
				   void *userdata)
{
	struct recorder *r = userdata;
	struct ring_lost clipped = recorder_clip_to_end(r, from->class, from->cpu, mark);
	const struct stage_loss loss = { from->class, from->cpu, &clipped };

	return pipeline_after(&r->pipe, RECORDER_EACH(r, loss_begins, &loss));
}

static int recorder_on_loss_ends(const struct merge_ring *from, const struct ring_lost *mark,
				 void *userdata)
{
	struct recorder *r = userdata;
	const struct stage_loss loss = { from->class, from->cpu, mark };

	return from->class == CLASS_SCHED
		       ? pipeline_after(&r->pipe, RECORDER_EACH(r, loss_ends, &loss))
		       : 0;
}

static int recorder_on_record(const struct rec_head *rec, void *userdata)
{
	struct recorder *r = userdata;

	return pipeline_after(&r->pipe, recorder_pass(r, rec));
}

int recorder_add_mappings(struct recorder *r, const struct worker_results *news)
{
	if (r->pipe.categories & (CATEGORIES_USER_STACKS | CATEGORY_CALLS | CATEGORY_MOMENTS))
		r->n_unlisted += news->n_unlisted;
	return selection_add_mappings(&r->selection, &news->mappings, r->start_ns);
}

bool recorder_awaits_answers(const struct recorder *r)
{
	return allocations_await_files(&r->allocations);
}

int recorder_add_waiting(struct recorder *r, const struct worker_results *news)
{
	return profiler_add_waiting(&r->profiler, &news->waiting);
}

int recorder_round(struct recorder *r, uint64_t horizon_ns)
{
	const struct merge_sink sink = { recorder_on_words, recorder_on_loss_begins,
					 recorder_on_loss_ends, recorder_on_record, r };
	int error = RECORDER_EACH(r, prepare);

	if (error == 0)
		error = merge_round(r->merge, horizon_ns, &sink);
	if (error == 0)
		error = RECORDER_EACH(r, advance, horizon_ns);
	collector_count_walks(r->pipe.collector, r->walks);
	return error == 0 ? recorder_write_dropped(r) : error;
}

int recorder_add_samples(struct recorder *r, const struct worker_results *news)
{
	const struct rec_counters *list = (const struct rec_counters *)news->samples.data;
	size_t n = news->samples.size / sizeof(*list), i = 0;
	int error = 0;

	for (; error == 0 && i < n; i++)
		error = merge_add(r->merge, &list[i].head);
	if (error != -ENOBUFS)
		return error;
	/* Too many samples wait because the output has stalled. */
	recorder_lose_samples(r, &list[i - 1], n - (i - 1));
	return 0;
}

int recorder_mark(struct recorder *r, const char *text)
{
	char clean[MARK_MAX + 1];
	struct event ev = { .kind = EVENT_MARK, .ts_ns = clock_boot_ns(), .mark.text = clean };
	int error;

	text_clean(clean, sizeof(clean), text, strlen(text));
	error = fxt_archive_event(&r->archive, &ev);
	if (error == 0)
		r->n_marks++;
	return error;
}

int recorder_shed(struct recorder *r, const struct event *ev)
{
	return fxt_archive_event(&r->archive, ev);
}

int recorder_context(struct recorder *r, const char *name, uint32_t bit, uint32_t open)
{
	const struct event ev = {
		.kind = EVENT_CONTEXT,
		.ts_ns = clock_boot_ns(),
		.context = { .name = name, .id = bit, .begin = open & bit },
	};
	int error;

	if (r->pipe.categories & CATEGORIES_MEMORY && r->pipe.collector)
		collector_set_context(r->pipe.collector, open);
	error = fxt_archive_event(&r->archive, &ev);
	if (error == 0)
		r->n_marks++;
	return error;
}

int recorder_settle_triggers(struct recorder *r, uint64_t horizon_ns)
{
	return trigger_input_settle(&r->trigger_input, horizon_ns);
}

uint64_t recorder_n_triggers(const struct recorder *r)
{
	return r->trigger_input.triggers ? triggers_count(r->trigger_input.triggers) : 0;
}

uint64_t recorder_n_events(const struct recorder *r)
{
	return r->schedule.n_events + r->lifecycle.n_events + r->activity.n_events +
	       r->profiler.n_events + r->allocations.n_events + r->calls.n_events +
	       r->named_stacks.n_events + r->moments.n_events + r->tracepoints.n_events +
	       r->blocks.n_events + r->providers.n_events + r->n_marks;
}

uint64_t recorder_n_events_of(const struct recorder *r, enum category_group group)
{
	switch (group) {
	case GROUP_SCHED:
		return r->schedule.n_events;
	case GROUP_CPU:
		return r->activity.n_events;
	case GROUP_STACKS:
		return r->profiler.n_events - r->profiler.n_mappings;
	case GROUP_MEMORY:
		return r->allocations.n_events;
	case GROUP_CALLS:
		return r->calls.n_events;
	case GROUP_MOMENTS:
		return r->moments.n_events - r->moments.n_points;
	case GROUP_TRACEPOINTS:
		return r->tracepoints.n_events;
	case GROUP_BLOCK:
		return r->blocks.n_events;
	case GROUP_APP:
		return r->providers.n_events;
	case GROUPS:
		break;
	}
	return 0;
}

/* ---- end ---- */

/* Closes open items of CPU: losses, and its idle state. */
int recorder_close_cpu(struct recorder *r, unsigned cpu)
{
	uint64_t begin_ns;
	uint32_t state;
	int error = 0;

	for (enum event_class class = 0; error == 0 && class < CLASS_MAX; class ++)
		error = recorder_write_trailing_loss(r, class, cpu);
	if (error == 0 && r->pipe.categories & CATEGORY_POWER &&
	    collector_idle(r->pipe.collector, cpu, &state, &begin_ns))
		error = activity_close_idle(&r->activity, cpu, state, begin_ns);
	return error;
}

int recorder_close(struct recorder *r, const struct recorder_end *end)
{
	int error = 0;

	collector_count_walks(r->pipe.collector, r->walks);
	/* If the recording is paused, the pause has already closed the open items. */
	for (unsigned cpu = 0; error == 0 && !r->paused && cpu < r->pipe.n_cpus; cpu++)
		error = recorder_close_cpu(r, cpu);
	for (enum event_class class = 0; error == 0 && class < CLASS_MAX; class ++)
		error = recorder_write_skipped(r, class);
	if (error == 0)
		error = recorder_write_dropped(r);
	if (error == 0)
		error = RECORDER_EACH(r, end);
	if (error == 0)
		error = recorder_write_clock(&r->archive, r->end_ns);
	if (error < 0)
		return error;
	r->closed = true;
	return recorder_write_stop(r, &r->archive, r->end_ns, end);
}
