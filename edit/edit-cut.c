/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-cut.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"
#include "base/table.h"
#include "edit/edit-cut-state.h"
#include "edit/edit-find.h"

/* The sorting window in bytes. Records that are late by more bytes are not sorted. */
#define WINDOW ((size_t)16 << 20)

/* The default maximum number of complete events that continue at the cut's beginning; others are
 * left out, and counted. */
enum { ACROSS_MAX = 1 << 16 };
#define ACROSS_BYTES_MAX ((size_t)32 << 20)

static int edit_cut_write_task(struct edit_cut *c, uint32_t tid, const char *name, bool is_process)
{
	return edit_copy_event(
		c->copy,
		&(struct event){
			.kind = EVENT_TASK,
			.pid = FXT_KOID_OTHER,
			.tid = tid,
			.task = { .comm = name, .command_line = "", .is_process = is_process },
		});
}

/* Names the pseudo-thread "other" of CPU, unless it was named before. */
static int edit_cut_name_other(struct edit_cut *c, uint32_t cpu)
{
	char name[32];
	int r = 0;

	if (c->others[cpu])
		return 0;
	if (!c->any_other)
		r = edit_cut_write_task(c, FXT_KOID_OTHER, "other", true);
	c->others[cpu] = c->any_other = true;
	snprintf(name, sizeof(name), "other cpu %" PRIu32, cpu);
	return r == 0 ? edit_cut_write_task(c, FXT_KOID_OTHER + cpu, name, false) : r;
}

static int edit_cut_write_switch(void *userdata, const struct edit_switch *sw)
{
	struct edit_cut *c = userdata;
	int r = 0;

	if (edit_select_by_process(c->select) &&
	    (fxt_koid_is_other(sw->out_tid) || fxt_koid_is_other(sw->in_tid)))
		r = edit_cut_name_other(c, sw->cpu);
	return r == 0 ? edit_copy_switch(c->copy, sw) : r;
}

static int edit_cut_write_record(void *userdata, const struct fxt_provider *from,
				 const struct fxt_record *record)
{
	struct edit_cut *c = userdata;

	return edit_copy_record(c->copy, from, record);
}

static int edit_cut_add_args(void *userdata, const struct fxt_record *record, unsigned n,
			     struct fxt_out_arg *ret)
{
	const struct edit_cut *c = userdata;

	(void)record;
	if (c->since_ns == 0)
		return edit_clip_add(&c->clip, n, ret);
	if (n > 0)
		return 0;
	*ret = (struct fxt_out_arg){ .type = FXT_ARG_UINT64, .u64 = c->since_ns };
	return FXT_NAME_TIME;
}

static bool edit_cut_change_arg(void *userdata, const struct fxt_record *record, int name,
				struct fxt_out_arg *arg)
{
	const struct edit_cut *c = userdata;

	return edit_clip_keeps(&c->clip, name) && edit_select_arg(c->select, record, name, arg);
}

int edit_cut_new(struct edit_cut **ret, struct edit_output *out,
		 const struct edit_cut_options *options)
{
	_cleanup_(edit_cut_freep) struct edit_cut *c = calloc(1, sizeof(*c));
	struct edit_rules rules = { .userdata = c,
				    .arg = edit_cut_change_arg,
				    .more = edit_cut_add_args };
	int r;

	if (!c)
		return -ENOMEM;
	c->options = *options;
	r = edit_select_new(&c->select, options->pids, options->n_pids, options->cpus,
			    options->n_cpus)
		    ?: edit_copy_new(&c->copy, out, &rules) ?: edit_sort_new(&c->sort, WINDOW)
		    ?: edit_state_new(&c->state)
		    ?: edit_timeline_new(&c->timeline, edit_cut_write_switch, c)
		    ?: edit_spans_new(&c->spans, edit_cut_write_record, c)
		    ?: edit_viewer_new(&c->viewer);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(c);
	return 0;
}

struct edit_cut *edit_cut_free(struct edit_cut *c)
{
	if (!c)
		return NULL;
	for (size_t i = 0; i < c->n_across; i++)
		edit_kept_unref(c->across[i]);
	free(c->across);
	edit_cut_sessions_deinit(&c->sessions);
	edit_viewer_free(c->viewer);
	edit_spans_free(c->spans);
	edit_timeline_free(c->timeline);
	edit_state_free(c->state);
	edit_select_free(c->select);
	edit_sort_free(c->sort);
	edit_copy_free(c->copy);
	return free_ptr(c);
}

