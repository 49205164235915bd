/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-repair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "edit/edit-find.h"
#include "edit/edit-incomplete.h"
#include "edit/edit-names.h"
#include "edit/edit-part.h"
#include "edit/edit-sessions.h"
#include "edit/edit-sort.h"
#include "edit/edit-spans.h"
#include "edit/edit-timeline.h"
#include "reader/fxt/fxt-events.h"

/* The sorting window in bytes. Records that are late by more are not sorted. */
#define WINDOW ((size_t)64 << 20)

/*
 * A damaged time is usually far from the times around it. A record is dropped if its time is this
 * far from both the previous and the next record, unless the three are in order. In that case, the
 * recording paused.
 */
#define FAR_NS ((uint64_t)60 * 1000000000)

/*
 * Like FAR_NS, for the first and the last record, which have only one neighbour. They are dropped
 * if their time is this far from the time of the neighbour.
 */
#define LONELY_NS ((uint64_t)3600 * 1000000000)

/*
 * In kymo's archives, a duration can end at most this long after the last record, because records
 * can be late.
 */
#define END_SLACK_NS ((uint64_t)1000000000)

/* The highest CPU number of Linux and of Perfetto. */
enum { CPU_MAX = 4095 };

static const char wrong_id[] = "the id of a thread or process cannot be right";

/*
 * The maximum number of previous records of the same time with which a record is compared to find
 * duplicates, and their maximum size. Longer records are not compared.
 */
enum { RECENT_MAX = 32, RECENT_WORDS_MAX = 64 };

/*
 * The maximum number of damaged places that wait to be written. If there are more, further places
 * are joined with the last one.
 */
enum { GAPS_MAX = 1024 };

struct recent {
	uint64_t words[RECENT_WORDS_MAX];
	size_t n_words;
	const struct fxt_provider *from;
};

/* A time range with missing records. */
struct gap {
	uint64_t from_ns, to_ns;
	struct fxt_damage damage;
};

struct edit_repair {
	struct edit_copy *copy;
	struct edit_sort *sort;
	/* A single record whose time is far from the time of the previous record. */
	struct edit_sort *suspect;
	uint64_t suspect_ns;
	bool has_suspect;
	struct fxt_damage suspect_damage; /* damage found directly before the suspect */
	bool suspect_damaged;
	/* Durations that end after all records read so far, sorted by their ends */
	struct edit_sort *ending;
	uint64_t latest_ns; /* latest time of all records put in */
	bool stop_read;
	struct edit_timeline *timeline;
	struct edit_spans *spans;
	struct edit_names *names;
	struct edit_incomplete *incomplete;
	struct edit_part_mark mark;
	uint64_t missing; /* number of missing blocks of the snapshot that is being written */
	struct fxt_events *events;
	struct edit_repair_counts counts;
	struct fxt_damage damage; /* damage found since the last record with a time */
	bool damaged;
	bool has_read;
	uint64_t read_ns;    /* time of the last record with a time that was put in */
	uint64_t written_ns; /* time of the last record with a time that was written */
	uint64_t n_timed;
	struct gap gaps[GAPS_MAX]; /* damaged places in the order of the archive */
	unsigned first_gap, n_gaps;
	struct recent recent[RECENT_MAX];
	uint64_t recent_ns;
	unsigned n_recent;
	struct summary_sessions sessions; /* sessions that have begun and not stopped */
};

static int edit_repair_write_synthetic(void *userdata, const struct edit_switch *sw)
{
	struct edit_repair *r = userdata;

	r->counts.switches_added++;
	return edit_copy_switch(r->copy, sw);
}

static int edit_repair_write_end(void *userdata, const struct fxt_provider *from,
				 const struct fxt_record *record)
{
	struct edit_repair *r = userdata;

	r->counts.ends_added++;
	return edit_copy_record(r->copy, from, record);
}

/* Replaces the number of blocks in a snapshot by the number of blocks that were read. */
static bool edit_repair_change_arg(void *userdata, const struct fxt_record *record, int name,
				   struct fxt_out_arg *arg)
{
	const struct edit_repair *r = userdata;

	if (r->missing == 0 || arg->type != FXT_ARG_UINT64)
		return true;
	if (name == FXT_NAME_BLOCKS)
		arg->u64 = arg->u64 > r->missing ? arg->u64 - r->missing : 0;
	return name != FXT_NAME_LOST || fxt_record_row(record) != FXT_ROW_SNAPSHOT;
}

