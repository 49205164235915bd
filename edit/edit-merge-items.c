/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-merge-state.h"

#include "base/table.h"
#include "edit/edit-find.h"
#include "reader/fxt/fxt-object.h"

/* Returns true if ITEM is from the kernel, so that only one input per machine may contribute it. */
static bool edit_merge_is_kernels(const struct edit_sorted *item)
{
	const struct fxt_record *r = item->record;

	switch (r->type) {
	case FXT_RECORD_SCHEDULING:
		return true;
	case FXT_RECORD_EVENT:
		/* Moments belong to their own recording, even if other inputs are from the same
		 * machine, so all inputs may contribute them. */
		if (!edit_copy_is_kymo(item->from) || edit_points_has(r))
			return false;
		return fxt_text_known(&r->category) &&
		       fxt_text_known(&r->category) != FXT_NAME_KYMO;
	default:
		return false;
	}
}

/*
 * Returns true if ITEM is an object "?" that would replace an owner that another archive knows.
 * Parts of one archive do not count as other archives: the result has what their source has.
 */
static bool edit_merge_is_outdone(const struct merge_input *in, const struct edit_sorted *item)
{
	return item->record->type == FXT_RECORD_KERNEL_OBJECT &&
	       fxt_object_is_unknown(item->record) &&
	       edit_owners_knows(in->merge->owners, in->index, item->record->kernel_object.koid,
				 in->join.chain);
}

static bool edit_merge_is_done(const struct merge_input *in)
{
	uint64_t ts_ns;

	return in->ended && !edit_sort_peek(in->sort, true, &ts_ns);
}

/*
 * Returns true if INPUT, whose schedule is in use, is done or pauses at TS_NS, so that the schedule
 * of another input can be used.
 */
static bool edit_merge_gives_way(const struct edit_merge *m, unsigned input, uint64_t ts_ns)
{
	const struct edit_sessions_view *view = edit_sessions_view(m->sessions, input);

	return edit_merge_is_done(&m->inputs[input]) || (view->pauses && ts_ns >= view->paused_ns);
}

/*
 * Returns true if the schedule of INPUT can be used instead of the schedule of OTHER. While INPUT
 * pauses, it cannot: INPUT only has late records, or the last ones before the pause. But if OTHER
 * is done, it can: the pause of INPUT may have an end that was not recorded.
 */
static bool edit_merge_can_take(const struct edit_merge *m, unsigned input, unsigned other)
{
	return !edit_sessions_view(m->sessions, input)->pauses ||
	       edit_merge_is_done(&m->inputs[other]);
}

/*
 * Returns the time from which on the schedule of INPUT is used instead of the schedule of OTHER (-1
 * = none).
 */
static uint64_t edit_merge_begin_of(const struct edit_merge *m, unsigned input, int other)
{
	uint64_t begin_ns = m->machines[m->inputs[input].view.machine].schedule_ns;
	const struct edit_sessions_view *view;

	if (other >= 0) {
		view = edit_sessions_view(m->sessions, (unsigned)other);
		if (view->pauses && view->paused_ns > begin_ns)
			begin_ns = view->paused_ns;
	}
	/* INPUT does not record before recorded_ns (before its first session, or in a pause). */
	view = edit_sessions_view(m->sessions, input);
	return view->recorded_ns > begin_ns ? view->recorded_ns : begin_ns;
}

/*
 * From BEGIN_NS on, uses the schedule of INPUT instead of the schedule of OTHER. The switches that
 * end the schedule of OTHER can be missing (if its archive was cut off), or can come later (since a
 * pause does not begin at the same time on all CPUs). The switches of INPUT to its running threads
 * were left out so far, so they are added.
 */
static int edit_merge_change_schedule(struct edit_merge *m, unsigned input, unsigned other,
				      uint64_t begin_ns)
{
	struct merge_input *in = &m->inputs[input];
	int r = edit_timeline_close(m->inputs[other].timeline, begin_ns);

	return r == 0 && in->view.doubled > 0 ? edit_timeline_open(in->timeline, begin_ns) : r;
}