void edit_cut_get_counts(const struct edit_cut *c, struct edit_cut_counts *ret)
{
	*ret = c->counts;
	ret->copied = *edit_copy_counts(c->copy);
	edit_counts_add(&ret->copied, edit_sort_counts(c->sort));
}

/* ---- records ---- */

static int edit_cut_process_start(struct edit_cut *c, const struct edit_sorted *item)
{
	int r = 0;

	if (c->phase == WITHIN)
		r = edit_cut_write_stops(c, UINT64_MAX)
			    ?: edit_copy_record(c->copy, item->from, item->record);
	return r == 0 && c->phase != AFTER ? edit_cut_sessions_start(&c->sessions, item) : r;
}

static int edit_cut_process_stop(struct edit_cut *c, const struct edit_sorted *item)
{
	uint64_t full = fxt_record_number(item->record, FXT_NAME_FULL);
	struct summary_session *session;
	int r = 0;

	c->full += full;
	if (c->phase == BEFORE) {
		edit_cut_sessions_stop(&c->sessions, item);
		return 0;
	}
	session = edit_cut_sessions_find_stopped(&c->sessions, item);
	if (c->phase == AFTER || !session)
		return 0;
	for (size_t i = 0; i < c->n_stops; i++)
		if (c->stops[i].session == session)
			return 0;
	if (c->n_stops == STOPS_MAX)
		r = edit_cut_write_stops(c, UINT64_MAX);
	else
		c->stops[c->n_stops++] = (struct stop){ session, item->record->ts_ns, full };
	return r;
}

/* Notes RECORD, a session_start or `returned`. After the start of the cut, the first such record
 * ends the time in which nothing was recorded. */
static void edit_cut_note_resumed(struct edit_cut *c, const struct fxt_record *record)
{
	if (c->phase != BEFORE && c->counts.resumed_ns == 0)
		c->counts.resumed_ns = record->ts_ns;
}

/*
 * Notes the clock snapshot ITEM. A cut writes a snapshot at its begin, computed from the last one.
 * If the cut has begun before the first snapshot, that snapshot is copied instead.
 */
static int edit_cut_process_clock(struct edit_cut *c, const struct edit_sorted *item)
{
	const struct fxt_record *record = item->record;
	bool first = c->clock.boot_ns == 0;

	c->clock = (struct clock_snapshot){ fxt_record_number(record, FXT_NAME_BOOTTIME),
					    fxt_record_number(record, FXT_NAME_MONOTONIC),
					    fxt_record_number(record, FXT_NAME_REALTIME) };
	if (!first || c->phase != WITHIN || record->ts_ns > c->to_ns)
		return 0;
	return edit_copy_record(c->copy, item->from, record);
}

/*
 * Handles ITEM if it is an event about the whole recording. The cut replaces such events by its own
 * events. Returns 1 if ITEM must not be copied, 0 if it is to be handled like other records, or a
 * negative errno.
 */
static int edit_cut_process_own(struct edit_cut *c, const struct edit_sorted *item)
{
	const struct fxt_record *record = item->record;
	enum fxt_row_id row = edit_row_of(item->from, record);
	int r;

	switch (row) {
	case FXT_ROW_START:
		edit_cut_note_resumed(c, record);
		r = edit_cut_process_start(c, item);
		return r < 0 ? r : 1;
	case FXT_ROW_STACKS:
	case FXT_ROW_PYTHON:
		/*
		 * These counts cannot be divided by process or CPU, so a selection leaves them out.
		 * Otherwise, they stay at the end of the session.
		 */
		return c->options.n_pids > 0 || c->options.n_cpus > 0;
	case FXT_ROW_STOP:
		r = edit_cut_process_stop(c, item);
		return r < 0 ? r : 1;
	case FXT_ROW_SHED:
	case FXT_ROW_RETURNED:
		if (c->phase != BEFORE || record->ts_ns >= c->from_ns)
			return 0;
		edit_cut_sessions_shed(&c->sessions, item, row == FXT_ROW_RETURNED);
		return 1;
	case FXT_ROW_PART:
		return 1;
	case FXT_ROW_CLOCK:
		r = edit_cut_process_clock(c, item);
		return r < 0 ? r : 1;
	default:
		return 0;
	}
}