/* Adds the number of lost blocks to a snapshot. */
static int edit_repair_add_arg(void *userdata, const struct fxt_record *record, unsigned n,
			       struct fxt_out_arg *ret)
{
	const struct edit_repair *r = userdata;

	if (r->missing == 0 || n > 0)
		return 0;
	*ret = (struct fxt_out_arg){ .type = FXT_ARG_UINT64,
				     .u64 = r->missing + fxt_record_number(record, FXT_NAME_LOST) };
	return FXT_NAME_LOST;
}

int edit_repair_new(struct edit_repair **ret, struct edit_output *out)
{
	_cleanup_(edit_repair_freep) struct edit_repair *r = calloc(1, sizeof(*r));
	const struct edit_rules rules = { .userdata = r,
					  .arg = edit_repair_change_arg,
					  .more = edit_repair_add_arg,
					  .mends = true };
	int e;

	if (!r)
		return -ENOMEM;
	r->mark.edit = EDIT_PART_REPAIRED;
	e = edit_copy_new(&r->copy, out, &rules) ?: edit_sort_new(&r->sort, WINDOW)
		    ?: edit_sort_new(&r->suspect, WINDOW) ?: edit_sort_new(&r->ending, WINDOW)
		    ?: edit_timeline_new(&r->timeline, edit_repair_write_synthetic, r)
		    ?: edit_spans_new(&r->spans, edit_repair_write_end, r) ?: edit_names_new(&r->names)
		    ?: fxt_events_new(&r->events) ?: edit_incomplete_new(&r->incomplete);
	if (e < 0)
		return e;
	*ret = TAKE_PTR(r);
	return 0;
}

struct edit_repair *edit_repair_free(struct edit_repair *r)
{
	if (!r)
		return NULL;
	summary_sessions_deinit(&r->sessions);
	fxt_events_free(r->events);
	edit_incomplete_free(r->incomplete);
	edit_names_free(r->names);
	edit_spans_free(r->spans);
	edit_timeline_free(r->timeline);
	edit_sort_free(r->ending);
	edit_sort_free(r->suspect);
	edit_sort_free(r->sort);
	edit_copy_free(r->copy);
	return free_ptr(r);
}

/* ---- output ---- */

/* Writes the damage, and notes in the timeline that running threads may have changed meanwhile. */
static int edit_repair_write_gap(struct edit_repair *r, const struct gap *gap)
{
	edit_timeline_gap(r->timeline, gap->from_ns, gap->to_ns);
	return edit_copy_event(r->copy, &(struct event){
						.kind = EVENT_DAMAGE,
						.ts_ns = gap->from_ns,
						.damage = { .offset = gap->damage.offset,
							    .bytes = gap->damage.bytes,
							    .what = gap->damage.what },
					});
}

static int edit_repair_write_gaps(struct edit_repair *r, uint64_t until_ns)
{
	int e = 0;

	while (e == 0 && r->n_gaps > 0 && r->gaps[r->first_gap].from_ns <= until_ns) {
		e = edit_repair_write_gap(r, &r->gaps[r->first_gap]);
		r->first_gap = (r->first_gap + 1) % GAPS_MAX;
		r->n_gaps--;
	}
	return e;
}

/* Returns true if an equal record of the same time was already written. */
static bool edit_repair_is_double(struct edit_repair *r, const struct edit_sorted *item)
{
	const struct fxt_record *record = item->record;
	struct recent *next;

	if (r->recent_ns != record->ts_ns)
		r->n_recent = 0;
	r->recent_ns = record->ts_ns;
	if (record->n_words > RECENT_WORDS_MAX)
		return false;
	for (unsigned i = 0; i < r->n_recent && i < RECENT_MAX; i++) {
		const struct recent *other = &r->recent[i];

		if (other->n_words == record->n_words && other->from == item->from &&
		    memcmp(other->words, record->words, record->n_words * FXT_WORD_BYTES) == 0)
			return true;
	}
	next = &r->recent[r->n_recent++ % RECENT_MAX];
	memcpy(next->words, record->words, record->n_words * FXT_WORD_BYTES);
	next->n_words = record->n_words;
	next->from = item->from;
	return false;
}

