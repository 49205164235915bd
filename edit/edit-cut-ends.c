/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-cut-state.h"

#include <string.h>

#include "base/table.h"
#include "edit/edit-find.h"

/*
 * Turns an allocation before the cut into a block that is live in the cut, with the time of its
 * allocation.
 */
static void edit_cut_make_live(struct edit_cut *c, struct fxt_record *r)
{
	static const char name[] = "block";

	c->since_ns = 0;
	if (fxt_record_row(r) != FXT_ROW_ALLOC)
		return;
	c->since_ns = r->ts_ns;
	r->name = (struct fxt_text){ name, sizeof(name) - 1, FXT_NAME_BLOCK, 0 };
}

/* Writes the archive's clocks at TS_NS, computed from the last snapshot. */
static int edit_cut_write_clock(struct edit_cut *c, uint64_t ts_ns)
{
	struct clock_snapshot *clock = &c->clock;
	uint64_t passed = ts_ns - clock->boot_ns;

	if (clock->boot_ns == 0)
		return 0;
	return edit_copy_event(c->copy, &(struct event){
						.kind = EVENT_CLOCK,
						.ts_ns = ts_ns,
						.clock = { .boot_ns = ts_ns,
							   .mono_ns = clock->mono_ns + passed,
							   .real_ns = clock->real_ns + passed },
					});
}

static int edit_cut_write_kept(struct edit_cut *c, const struct edit_kept *kept, uint64_t ts_ns)
{
	struct fxt_record record;
	int r = edit_viewer_parse(c->viewer, kept, &record);

	record.ts_ns = ts_ns;
	return r ?: edit_copy_record(c->copy, kept->from, &record);
}

/* Writes the stop of the session NAME. The counts are those since the previous stop. */
static int edit_cut_write_stop(struct edit_cut *c, const char *name, uint64_t ts_ns, uint64_t full)
{
	const struct event ev = {
		.kind = EVENT_STOP,
		.ts_ns = ts_ns,
		.stop = { .reason = "cut",
			  .session = *name ? name : NULL,
			  .events = c->n_events,
			  .lost = c->lost,
			  .dropped_bytes = full },
	};

	c->n_events = c->lost = 0;
	return edit_copy_event(c->copy, &ev);
}

/* Opens the last session again. */
static int edit_cut_open_last(struct edit_cut *c)
{
	struct edit_cut_sessions *s = &c->sessions;
	struct fxt_record record;
	int r = edit_viewer_parse(c->viewer, s->last, &record);

	return r
		       ?: edit_cut_sessions_start(s, &(struct edit_sorted){ .from = s->last->from,
									    .record = &record,
									    .kept = s->last });
}

/*
 * Writes the begin of each open session. If no session is open, nothing is recorded at the
 * beginning of the cut. This is shown by the last session, which begins and stops there.
 */
static int edit_cut_write_starts(struct edit_cut *c)
{
	struct edit_cut_sessions *s = &c->sessions;
	int r = 0;

	if (s->open.n == 0 && s->last) {
		r = edit_cut_open_last(c);
		if (r == 0 && s->open.n > 0)
			c->stops[c->n_stops++] = (struct stop){ s->open.list, c->from_ns, 0 };
	}
	for (size_t i = 0; r == 0 && i < s->open.n; i++)
		r = edit_cut_write_kept(c, s->open.list[i].content, c->from_ns);
	return r;
}

/*
 * Writes an event for each part of the recording (such as stacks) that an open session does not
 * record at the beginning of the cut.
 */
static int edit_cut_write_sheds(struct edit_cut *c)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < c->sessions.n_sheds; i++)
		r = edit_cut_write_kept(c, c->sessions.sheds[i].kept, c->from_ns);
	return r;
}

/*
 * Writes the event `part`, which states the class of the following records. Only recordings of kymo
 * have parts.
 */
static int edit_cut_write_part(struct edit_cut *c, enum edit_part_class what, uint64_t ts_ns)
{
	struct event ev = edit_part_event(&c->part, what, ts_ns);

	c->part_begun = true;
	return c->part.id ? edit_copy_event(c->copy, &ev) : 0;
}

/*
 * Writes a record of the state, with the time of the cut's beginning. The names of kymo's threads
 * come before the event `part`, because that event is on one of these threads.
 */
static int edit_cut_write_state(void *userdata, const struct fxt_provider *from,
				struct fxt_record *record)
{
	struct edit_cut *c = userdata;
	int r = 0;

	if (!c->part_begun && (record->type != FXT_RECORD_KERNEL_OBJECT ||
			       record->kernel_object.koid != FXT_KOID_KYMO))
		r = edit_cut_write_part(c, EDIT_PART_STATE, c->from_ns);
	if (r < 0 || !edit_select_apply(c->select, record))
		return r;
	edit_cut_make_live(c, record);
	record->ts_ns = c->from_ns;
	return edit_copy_record(c->copy, from, record);
}

int edit_cut_write_clipped(struct edit_cut *c, const struct fxt_provider *from,
			   struct fxt_record *r)
{
	int e;

	edit_clip_end(&c->clip, r, c->to_ns);
	if (!c->from_begin)
		edit_clip_begin(&c->clip, r, c->from_ns);
	e = edit_copy_record(c->copy, from, r);
	c->clip = (struct edit_clip){ 0 };
	return e;
}

/*
 * Writes the complete events that cross the beginning of the cut, from there on. Open spans around
 * such an event are written before it.
 */
