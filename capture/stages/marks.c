/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/marks.h"

#include "capture/options/options.h"
#include "writer/fxt/fxt-holds.h"

/*
 * Begins to note state. Mappings are left out, since model/maps has them. Settings of sampling are
 * left out, since the options have them. Single allocations are not repeated. Names of functions of
 * Python are written again with the first stack of a chunk that has them (capture/python), so only
 * the names in stacks that are repeated here are noted (FXT_HOLDS_NAME).
 */
static int marks_begin(void *stage, const struct session_options *o)
{
	const uint32_t without = 1u << FXT_HOLDS_MAPPING | 1u << FXT_HOLDS_SAMPLING |
				 1u << FXT_HOLDS_ALLOC | 1u << FXT_HOLDS_FRAME;
	struct marks *m = stage;
	int r = m->pipe->splits ? fxt_holds_new(&m->holds, &fxt_holds_events, without) : 0;

	m->log = o->memory.log;
	m->pipe->archive->holds = m->holds;
	return r;
}

/*
 * Writes the name of the process of EV. The process may have ended, and another one may have its
 * id.
 */
static int marks_name_process_of(const struct marks *m, const struct stage_head *h,
				 const struct event *ev)
{
	uint32_t tid = fxt_koid_tid(ev->pid);

	return tasks_koid(m->pipe->tasks, tid) == ev->pid ? h->name(tid, h->userdata) : 0;
}

/* Writes SAID, an event that was kept from an earlier chunk, with the start time of this chunk. */
static int marks_say_again(const struct marks *m, const struct stage_head *h,
			   const struct event *said)
{
	struct event ev = *said;
	int r = marks_name_process_of(m, h, said);

	ev.ts_ns = h->at_ns;
	/*
	 * If each allocation is logged, earlier allocations are in another chunk, so the watch is
	 * not complete in this one.
	 */
	if (ev.kind == EVENT_WATCH_BEGIN && m->log)
		ev.watch.complete = false;
	/*
	 * Blocks can refer to the name of a context that has ended, so its begin is repeated, too.
	 */
	if (ev.kind == EVENT_CONTEXT && !said->context.begin) {
		ev.context.begin = true;
		r = r < 0 ? r : fxt_archive_event(h->to, &ev);
		ev.context.begin = false;
	}
	return r < 0 ? r : fxt_archive_event(h->to, &ev);
}

static int marks_head(const void *stage, const struct stage_head *h)
{
	const struct marks *m = stage;
	const struct fxt_held *held = NULL;
	const struct event lost = {
		.kind = EVENT_LOST,
		.ts_ns = h->at_ns,
		.lost = {
			/* only this class has that many events */
			.class_name = event_class_names[CLASS_MEMORY],
			.count = fxt_holds_left_out(m->holds),
			.first_ns = h->at_ns,
			.last_ns = h->at_ns,
		},
	};
	int r = 0;

	while (r == 0 && (held = fxt_holds_next(m->holds, held)))
		r = marks_say_again(m, h, held->what);
	return r == 0 && lost.lost.count > 0 ? fxt_archive_event(h->to, &lost) : r;
}

static void marks_deinit(void *stage)
{
	struct marks *m = stage;

	fxt_holds_free(m->holds);
}

const struct stage marks_stage = {
	.name = "marks",
	.begin = marks_begin,
	.head = marks_head,
	.deinit = marks_deinit,
};