static int edit_cut_keep_across(struct edit_cut *c, const struct edit_sorted *item)
{
	if (c->n_across == (c->options.across_max ?: ACROSS_MAX) ||
	    c->across_bytes > ACROSS_BYTES_MAX) {
		c->counts.no_room_across++;
		return 0;
	}
	if (GROW(c->across, c->across_room, c->n_across + 1) < 0)
		return -ENOMEM;
	c->across_bytes += edit_kept_bytes(item->kept);
	c->across[c->n_across++] = edit_kept_ref(item->kept);
	return 0;
}

static bool edit_cut_is_complete(const struct fxt_record *r)
{
	return r->type == FXT_RECORD_EVENT && r->subtype == FXT_EVENT_DURATION_COMPLETE;
}

/*
 * Handles a record before the cut: updates the state with the record, or keeps the record if it
 * continues within the cut. R is a copy of the item's record that can be changed.
 */
static int edit_cut_note(struct edit_cut *c, const struct edit_sorted *item, struct fxt_record *r)
{
	int e = edit_state_process(c->state, item->kept, r);

	if (e != 0)
		return e < 0 ? e : 0;
	if (!edit_select_apply(c->select, r)) {
		c->counts.left_out++;
		return 0;
	}
	if (edit_cut_is_complete(r) && r->event.end_ns > c->from_ns) {
		/* (so that no duration around this event ends before the end of the event) */
		if (r->event.end_ns > c->to_ns)
			r->event.end_ns = c->to_ns;
		e = edit_spans_process(c->spans, item->from, r);
		return e < 0 ? e : edit_cut_keep_across(c, item);
	}
	c->counts.left_out++;
	if (r->type == FXT_RECORD_SCHEDULING)
		e = edit_timeline_note(c->timeline, r);
	else if (r->type == FXT_RECORD_EVENT)
		e = edit_spans_process(c->spans, item->from, r);
	return e < 0 ? e : 0;
}

static bool edit_cut_is_wakeup(const struct fxt_record *r)
{
	return r->type == FXT_RECORD_SCHEDULING && r->subtype == FXT_SCHED_WAKEUP;
}

/* Handles a record within the cut. */
static int edit_cut_process_within(struct edit_cut *c, const struct edit_sorted *item,
				   struct fxt_record *r)
{
	int verdict = 1;

	c->counts.any = true;
	if (!edit_select_apply(c->select, r)) {
		c->counts.left_out++;
		return 0;
	}
	if (edit_cut_is_complete(r))
		edit_clip_end(&c->clip, r, c->to_ns);
	if (r->type == FXT_RECORD_SCHEDULING)
		verdict = edit_timeline_note(c->timeline, r);
	else if (r->type == FXT_RECORD_EVENT)
		verdict = edit_spans_process(c->spans, item->from, r);
	if (verdict >= 0 && edit_select_by_process(c->select) && r->type == FXT_RECORD_SCHEDULING &&
	    r->subtype != FXT_SCHED_WAKEUP) {
		int e = edit_cut_name_other(c, r->sw.cpu);

		verdict = e < 0 ? e : verdict;
	}
	if (verdict < 0)
		return verdict;
	/* A scheduling record that contradicts the timeline is kept (`kymo repair` handles it),
	 * except a second wakeup in a cut of CPUs: the thread may have run on another CPU. */
	if (verdict == 0 &&
	    (r->type == FXT_RECORD_EVENT || (edit_cut_is_wakeup(r) && c->options.n_cpus > 0))) {
		c->counts.left_out++;
		return 0;
	}
	c->n_events++;
	if (edit_row_of(item->from, r) == FXT_ROW_LOST)
		c->lost += fxt_record_number(r, FXT_NAME_COUNT);
	return edit_copy_record(c->copy, item->from, r);
}

/*
 * Sets the time range of the cut. FIRST_NS is the earliest time in the archive. The archive begins
 * with its session_start, from which options.from_ns counts. Events that began earlier were in
 * progress then, and are kept unless from_ns is set.
 */
static void edit_cut_set_window(struct edit_cut *c, uint64_t first_ns)
{
	uint64_t begin_ns = c->start_ns > first_ns ? c->start_ns : first_ns;
	uint64_t base = c->options.absolute ? 0 : begin_ns;

	c->from_ns = base + c->options.from_ns;
	if (c->from_ns < base)
		c->from_ns = UINT64_MAX;
	if (c->from_ns < first_ns || c->options.from_ns == 0)
		c->from_ns = first_ns;
	c->to_ns = base + c->options.to_ns;
	if (c->to_ns < base)
		c->to_ns = UINT64_MAX;
}