/* Notes session_start and session_stop of kymo. */
static int edit_repair_note_session(struct edit_repair *r, const struct fxt_provider *from,
				    const struct fxt_record *record)
{
	enum fxt_row_id row = edit_row_of(from, record);
	char own[EDIT_SESSION_MAX + 1];
	struct summary_session *session;
	const char *name;

	if (row != FXT_ROW_START && row != FXT_ROW_STOP)
		return 0;
	name = edit_session_of(record, own);
	if (row == FXT_ROW_START)
		return summary_sessions_start(&r->sessions, from, name ? name : "", &session);
	session = summary_sessions_find_stopped(&r->sessions, from, name);
	summary_sessions_remove(&r->sessions, session);
	return 0;
}

/* Judges a record. Returns 1 if it is to be written, 0 if not, or a negative errno. */
static int edit_repair_judge(struct edit_repair *r, const struct edit_sorted *item)
{
	const struct fxt_record *record = item->record;
	int verdict, e;

	/*
	 * Without damage, other programs may write equal records on purpose. No program writes
	 * equal scheduling records on purpose.
	 */
	if ((r->counts.damages > 0 || record->type == FXT_RECORD_SCHEDULING) &&
	    edit_repair_is_double(r, item)) {
		r->counts.doubled++;
		return 0;
	}
	if (record->type == FXT_RECORD_SCHEDULING) {
		verdict = edit_timeline_process(r->timeline, record);
		r->counts.scheduling_dropped += verdict == EDIT_TIMELINE_DROP;
		return verdict;
	}
	if (record->type == FXT_RECORD_EVENT) {
		verdict = edit_spans_process(r->spans, item->from, record);
		r->counts.ends_dropped += verdict == EDIT_SPANS_DROP;
		e = edit_repair_note_session(r, item->from, record);
		return e < 0 ? e : verdict;
	}
	return 1;
}

/*
 * Adds a record to Perfetto's packets. The packets are made again from the samples, since damage
 * may have changed them.
 */
static int edit_repair_gather(struct edit_repair *r, const struct edit_sorted *item)
{
	const char *what;
	struct event ev;
	int outcome;

	if (!edit_copy_is_kymo(item->from))
		return 0;
	outcome = fxt_events_get(r->events, item->record, &ev, &what);
	if (outcome != FXT_EVENTS_EVENT)
		return outcome < 0 ? outcome : 0;
	if (ev.kind == EVENT_SAMPLING)
		edit_copy_make_packets(r->copy);
	return edit_copy_gather(r->copy, &ev);
}

static int edit_repair_write_sorted(struct edit_repair *r, const struct edit_sorted *item)
{
	int e = 1;

	if (item->timed) {
		e = edit_repair_write_gaps(r, item->record->ts_ns) ?: edit_repair_judge(r, item);
		r->written_ns =
			item->record->ts_ns > r->written_ns ? item->record->ts_ns : r->written_ns;
	}
	if (e <= 0)
		return e;
	/*
	 * (the archive is marked, because the source does not have the names and ends that are
	 * added)
	 */
	e = edit_part_mark_before(&r->mark, r->copy, item->from, item->record);
	if (e != 0)
		return e < 0 ? e : 0;
	r->missing = edit_incomplete_missing(r->incomplete, item->from, item->record);
	r->counts.incomplete += r->missing > 0;
	/* (a stack without frames is left out: readers would assign the next sample to it) */
	if (r->missing == 0 || edit_row_of(item->from, item->record) != FXT_ROW_STACK)
		e = edit_names_see(r->names, item->from, item->record)
			    ?: edit_names_see_module(r->names, r->copy, item->from, item->record)
			    ?: edit_copy_record(r->copy, item->from, item->record)
			    ?: edit_repair_gather(r, item);
	else
		e = 0;
	r->missing = 0;
	return e;
}

static int edit_repair_write_all_sorted(struct edit_repair *r, bool all)
{
	struct edit_sorted item;
	int e = 0;

	while (e == 0 && (e = edit_sort_pop(r->sort, all, &item)) > 0)
		e = edit_repair_write_sorted(r, &item);
	return e;
}

/* ---- input ---- */

/* Adds damage between the last record with a time and a record at TO_NS. */
static void edit_repair_add_gap(struct edit_repair *r, uint64_t to_ns,
				const struct fxt_damage *damage)
{
	uint64_t from_ns = r->has_read && r->read_ns < to_ns ? r->read_ns : to_ns;
	struct gap *last = &r->gaps[(r->first_gap + r->n_gaps + GAPS_MAX - 1) % GAPS_MAX];

	if (r->n_gaps == GAPS_MAX) {
		last->to_ns = last->to_ns > to_ns ? last->to_ns : to_ns;
		last->damage.bytes += damage->bytes;
		return;
	}
	/* Gaps are reported in the order of the archive, so their times must not decrease. */
	if (r->n_gaps > 0 && last->from_ns > from_ns)
		from_ns = last->from_ns;
	r->gaps[(r->first_gap + r->n_gaps++) % GAPS_MAX] =
		(struct gap){ from_ns, to_ns > from_ns ? to_ns : from_ns, *damage };
}

