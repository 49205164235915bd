/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All uses of a foreign archive: read, lint, events, summary, profile.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "reader/fxt/fxt-events.h"
#include "reader/fxt/fxt-lint.h"
#include "reader/fxt/fxt-reader.h"
#include "reader/views/call-tree.h"
#include "reader/views/summary.h"
#include "writer/fxt/fxt-perfetto-samples.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Checks that strings of events are complete, and end with NUL. */
static void use_event(const struct event *ev)
{
	static volatile size_t sink;

	switch (ev->kind) {
	case EVENT_TASK:
		sink += strlen(ev->task.comm) + strlen(ev->task.command_line);
		break;
	case EVENT_EXEC:
		sink += strlen(ev->exec.file) + strlen(ev->exec.command_line);
		break;
	case EVENT_RENAME:
		sink += strlen(ev->rename.from) + strlen(ev->rename.to);
		break;
	case EVENT_START:
		sink += strlen(ev->start.session) + strlen(ev->start.version);
		break;
	case EVENT_MAPPING:
		sink += strlen(ev->mapping.path);
		for (uint32_t i = 0; i < ev->mapping.build_id_size; i++)
			sink += ev->mapping.build_id[i];
		break;
	case EVENT_FRAME:
		sink += strlen(ev->frame.function) + strlen(ev->frame.source) +
			strlen(ev->frame.module);
		break;
	case EVENT_SAMPLE:
		for (unsigned i = 0; i < ev->sample.n_frames; i++)
			sink += ev->sample.frames[i];
		break;
	default:
		break;
	}
	(void)sink;
}

/* Findings can be formatted. */
static void use_finding(void *userdata, const struct fxt_finding *finding)
{
	char detail[FXT_FINDING_DETAIL_MAX];

	(void)userdata;
	assert(finding->id < FXT_FINDING_MAX);
	assert(strlen(fxt_finding_detail(detail, finding)) < sizeof(detail) - 1);
}

/* Checks that each sample is counted once, in the profile and in the tree of names. */
static void check_profile(struct profile *p, bool inverted)
{
	_cleanup_(call_tree_freep) struct call_tree *tree = NULL;
	const struct profile_names names = { 0 };
	uint64_t sum = 0;

	for (size_t i = 0; i < p->n_stacks; i++)
		sum += p->stacks[i].count;
	assert(sum == p->n_samples + p->n_offcpu);
	assert(p->n_samples == p->n_samples_seen && p->n_offcpu == p->n_offcpu_seen);
	if (call_tree_new(&tree) < 0 ||
	    call_tree_add(tree, p,
			  &(struct call_tree_options){ .inverted = inverted, .names = &names }) <
		    0 ||
	    call_tree_finish(tree) < 0)
		return;
	assert(tree->nodes[0].total[CALL_NOW] == sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	_cleanup_(fxt_events_freep) struct fxt_events *events = NULL;
	_cleanup_(summary_freep) struct summary *summary = NULL;
	_cleanup_(fxt_lint_freep) struct fxt_lint *lint = NULL;
	_cleanup_(profile_freep) struct profile *profile = NULL;
	_cleanup_(fxt_perfetto_samples_freep) struct fxt_perfetto_samples *packets = NULL;
	const struct fxt_record *record;
	uint64_t end = 0, looked_at = 0;
	int r;

	if (fxt_reader_new_memory(&reader, data, size) != 0)
		return 0;
	if (fxt_events_new(&events) < 0 || summary_new(&summary) < 0 ||
	    fxt_lint_new(&lint, use_finding, NULL) < 0 || fxt_perfetto_samples_new(&packets) < 0 ||
	    profile_new(&profile, &(struct profile_options){ .on_cpu = true,
							     .off_cpu = true,
							     .absolute = true,
							     .to_ns = UINT64_MAX }) < 0)
		return 0;
	while ((r = fxt_reader_next(reader, &record)) > 0) {
		const char *what;
		struct event ev;

		assert(fxt_reader_offset(reader) <= size);
		if (r == FXT_READER_DAMAGE) {
			const struct fxt_damage *damage = fxt_reader_damage(reader);

			assert(damage->offset <= size && damage->bytes <= size - damage->offset);
			/* The reader makes progress, so the number of damaged parts is bounded. */
			assert(++looked_at <= 3 * size + 100);
			fxt_lint_damage(lint, damage);
			continue;
		}
		/*
		 * A record can begin inside of the previous one, if the size of the previous one is
		 * wrong, but not before that one.
		 */
		assert(record->offset >= end);
		end = record->offset + 1;
		assert(record->offset + FXT_WORD_BYTES * record->n_words <= size);
		assert((uintptr_t)record->words % sizeof(uint64_t) == 0);
		if (fxt_lint_record(lint, record) < 0)
			return 0;
		if (fxt_events_get(events, record, &ev, &what) == FXT_EVENTS_EVENT) {
			use_event(&ev);
			if (summary_add(summary, &ev) < 0 || profile_add(profile, &ev) < 0 ||
			    fxt_perfetto_samples_add(packets, &ev) < 0)
				return 0;
			if (fxt_perfetto_samples_batch(packets, false))
				fxt_perfetto_samples_next(packets);
		}
	}
	assert(r == FXT_READER_END);
	assert(fxt_reader_offset(reader) == size);
	if (fxt_lint_finish(lint) < 0)
		return 0;
	summary_finish(summary);
	if (profile_finish(profile) < 0)
		return 0;
	check_profile(profile, false);
	check_profile(profile, true);
	for (size_t i = 0; i < summary->n_cpus; i++)
		assert(!summary->cpus[i].seen || summary->cpus[i].busy_ns +
								 summary->cpus[i].other_ns +
								 summary->cpus[i].idle_ns >=
							 summary->duration_ns);
	return 0;
}