static int edit_cut_learn_time(struct edit_cut *c, uint64_t ts_ns)
{
	int r = 0;

	if (!c->timed) {
		c->timed = true;
		c->counts.first_ns = c->counts.last_ns = ts_ns;
		edit_cut_set_window(c, ts_ns);
		c->from_begin = c->from_ns == ts_ns;
		if (!c->from_begin)
			r = edit_state_reduce(c->state);
	}
	if (ts_ns > c->counts.last_ns)
		c->counts.last_ns = ts_ns;
	return r;
}

/*
 * Returns true if TS_NS is not before the cut. A cut that begins with its source includes all
 * records: a record that was too late in the source to be sorted can have an earlier time than the
 * first record.
 */
static bool edit_cut_is_since(const struct edit_cut *c, uint64_t ts_ns)
{
	return ts_ns >= c->from_ns || c->from_begin;
}

/*
 * Returns true if R, an event of ROW within the cut, is a stack of allocations from before the cut,
 * or its frames. A stack has the time of its first allocation, but kymo reads the table with the
 * stacks later.
 */
static bool edit_cut_is_late_stack(struct edit_cut *c, enum fxt_row_id row,
				   const struct fxt_record *r)
{
	if (c->phase != WITHIN || edit_cut_is_since(c, r->ts_ns))
		return false;
	if (row == FXT_ROW_STACK)
		fxt_named_set(&c->late, r);
	return row == FXT_ROW_STACK ||
	       (r->type == FXT_RECORD_PROFILER && fxt_named_consume(&c->late, r));
}

/*
 * Returns true if R is a complete event that is later in the source than the window can sort, and
 * either is from before the cut and continues in it, or is from the cut and continues after it.
 * (kymo writes a complete event at its end.)
 */
static bool edit_cut_is_late_complete(const struct edit_cut *c, const struct fxt_record *r)
{
	if (!edit_cut_is_complete(r))
		return false;
	if (c->phase == AFTER)
		return r->ts_ns < c->to_ns && (r->event.end_ns > c->from_ns || c->from_begin);
	return c->phase == WITHIN && r->ts_ns < c->from_ns && r->event.end_ns > c->from_ns;
}

/*
 * Returns true if R, an event of ROW, is from the cut, but later in the source than the window can
 * sort, and depends on no other record, so it can still be written after the end of the cut.
 */
static bool edit_cut_is_late_alone(struct edit_cut *c, enum fxt_row_id row,
				   const struct fxt_record *r)
{
	if (c->phase != AFTER || r->ts_ns >= c->to_ns || !edit_cut_is_since(c, r->ts_ns))
		return false;
	if (row == FXT_ROW_STACK)
		fxt_named_set(&c->late, r);
	switch (r->type) {
	case FXT_RECORD_EVENT:
		return row != FXT_ROW_STACK &&
		       (r->subtype == FXT_EVENT_INSTANT || r->subtype == FXT_EVENT_COUNTER);
	case FXT_RECORD_PROFILER:
		return !fxt_named_consume(&c->late, r);
	default:
		return r->type == FXT_RECORD_LOG || r->type == FXT_RECORD_LARGE;
	}
}

static int edit_cut_process_late(struct edit_cut *c, const struct edit_sorted *item,
				 struct fxt_record *r)
{
	if (!edit_select_apply(c->select, r)) {
		c->counts.left_out++;
		return 0;
	}
	c->n_events++;
	if (!edit_cut_is_complete(r))
		return edit_copy_record(c->copy, item->from, r);
	return edit_cut_write_clipped(c, item->from, r);
}

/* Begins the cut if TS_NS is not before its begin, and ends it if TS_NS is not before its end. */
static int edit_cut_move_on(struct edit_cut *c, uint64_t ts_ns)
{
	int r = 0;

	if (edit_cut_is_since(c, ts_ns) && c->phase == BEFORE)
		r = edit_cut_begin(c);
	if (r == 0 && ts_ns >= c->to_ns && c->phase == WITHIN)
		r = edit_cut_write_stops(c, UINT64_MAX) ?: edit_cut_end(c, c->to_ns);
	return r;
}