static int edit_cut_write_across(struct edit_cut *c)
{
	struct fxt_record record;
	int r = 0;

	for (size_t i = 0; r == 0 && i < c->n_across; i++) {
		r = edit_viewer_parse(c->viewer, c->across[i], &record)
			    ?: edit_spans_open(c->spans, record.ts_ns, c->from_ns);
		r = r ?: edit_cut_write_clipped(c, c->across[i]->from, &record);
	}
	return r == 0 ? edit_spans_open(c->spans, UINT64_MAX, c->from_ns) : r;
}

int edit_cut_write_stops(struct edit_cut *c, uint64_t ts_ns)
{
	size_t n = 0;
	int r = 0;

	while (n < c->n_stops && c->stops[n].ts_ns < ts_ns)
		n++;
	for (size_t i = 0; r == 0 && i < n; i++) {
		struct stop *stop = &c->stops[i];

		/*
		 * (the last open session gets the dropped bytes of all sessions that have not been
		 * reported)
		 */
		if (c->sessions.open.n == 1)
			stop->full = c->full;
		c->full -= stop->full;
		r = edit_cut_write_stop(c, stop->session->name, stop->ts_ns, stop->full);
		edit_cut_sessions_remove(&c->sessions, stop->session);
		/* (later stops move forward in the list) */
		for (size_t j = i + 1; j < c->n_stops; j++)
			if (c->stops[j].session > stop->session)
				c->stops[j].session--;
	}
	c->n_stops -= n;
	memmove(c->stops, c->stops + n, c->n_stops * sizeof(*c->stops));
	return r;
}

/*
 * Identifies the part, by its source, by the edits of the source, and by the selection. A cut of
 * the whole archive is no part. But if the archive was edited, parts of the cut must not be merged
 * with parts of the original. So the cut then gets an id, but no ends.
 */
static void edit_cut_set_part(struct edit_cut *c)
{
	const uint64_t words[] = {
		c->source_id,
		c->edited_id,
		c->counts.first_ns,
		c->options.n_pids,
		c->options.n_cpus,
		table_hash(c->options.pids ?: &(uint32_t){ 0 },
			   c->options.n_pids * sizeof(*c->options.pids)),
		table_hash(c->options.cpus ?: &(bool){ false },
			   c->options.n_cpus * sizeof(*c->options.cpus)),
	};

	bool edited = c->edited_id != 0 || c->options.n_pids > 0 || c->options.n_cpus > 0;

	/*
	 * 0 if no part precedes this one: then late records can have earlier times. If the source
	 * follows another part, the begin is kept, since events that were clipped there stay
	 * clipped.
	 */
	c->part.first_ns = c->from_begin && !c->follows ? 0 : c->from_ns;
	c->part.behind_ns = c->to_ns == UINT64_MAX ? 0 : c->to_ns;
	if (c->source_id != 0 &&
	    (edited || c->from_ns > c->counts.first_ns || c->part.behind_ns > 0))
		c->part.id = table_hash(words, sizeof(words)) ?: 1;
	/*
	 * The previous part has some of the missing events, but they end at the end of that part.
	 * So this part gets another id and does not continue it, but it still has a begin at which
	 * events are clipped.
	 */
	if (c->part.id != 0 && c->counts.no_room_across > 0)
		c->part = (struct edit_part){
			.id = table_hash((const uint64_t[]){ c->part.id, c->from_ns },
					 2 * sizeof(uint64_t))
				      ?: 1,
			.first_ns = c->from_ns,
		};
}

int edit_cut_begin(struct edit_cut *c)
{
	int r;

	edit_cut_set_part(c);
	r = edit_state_flush(c->state, edit_cut_write_state, c);
	if (r == 0 && !c->part_begun)
		r = edit_cut_write_part(c, EDIT_PART_STATE, c->from_ns);
	c->counts.no_room = edit_state_left_out(c->state);
	c->counts.quiet_ns = c->sessions.quiet_ns;
	c->counts.paused = c->sessions.open.n > 0;
	c->phase = WITHIN;
	c->since_ns = 0;
	r = r ?: edit_cut_write_starts(c) ?: edit_cut_write_clock(c, c->from_ns)
		    ?: edit_cut_write_sheds(c) ?: edit_timeline_open(c->timeline, c->from_ns);
	r = r ?: edit_cut_write_across(c);
	/* (for sessions that begin and stop at the begin of the cut) */
	if (r == 0 && c->n_stops > 0)
		r = edit_cut_write_stops(c, UINT64_MAX);
	return r ?: edit_cut_write_part(c, EDIT_PART_RECORDS, c->from_ns);
}

int edit_cut_end(struct edit_cut *c, uint64_t ts_ns)
{
	int r = edit_cut_write_stops(c, ts_ns) ?: edit_cut_write_part(c, EDIT_PART_END, ts_ns);

	r = r ?: edit_timeline_close(c->timeline, ts_ns);
	r = r ?: edit_spans_close(c->spans, ts_ns, &ts_ns);
	c->phase = AFTER;
	c->end_ns = ts_ns;
	return r == 0 ? edit_cut_write_clock(c, ts_ns) : r;
}

int edit_cut_stop_all(struct edit_cut *c)
{
	struct edit_cut_sessions *s = &c->sessions;
	int r = 0;

	if (s->open.n == 0 && s->last && (c->full > 0 || c->lost > 0)) {
		r = edit_cut_open_last(c);
		if (r == 0 && s->open.n > 0)
			r = edit_cut_write_kept(c, s->open.list[0].content, c->end_ns);
	}
	for (size_t i = 0; r == 0 && i < s->open.n; i++)
		r = edit_cut_write_stop(c, s->open.list[i].name, c->end_ns, i == 0 ? c->full : 0);
	return r;
}