/* Adds the damage NEW to DAMAGE. No record with a time was read between the two. */
static void edit_repair_join_damage(struct fxt_damage *damage, bool *damaged,
				    const struct fxt_damage *new)
{
	if (*damaged)
		damage->bytes += new->bytes;
	else
		*damage = *new;
	*damaged = true;
}

static bool edit_repair_is_far(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) > FAR_NS;
}

static bool edit_repair_is_complete(const struct fxt_record *record)
{
	return record->type == FXT_RECORD_EVENT && record->subtype == FXT_EVENT_DURATION_COMPLETE;
}

/*
 * Returns the time at which RECORD is compared with its neighbours: its begin, or the end of a
 * duration if only the end is near the previous record.
 */
static uint64_t edit_repair_place_of(const struct edit_repair *r, const struct fxt_record *record)
{
	if (!edit_repair_is_complete(record) || !r->has_read ||
	    !edit_repair_is_far(record->ts_ns, r->read_ns) ||
	    edit_repair_is_far(record->event.end_ns, r->read_ns))
		return record->ts_ns;
	return record->event.end_ns;
}

/* Puts the durations that have ended by now into the sorter; if too many wait, also some that end
 * later. Durations of kymo that end later than the recording are dropped. */
static int edit_repair_put_ended(struct edit_repair *r, bool all)
{
	uint64_t end_ns;
	int e = 0;

	while (e == 0 && edit_sort_peek(r->ending, true, &end_ns) &&
	       (all || end_ns <= r->latest_ns || edit_sort_is_full(r->ending))) {
		struct edit_sorted item;
		uint64_t later = end_ns > r->latest_ns ? end_ns - r->latest_ns : 0;
		uint64_t slack = LONELY_NS;

		e = edit_sort_pop(r->ending, true, &item);
		if (e <= 0)
			return e;
		if (edit_copy_is_kymo(item.from))
			slack = r->stop_read ? END_SLACK_NS : FAR_NS;
		if (all && later > slack) {
			r->counts.misplaced++;
			e = 0;
			continue;
		}
		r->n_timed++;
		e = edit_sort_put(r->sort, item.from, item.record);
	}
	return e;
}

static int edit_repair_put(struct edit_repair *r, const struct fxt_provider *from,
			   const struct fxt_record *record)
{
	uint64_t place = edit_repair_place_of(r, record);
	bool is_ending = edit_repair_is_complete(record) && record->event.end_ns > place &&
			 record->event.end_ns - place > END_SLACK_NS;
	int e = edit_incomplete_read(r->incomplete, from, record);

	if (e < 0)
		return e;
	r->has_read = true;
	r->read_ns = place;
	r->latest_ns = place > r->latest_ns ? place : r->latest_ns;
	r->stop_read |= edit_row_of(from, record) == FXT_ROW_STOP;
	if (is_ending) {
		e = edit_sort_put_at(r->ending, from, record, record->event.end_ns);
	} else {
		r->n_timed++;
		e = edit_sort_put(r->sort, from, record);
	}
	return e < 0 ? e : edit_repair_put_ended(r, false);
}

/*
 * Ends the doubt about the suspect. RIGHT: its time is right, so it is put into the sorter;
 * otherwise, it is dropped.
 */
static int edit_repair_settle_suspect(struct edit_repair *r, bool right)
{
	struct edit_sorted item;
	int e = edit_sort_pop(r->suspect, true, &item);

	r->has_suspect = false;
	if (e <= 0)
		return e;
	if (!right) {
		r->counts.misplaced++;
		if (r->damaged && r->suspect_damaged)
			edit_repair_join_damage(&r->suspect_damage, &r->suspect_damaged,
						&r->damage);
		if (r->suspect_damaged)
			r->damage = r->suspect_damage;
		r->damaged |= r->suspect_damaged;
		return 0;
	}
	if (r->suspect_damaged)
		edit_repair_add_gap(r, item.record->ts_ns, &r->suspect_damage);
	return edit_repair_put(r, item.from, item.record);
}