static int edit_cut_process_timed(struct edit_cut *c, const struct edit_sorted *item)
{
	enum fxt_row_id row = edit_row_of(item->from, item->record);
	struct fxt_record r = *item->record;
	int e = edit_cut_learn_time(c, r.ts_ns);

	if (e < 0)
		return e;
	/*
	 * (a session_start or session_stop exactly at the begin of the cut is at the end of the
	 * previous part; in this cut, it is only in the state)
	 */
	if ((row == FXT_ROW_START || row == FXT_ROW_STOP) && r.ts_ns > c->from_ns)
		e = edit_cut_move_on(c, r.ts_ns == c->to_ns ? r.ts_ns - 1 : r.ts_ns);
	e = e ?: edit_cut_process_own(c, item);
	if (e != 0)
		return e < 0 ? e : 0;
	if (!edit_cut_is_since(c, r.ts_ns) && c->phase == BEFORE)
		return edit_cut_note(c, item, &r);
	if (edit_cut_is_late_stack(c, row, &r))
		edit_clip_move(&c->clip, &r, c->from_ns);
	e = edit_cut_move_on(c, r.ts_ns);
	if (row == FXT_ROW_RETURNED && edit_session_is_pause(&r))
		edit_cut_note_resumed(c, &r);
	if (e == 0 && c->phase == WITHIN)
		e = edit_cut_write_stops(c, r.ts_ns);
	if (e < 0)
		return e;
	if (c->phase == WITHIN && edit_cut_is_since(c, r.ts_ns)) {
		e = edit_cut_process_within(c, item, &r);
		c->clip = (struct edit_clip){ 0 };
		return e;
	}
	if (edit_cut_is_late_complete(c, &r) || edit_cut_is_late_alone(c, row, &r))
		return edit_cut_process_late(c, item, &r);
	c->counts.left_out++;
	return 0;
}

static int edit_cut_process_untimed(struct edit_cut *c, const struct edit_sorted *item)
{
	struct fxt_record r = *item->record;

	/* (as long as no time of the source is known, the cut may begin with its source) */
	if (c->phase == BEFORE && (c->from_begin || !c->timed) &&
	    (r.type == FXT_RECORD_KERNEL_OBJECT || r.type == FXT_RECORD_METADATA))
		return edit_state_add(c->state, item->kept);
	if (r.type == FXT_RECORD_METADATA && c->phase != WITHIN)
		return 0;
	if (r.type == FXT_RECORD_KERNEL_OBJECT && c->phase == BEFORE) {
		int e = edit_state_process(c->state, item->kept, &r);

		return e < 0 ? e : 0;
	}
	if (!edit_select_apply(c->select, &r))
		return 0;
	return edit_copy_record(c->copy, item->from, &r);
}

static int edit_cut_process_sorted(struct edit_cut *c, bool all)
{
	struct edit_sorted item;
	int r = 0;

	while (r == 0 && (r = edit_sort_pop(c->sort, all, &item)) > 0) {
		r = edit_select_learn(c->select, item.record);
		if (r == 0)
			r = item.timed ? edit_cut_process_timed(c, &item)
				       : edit_cut_process_untimed(c, &item);
	}
	return r;
}

int edit_cut_record(struct edit_cut *c, const struct fxt_record *record)
{
	enum edit_part_class what;
	struct edit_part part;
	int r;

	if (c->edited_id == 0 && edit_part_read(record->provider, record, &part, &what)) {
		c->edited_id = part.id;
		c->follows = !edit_part_begins_source(&part);
	}
	if (c->source_id == 0 && edit_row_of(record->provider, record) == FXT_ROW_START) {
		const uint64_t words[] = { record->ts_ns,
					   fxt_record_number(record, FXT_NAME_SESSION),
					   fxt_record_number(record, FXT_NAME_HOST),
					   fxt_record_number(record, FXT_NAME_COMMAND) };

		c->source_id = table_hash(words, sizeof(words)) ?: 1;
		c->start_ns = record->ts_ns;
	}

	/* Perfetto's packets repeat the profiler's records, and cannot be cut by time or
	 * process. */
	if (edit_copy_is_packets(record))
		return 0;
	/*
	 * (the record that identifies a thread can follow other records of the thread, so
	 * identities are learned before the records are sorted)
	 */
	r = record->type == FXT_RECORD_KERNEL_OBJECT ? edit_select_learn(c->select, record) : 0;
	r = r ?: edit_sort_put(c->sort, record->provider, record);
	return r < 0 ? r : edit_cut_process_sorted(c, false);
}

int edit_cut_finish(struct edit_cut *c)
{
	int r = edit_cut_process_sorted(c, true);

	if (r == 0 && c->phase == WITHIN)
		r = edit_cut_end(c, c->counts.last_ns);
	return r == 0 && c->phase == AFTER ? edit_cut_stop_all(c) : r;
}
