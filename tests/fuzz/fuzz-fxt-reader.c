/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything that is done with an archive from elsewhere: read, lint, events, summary.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "reader/fxt/fxt-events.h"
#include "reader/fxt/fxt-lint.h"
#include "reader/fxt/fxt-reader.h"
#include "reader/summary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Strings of events are whole and end. */
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
	default:
		break;
	}
	(void)sink;
}

/* Findings can be told. */
static void use_finding(void *userdata, const struct fxt_finding *finding)
{
	char detail[FXT_FINDING_DETAIL_MAX];

	(void)userdata;
	assert(finding->id < FXT_FINDING_MAX);
	assert(strlen(fxt_finding_detail(detail, finding)) < sizeof(detail) - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	_cleanup_(fxt_events_freep) struct fxt_events *events = NULL;
	_cleanup_(summary_freep) struct summary *summary = NULL;
	_cleanup_(fxt_lint_freep) struct fxt_lint *lint = NULL;
	const struct fxt_record *record;
	uint64_t end = 0, looked_at = 0;
	int r;

	if (fxt_reader_new_memory(&reader, data, size) != 0)
		return 0;
	if (fxt_events_new(&events) < 0 || summary_new(&summary) < 0 ||
	    fxt_lint_new(&lint, use_finding, NULL) < 0)
		return 0;
	while ((r = fxt_reader_next(reader, &record)) > 0) {
		const char *what;
		struct event ev;

		assert(fxt_reader_offset(reader) <= size);
		if (r == FXT_READER_DAMAGE) {
			const struct fxt_damage *damage = fxt_reader_damage(reader);

			assert(damage->offset <= size && damage->bytes <= size - damage->offset);
			/* Damage is told or leads on; it does not come without end. */
			assert(++looked_at <= 3 * size + 100);
			fxt_lint_damage(lint, damage);
			continue;
		}
		/* A record may begin in the one before it, which ran into it, and not before that. */
		assert(record->offset >= end);
		end = record->offset + 1;
		assert(record->offset + FXT_WORD_BYTES * record->n_words <= size);
		assert((uintptr_t)record->words % sizeof(uint64_t) == 0);
		if (fxt_lint_record(lint, record) < 0)
			return 0;
		if (fxt_events_get(events, record, &ev, &what) == FXT_EVENTS_EVENT) {
			use_event(&ev);
			if (summary_add(summary, &ev) < 0)
				return 0;
		}
	}
	assert(r == FXT_READER_END);
	assert(fxt_reader_offset(reader) == size);
	if (fxt_lint_finish(lint) < 0)
		return 0;
	summary_finish(summary);
	for (size_t i = 0; i < summary->n_cpus; i++)
		assert(!summary->cpus[i].seen || summary->cpus[i].busy_ns +
								 summary->cpus[i].other_ns +
								 summary->cpus[i].idle_ns >=
							 summary->duration_ns);
	return 0;
}