/* Returns true if the suspect's time can be right if TS_NS is the next time. */
static bool edit_repair_is_plausible(struct edit_repair *r, uint64_t ts_ns)
{
	if (!edit_repair_is_far(ts_ns, r->suspect_ns))
		return true;
	if (ts_ns < r->suspect_ns)
		return false;
	if (r->has_read)
		return r->read_ns <= r->suspect_ns;
	/*
	 * No earlier record exists, so either of the two times can be wrong. Archives are expected
	 * to have at most one wrong time.
	 */
	return r->counts.misplaced > 0 || ts_ns - r->suspect_ns <= LONELY_NS;
}

static int edit_repair_put_timed(struct edit_repair *r, const struct fxt_record *record)
{
	uint64_t ts_ns = edit_repair_place_of(r, record);
	int e = 0;

	if (edit_repair_is_complete(record) && record->event.end_ns < record->ts_ns) {
		r->counts.misplaced++;
		return 0;
	}
	if (r->has_suspect)
		e = edit_repair_settle_suspect(r, edit_repair_is_plausible(r, ts_ns));
	if (e < 0)
		return e;
	if (r->has_read && !edit_repair_is_far(ts_ns, r->read_ns)) {
		if (r->damaged)
			edit_repair_add_gap(r, ts_ns, &r->damage);
		r->damaged = false;
		return edit_repair_put(r, record->provider, record);
	}
	r->has_suspect = true;
	r->suspect_ns = ts_ns;
	r->suspect_damage = r->damage;
	r->suspect_damaged = r->damaged;
	r->damaged = false;
	return edit_sort_put(r->suspect, record->provider, record);
}

/* Returns an error in the arguments of RECORD, or NULL. */
static const char *edit_repair_find_wrong_arg(const struct fxt_record *record)
{
	bool is_kymo = edit_copy_is_kymo(record->provider);
	struct fxt_args it = record->args;
	struct fxt_arg arg;
	int outcome;

	while ((outcome = fxt_args_next(&it, &arg)) != FXT_ARGS_END) {
		if (outcome == FXT_ARGS_DAMAGE)
			return it.damage;
		if (is_kymo && arg.type == FXT_ARG_KOID && arg.uint64 > UINT32_MAX)
			return wrong_id;
	}
	return NULL;
}

/*
 * Returns true if RECORD has the weight NAME, and the weight is right: the weight of idle if TID is
 * the idle thread, and another weight if not.
 */
static bool edit_repair_has_weight(const struct fxt_record *record, int name, uint64_t tid)
{
	struct fxt_arg arg;

	return edit_find_arg(record, name, FXT_ARG_INT32, &arg) &&
	       (arg.int32 == FXT_IDLE_WEIGHT) == (tid == 0);
}

/*
 * Returns an error in R, a scheduling record, or NULL. A missing weight is an error, since readers
 * would give the switch another meaning.
 */
static const char *edit_repair_find_wrong_scheduling(const struct fxt_record *r)
{
	const char *what = edit_repair_find_wrong_arg(r);

	if (what || !edit_copy_is_kymo(r->provider))
		return what;
	if ((r->subtype == FXT_SCHED_WAKEUP ? r->wake.cpu : r->sw.cpu) > CPU_MAX)
		return "a CPU that no machine has";
	if (r->subtype == FXT_SCHED_WAKEUP) {
		if (!edit_repair_has_weight(r, FXT_NAME_WEIGHT, r->wake.tid))
			return "a wakeup without its weight";
		return r->wake.tid > UINT32_MAX ? wrong_id : NULL;
	}
	if (r->sw.out_state > FXT_STATE_DEAD)
		return "a state that no thread of Linux has";
	if (r->sw.out_tid > UINT32_MAX || r->sw.in_tid > UINT32_MAX)
		return wrong_id;
	if (!edit_repair_has_weight(r, FXT_NAME_OUTGOING_WEIGHT, r->sw.out_tid) ||
	    !edit_repair_has_weight(r, FXT_NAME_INCOMING_WEIGHT, r->sw.in_tid))
		return "a switch without its weights";
	return NULL;
}

/*
 * Returns a description of a value in R that kymo cannot have written, or NULL. Such a value is a
 * sign of damage that the reader cannot detect.
 */
