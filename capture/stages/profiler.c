/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/profiler.h"

#include <string.h>

#include "base/clock.h"
#include "capture/programs/collector.h"
#include "capture/stages/profiler-parts.h"
#include "model/maps.h"

void profiler_init(struct profiler *p, const struct pipeline *pipe)
{
	*p = (struct profiler){ .pipe = pipe };
}

void profiler_deinit(void *stage)
{
	struct profiler *p = stage;

	profiler_free_processes(p);
	p->maps = maps_free(p->maps);
	stacks_deinit(&p->stacks);
	python_names_deinit(&p->python);
	table_deinit_free(&p->waiting);
	table_deinit_free(&p->waiting_before);
	table_deinit_free(&p->left);
	other_files_deinit(&p->others);
}

int profiler_write_event(struct profiler *p, const struct event *ev)
{
	p->n_events++;
	return fxt_archive_event(p->pipe->archive, ev);
}

int profiler_record(struct profiler *p, const struct rec_head *rec)
{
	int r = rec->kind == REC_MAPPING ? profiler_forget_ended(p, rec->ts_ns) : 0;

	if (r < 0)
		return r;
	switch (rec->kind) {
	case REC_STACK:
		return stacks_add(&p->stacks, (const struct rec_stack *)rec);
	case REC_PYTHON_CODE:
	case REC_HEAP_PYTHON_CODE:
		return python_names_add(&p->python, (const struct rec_python_code *)rec);
	case REC_SAMPLE:
		return profiler_on_sample(p, rec);
	case REC_OFFCPU:
		return profiler_on_offcpu(p, rec);
	case REC_MAPPING:
		return profiler_on_mapping(p, (const struct rec_mapping *)rec);
	case REC_NEW_IMAGE:
		return profiler_on_new_image(p, rec);
	default:
		return 0;
	}
}

/* ---- the stage ---- */

static int profiler_begin(void *stage, const struct session_options *o)
{
	struct profiler *p = stage;

	(void)o;
	return p->pipe->splits ? profiler_will_split(p) : 0;
}

/*
 * Returns true if PID may be watched. The worker can report data about a process after its exec or
 * exit. By then, the mappings of the process would be lost, so they are needed now.
 */
static bool profiler_may_be_watched(const struct profiler *p, uint32_t pid)
{
	const struct pipeline_links *links = &p->pipe->links;

	return p->pipe->categories & CATEGORIES_MEMORY &&
	       (p->pipe->filtered || links->watches(pid, links->userdata));
}

static int profiler_on_exec(struct profiler *p, const struct rec_head *rec)
{
	int r = profiler_executed(p, rec->pid, rec->ts_ns);

	return r == 0 && profiler_may_be_watched(p, rec->pid)
		       ? profiler_need(p, rec->pid, rec->ts_ns)
		       : r;
}

/*
 * Handles a fork. The child has the mappings of its parent. The selection stage has processed the
 * parent before.
 */
static int profiler_on_fork(struct profiler *p, const struct rec_head *rec)
{
	const uint32_t child = ((const struct rec_fork *)rec)->child.pid;
	int r = profiler_forked(p, rec->pid, child);

	if (r == 0 && p->pipe->own && child != rec->pid)
		r = profiler_trust(p, child, rec->ts_ns);
	return r == 0 ? profiler_selected(p, child) : r;
}

static int profiler_on_exit(struct profiler *p, const struct rec_head *rec)
{
	int r = 0;

	profiler_forget_left(p, rec->tid);
	if (!((const struct rec_exit *)rec)->process_ends)
		return 0;
	if (profiler_may_be_watched(p, rec->pid))
		r = profiler_need(p, rec->pid, rec->ts_ns);
	return r == 0 ? profiler_ended(p, rec->pid) : r;
}

/* Handles an incomplete stack: walks it to its end, and then handles it like any other stack. */
static int profiler_on_piece(struct profiler *p, const struct rec_head *head)
{
	const struct rec_piece *piece = (const struct rec_piece *)head;
	struct rec_stack whole = { .head = *head, .id = piece->id };
	uint64_t frames[STACK_FRAMES_MAX];
	unsigned n;

	if (piece->is_wait) {
		profiler_forget_left(p, piece->head.tid);
		if (p->left.n_used < PROFILER_LEFT_MAX)
			return profiler_on_left(p, piece);
	}
	n = collector_resume_walk(p->pipe->collector, piece, false, frames);
	memcpy(whole.frames, frames, n * sizeof(*frames));
	whole.head.kind = REC_STACK;
	whole.head.size = REC_STACK_BYTES(n);
	return profiler_record(p, &whole.head);
}

static int profiler_on_record(void *stage, const struct rec_head *rec)
{
	struct profiler *p = stage;

	switch (rec->kind) {
	case REC_PIECE:
		return profiler_on_piece(p, rec);
	case REC_EXEC:
		return profiler_on_exec(p, rec);
	case REC_FORK:
		return profiler_on_fork(p, rec);
	case REC_EXIT:
		return profiler_on_exit(p, rec);
	case REC_RENAME:
		profiler_renamed(p, rec->pid);
		return 0;
	default:
		return profiler_record(p, rec);
	}
}

static int profiler_advance(void *stage, uint64_t horizon_ns)
{
	struct profiler *p = stage;
	int r;

	if (stacks_turn(&p->stacks, horizon_ns, clock_boot_ns()))
		collector_forget_stacks(p->pipe->collector);
	if (python_names_turn(&p->python))
		collector_forget_python(p->pipe->collector);
	r = pipeline_write_shortage(p->pipe, CLASS_STACKS, &p->n_homeless);
	/* kymo itself has dropped these records, so other records are not in doubt. */
	p->known_lost += p->n_dropped;
	return r == 0 ? pipeline_write_shortage(p->pipe, CLASS_MAPPINGS, &p->n_dropped) : r;
}

static void profiler_next_chunk(void *stage, uint64_t at_ns)
{
	struct profiler *p = stage;

	(void)at_ns;
	python_names_forget_written(&p->python);
}

const struct stage profiler_stage = {
	.name = "profiler",
	.handles = STAGE_TAKES_TASKS | STAGE_HANDLES(REC_STACK) | STAGE_HANDLES(REC_PIECE) |
		   STAGE_HANDLES(REC_SAMPLE) | STAGE_HANDLES(REC_OFFCPU) |
		   STAGE_HANDLES(REC_MAPPING) | STAGE_HANDLES(REC_NEW_IMAGE) |
		   STAGE_HANDLES(REC_PYTHON_CODE) | STAGE_HANDLES(REC_HEAP_PYTHON_CODE),
	.record = profiler_on_record,
	.begin = profiler_begin,
	.advance = profiler_advance,
	.resume = profiler_resume,
	.next_chunk = profiler_next_chunk,
	.head = profiler_head,
	.deinit = profiler_deinit,
};
