/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks allocations as docs/FXT-MAPPING.md describes them: events of the category `memory` with
 * kymo's arguments. Events of other programs in this category are ignored.
 */
#include <errno.h>

#include "reader/fxt/fxt-lint-state.h"

static char seen; /* the value of each element in sets */

static struct fxt_lint_watch *fxt_lint_memory_get_watch(struct fxt_lint *l, uint64_t pid)
{
	if (pid == UINT64_MAX)
		return NULL;
	return fxt_lint_get(l, &l->watches, pid + 1, sizeof(struct fxt_lint_watch),
			    FXT_LINT_THREADS_MAX);
}

/* Ends the last snapshot of W, and reports the blocks that have not followed it. */
static void fxt_lint_memory_end_snapshot(struct fxt_lint *l, struct fxt_lint_watch *w)
{
	if (w->missing > 0)
		fxt_lint_find(l, FXT_FINDING_SNAPSHOT_SHORT, w->snapshot, w->missing, 0);
	w->missing = 0;
}

static uint64_t fxt_lint_memory_stack_key(uint64_t pid, const struct fxt_lint_watch *w, uint64_t id)
{
	const uint64_t key[] = { pid, w->number, id };

	return table_hash(key, sizeof(key));
}

/* ---- stacks ---- */

static void fxt_lint_memory_end_named(struct fxt_lint *l)
{
	if (l->named.id != 0)
		fxt_lint_find(l, FXT_FINDING_STACK_EMPTY, l->named_at, l->named.id, 0);
	l->named.id = 0;
}

static void fxt_lint_memory_name_stack(struct fxt_lint *l, const struct fxt_record *r,
				       const struct fxt_lint_watch *w)
{
	uint64_t id = fxt_record_number(r, FXT_NAME_ID);

	if (id == 0)
		return;
	fxt_lint_memory_end_named(l);
	fxt_named_set(&l->named, r);
	l->named_at = l->here;
	/*
	 * If the set is full, fxt_lint_memory_use_stack() reports no more missing stacks, so a
	 * stack that is not in the set does no harm.
	 */
	if (l->stacks.n_used < FXT_LINT_STACKS_MAX &&
	    table_set(&l->stacks, fxt_lint_memory_stack_key(r->thread.pid, w, id), &seen) < 0)
		l->error = -ENOMEM;
}

static void fxt_lint_memory_use_stack(struct fxt_lint *l, const struct fxt_record *r,
				      const struct fxt_lint_watch *w)
{
	struct fxt_arg id;

	if (fxt_args_find(r->args, FXT_NAME_STACK, FXT_ARG_UINT64, &id) &&
	    l->stacks.n_used < FXT_LINT_STACKS_MAX &&
	    !table_get(&l->stacks, fxt_lint_memory_stack_key(r->thread.pid, w, id.uint64)))
		fxt_lint_find(l, FXT_FINDING_STACK_UNNAMED, l->here, id.uint64, 0);
}

/* ---- events ---- */

static void fxt_lint_memory_begin_watch(struct fxt_lint *l, const struct fxt_record *r)
{
	struct fxt_lint_watch *w = fxt_lint_memory_get_watch(l, r->thread.pid);

	if (!w)
		return;
	fxt_lint_memory_end_snapshot(l, w);
	w->open = true;
	w->number++;
}

/* Handles an event of an allocation, a snapshot or a stack. The process must be one whose
 * allocations are traced. */
static void fxt_lint_memory_on_watch_event(struct fxt_lint *l, const struct fxt_record *r,
					   enum fxt_row_id row)
{
	struct fxt_lint_watch *w = fxt_lint_memory_get_watch(l, r->thread.pid);
	struct fxt_arg blocks;

	if (!w)
		return;
	/* Event `stack` is no error: processes without traced allocations have it for stacks of
	 * calls. */
	if (row != FXT_ROW_STACK && !w->open && !w->unwatched_reported) {
		w->unwatched_reported = true;
		fxt_lint_find(l, FXT_FINDING_MEMORY_UNWATCHED, l->here, r->thread.pid, 0);
	}
	switch (row) {
	case FXT_ROW_STACK:
		fxt_lint_memory_name_stack(l, r, w);
		break;
	case FXT_ROW_SNAPSHOT:
		fxt_lint_memory_end_snapshot(l, w);
		if (fxt_args_find(r->args, FXT_NAME_BLOCKS, FXT_ARG_UINT64, &blocks))
			w->missing = blocks.uint64;
		w->snapshot = l->here;
		w->snapshot_ns = r->ts_ns;
		break;
	case FXT_ROW_WATCH_END:
		fxt_lint_memory_end_snapshot(l, w);
		w->open = false;
		break;
	case FXT_ROW_BLOCK:
		/* (blocks with another time belong to no snapshot) */
		w->missing -= w->missing > 0 && r->ts_ns == w->snapshot_ns;
		fxt_lint_memory_use_stack(l, r, w);
		break;
	default:
		fxt_lint_memory_use_stack(l, r, w);
		break;
	}
}

static void fxt_lint_memory_on_event(struct fxt_lint *l, const struct fxt_record *r)
{
	enum fxt_row_id row = fxt_record_row(r);

	if (fxt_event_rows[row].category != FXT_NAME_MEMORY || !fxt_record_has_main(r, row))
		return;
	if (row == FXT_ROW_WATCH_BEGIN)
		fxt_lint_memory_begin_watch(l, r);
	else
		fxt_lint_memory_on_watch_event(l, r, row);
}

void fxt_lint_memory(struct fxt_lint *l, const struct fxt_record *r)
{
	if (r->type == FXT_RECORD_EVENT)
		fxt_lint_memory_on_event(l, r);
	else if (r->type == FXT_RECORD_PROFILER && r->subtype == FXT_PROFILER_BACKTRACE)
		fxt_named_consume(&l->named, r);
}

void fxt_lint_memory_finish(struct fxt_lint *l)
{
	struct fxt_lint_watch *w;

	fxt_lint_memory_end_named(l);
	for (size_t pos = 0; (w = table_next(&l->watches, &pos));)
		fxt_lint_memory_end_snapshot(l, w);
}