/*
 * Selects the schedule of a machine: the schedule of the input that began first, until that input
 * has ended or pauses. Returns 1 if the schedule of INPUT is used, 0 if another one is used, or a
 * negative errno.
 */
static int edit_merge_select_schedule(struct edit_merge *m, unsigned input, uint64_t ts_ns)
{
	struct merge_input *in = &m->inputs[input];
	struct machine *machine = &m->machines[in->view.machine];
	int other = machine->schedule_input, r = 0;
	uint64_t begin_ns = edit_merge_begin_of(m, input, other);

	if (other >= 0 && other != (int)input &&
	    (!edit_merge_gives_way(m, (unsigned)other, ts_ns) ||
	     !edit_merge_can_take(m, input, (unsigned)other) || begin_ns > ts_ns)) {
		in->view.doubled++;
		return 0;
	}
	if (other >= 0 && other != (int)input)
		r = edit_merge_change_schedule(m, input, (unsigned)other, begin_ns);
	machine->schedule_input = (int)input;
	machine->schedule_ns = ts_ns;
	return r < 0 ? r : 1;
}

/*
 * Returns true if RECORD, of IN and of kymo, is an event `sampling` that repeats the last one of
 * its machine. Heads of chunks and states of parts contain such repetitions.
 */
static bool edit_merge_repeats_sampling(struct merge_input *in, const struct fxt_record *record)
{
	struct machine *machine = &in->merge->machines[in->view.machine];
	bool first = !in->sampling_seen && !in->join.continues;
	uint64_t words[3], hash;

	if (fxt_record_row(record) != FXT_ROW_SAMPLING)
		return false;
	in->sampling_seen = true;
	words[0] = fxt_record_number(record, FXT_NAME_FREQUENCY);
	words[1] = fxt_record_number(record, FXT_NAME_CLOCK);
	words[2] = fxt_record_number(record, FXT_NAME_THRESHOLD);
	hash = table_hash(words, sizeof(words));
	if (first && machine->sampling == hash)
		return true;
	machine->sampling = hash;
	return false;
}

/* Makes IN, a part, continue BEFORE: nothing ends or begins between them. */
static void edit_merge_continue(struct merge_input *in, struct merge_input *before)
{
	struct machine *machine = &in->merge->machines[in->view.machine];

	in->join.continues = true;
	in->join.events += before->join.events;
	in->join.lost += before->join.lost;
	before->join.events = before->join.lost = 0;
	if (machine->schedule_input == (int)before->index)
		machine->schedule_input = (int)in->index;
}

/*
 * ITEM is left out, because one part continues another. Updates the state that ITEM changes anyway:
 * the schedule, the sessions, the points, and the counts.
 */
static int edit_merge_omit(struct edit_merge *m, struct merge_input *in,
			   const struct edit_sorted *item)
{
	int r = 0;

	in->view.repeated++;
	if (item->record->type == FXT_RECORD_SCHEDULING)
		r = edit_timeline_note(in->timeline, item->record);
	if (r < 0 || !edit_copy_is_kymo(item->from))
		return r < 0 ? r : 0;
	if (item->tag == EDIT_PART_END && fxt_record_row(item->record) == FXT_ROW_STOP) {
		in->join.events += fxt_record_number(item->record, FXT_NAME_EVENTS);
		in->join.lost += fxt_record_number(item->record, FXT_NAME_LOST);
	}
	r = edit_sessions_see(m->sessions, in->index, item->from, item->record, &in->session);
	return r ?: edit_points_see(m->points, in->index, item->record);
}

/*
 * Copies ITEM. A clipped event gets its true begin if the previous part has the beginning of the
 * event.
 */