static const char *edit_repair_find_wrong(const struct fxt_record *r)
{
	uint64_t process;

	if (r->type == FXT_RECORD_SCHEDULING)
		return edit_repair_find_wrong_scheduling(r);
	if (r->type == FXT_RECORD_BLOB &&
	    (r->blob.type < FXT_BLOB_DATA || r->blob.type > FXT_BLOB_PERFETTO))
		return "a BLOB of unknown type";
	if (!edit_copy_is_kymo(r->provider))
		return NULL;
	if (r->type == FXT_RECORD_EVENT || r->type == FXT_RECORD_PROFILER)
		return r->thread.defined &&
				       (r->thread.pid > UINT32_MAX || r->thread.tid > UINT32_MAX)
			       ? wrong_id
			       : NULL;
	if (r->type != FXT_RECORD_KERNEL_OBJECT)
		return NULL;
	process = edit_find_koid(r, FXT_NAME_PROCESS);
	if (r->kernel_object.koid > UINT32_MAX || process > UINT32_MAX)
		return wrong_id;
	if (r->kernel_object.type == FXT_OBJECT_THREAD && process == 0)
		return "a thread without its process";
	return NULL;
}

int edit_repair_record(struct edit_repair *r, const struct fxt_record *record)
{
	const char *what = edit_repair_find_wrong(record);
	int e;

	/*
	 * (for a provider of kymo, the reader does not use odd ticks, since it knows the right
	 * number)
	 */
	if (record->type == FXT_RECORD_INITIALIZATION &&
	    fxt_provider_is_odd_rate(record->provider->ticks_per_second))
		r->counts.odd_ticks = record->provider->ticks_per_second;
	if (edit_copy_is_packets(record))
		return 0;
	if (what)
		return edit_repair_damage(r, &(struct fxt_damage){
						     .offset = record->offset,
						     .bytes = record->n_words * FXT_WORD_BYTES,
						     .what = what,
					     });
	if (fxt_record_has_time(record))
		e = edit_repair_put_timed(r, record);
	else
		e = edit_sort_put(r->sort, record->provider, record);
	return e < 0 ? e : edit_repair_write_all_sorted(r, false);
}

int edit_repair_damage(struct edit_repair *r, const struct fxt_damage *damage)
{
	r->counts.damages++;
	r->counts.damaged_bytes += damage->bytes;
	edit_repair_join_damage(&r->damage, &r->damaged, damage);
	return 0;
}

/* Adds the missing session_stop of the session NAME, at the time of the last record. */
static int edit_repair_write_stop(struct edit_repair *r, const char *name)
{
	const struct event ev = {
		.kind = EVENT_STOP,
		.ts_ns = r->written_ns,
		.stop = { .reason = "cut off",
			  .session = *name ? name : NULL,
			  .events = r->counts.stops_added == 0 ? r->n_timed : 0 },
	};

	r->counts.stops_added++;
	return edit_copy_event(r->copy, &ev);
}

int edit_repair_finish(struct edit_repair *r)
{
	/* If there was no other record, any time of the suspect is accepted. */
	bool last_is_right = !r->has_read || (r->suspect_ns >= r->read_ns &&
					      r->suspect_ns - r->read_ns <= LONELY_NS);
	int e = edit_repair_settle_suspect(r, last_is_right);

	if (r->damaged)
		edit_repair_add_gap(r, r->read_ns, &r->damage);
	e = e ?: edit_incomplete_end(r->incomplete);
	e = e ?: edit_repair_put_ended(r, true);
	e = e ?: edit_repair_write_all_sorted(r, true);
	e = e ?: edit_repair_write_gaps(r, UINT64_MAX);
	/* (it is unknown whether threads run after the last record) */
	e = e ?: edit_timeline_close(r->timeline, r->written_ns);
	/* (session_stop and names follow, and must not be earlier than these ends) */
	e = e ?: edit_spans_close(r->spans, r->written_ns, &r->written_ns);
	e = e ?: edit_names_write(r->names, r->copy, &r->counts.names_lost);
	e = e ?: edit_copy_packets(r->copy);
	for (size_t i = 0; e == 0 && i < r->sessions.n; i++)
		e = edit_repair_write_stop(r, r->sessions.list[i].name);
	return e;
}

void edit_repair_get_counts(const struct edit_repair *r, struct edit_repair_counts *ret)
{
	*ret = r->counts;
	ret->modules_lost = edit_names_modules_lost(r->names);
	ret->copied = *edit_copy_counts(r->copy);
	edit_counts_add(&ret->copied, edit_sort_counts(r->sort));
	edit_counts_add(&ret->copied, edit_sort_counts(r->suspect));
	edit_counts_add(&ret->copied, edit_sort_counts(r->ending));
}