static int edit_merge_copy(struct merge_input *in, const struct edit_sorted *item)
{
	struct fxt_record record = *item->record;
	int r = 0;

	/* (the mark is written here, since a cut reads it before the first session_start) */
	if (in->is_kymo && fxt_record_row(&record) == FXT_ROW_START)
		r = edit_part_write_mark(&in->merge->mark, in->copy, &in->merge->source,
					 edit_shift_ns(record.ts_ns, in->view.shift_ns));
	in->mended = edit_join_mend(&in->join, &record);
	in->behind = false;
	in->clipped = in->follows_gap && !in->mended && record.ts_ns == in->join.chain_ns;
	if (record.ts_ns != item->record->ts_ns && fxt_record_row(&record) == FXT_ROW_STACK) {
		fxt_named_set(&in->moved, item->record);
		in->moved_ns = record.ts_ns;
	} else if (record.type == FXT_RECORD_PROFILER && fxt_named_consume(&in->moved, &record)) {
		record.ts_ns = in->moved_ns;
	}
	r = r ?: edit_copy_record(in->copy, item->from, &record);
	in->mended = in->clipped = false;
	if (in->is_kymo && fxt_record_row(&record) == FXT_ROW_STOP)
		in->join.events = in->join.lost = 0;
	return r;
}

/*
 * Copies ITEM, or holds it if the next part may have the whole event. This is not known before the
 * next part is read.
 */
static int edit_merge_copy_or_hold(struct merge_input *in, struct merge_input *before,
				   const struct edit_sorted *item)
{
	int r;

	if (before && edit_join_went_on(&in->join, item->record) &&
	    edit_halves_drop(&before->halves, item->record))
		before->view.repeated++;
	if (!edit_join_goes_on(&in->join, item->record))
		return edit_merge_copy(in, item);
	r = edit_halves_hold(&in->halves, item);
	in->view.halves += r == 0;
	return r == 0 ? edit_merge_copy(in, item) : r < 0 ? r : 0;
}

int edit_merge_write_halves(struct edit_merge *m)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < m->n_inputs; i++) {
		struct merge_input *in = &m->inputs[i];
		struct edit_kept *kept;

		while (r == 0 && (kept = edit_halves_take(&in->halves))) {
			struct fxt_record record;
			const struct edit_sorted item = { &record, kept->from, kept, true, 0 };

			in->view.halves++;
			in->session = NULL;
			in->is_kymo = edit_copy_is_kymo(kept->from);
			r = edit_viewer_parse(m->viewer, kept, &record)
				    ?: edit_merge_copy(in, &item);
			edit_kept_unref(kept);
			if (r == 0 && m->out->bytes.size > OUTPUT_BYTES)
				r = 1;
		}
	}
	return r;
}

int edit_merge_write_item(struct edit_merge *m, unsigned input, const struct edit_sorted *item)
{
	struct merge_input *in = &m->inputs[input];
	struct merge_input *before = in->join.before >= 0 ? &m->inputs[in->join.before] : NULL;
	int r = 1;

	if (edit_join_is_joint(&in->join) && !in->join.continues)
		edit_merge_continue(in, before);
	if (edit_join_omits(&in->join, item))
		return edit_merge_omit(m, in, item);
	if (edit_merge_is_outdone(in, item)) {
		in->view.unknown++;
		return 0;
	}
	if (edit_merge_is_kernels(item) && item->record->ts_ns >= in->start_ns)
		r = edit_merge_select_schedule(m, input, item->record->ts_ns);
	if (r >= 0 && item->record->type == FXT_RECORD_SCHEDULING) {
		int noted = edit_timeline_note(in->timeline, item->record);

		if (noted < 0)
			return noted;
	}
	in->is_kymo = edit_copy_is_kymo(item->from);
	in->session = NULL;
	if (r > 0 && in->is_kymo && edit_merge_repeats_sampling(in, item->record))
		return 0;
	if (r > 0 && in->is_kymo) {
		int seen = edit_sessions_see(m->sessions, input, item->from, item->record,
					     &in->session);

		if (seen < 0)
			return seen;
	}
	if (r > 0 && in->is_kymo)
		r = edit_points_see(m->points, input, item->record) ?: 1;
	return r <= 0 ? r : edit_merge_copy_or_hold(in, before, item);
}
