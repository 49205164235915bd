/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-merge-state.h"

#include <errno.h>
#include <stdlib.h>

/* The sorting window of each input, in bytes. Before anything is written, it also contains the head
 * of the input. */
#define WINDOW ((size_t)8 << 20)

/* The state of a cut is at most 128 MiB (writer/fxt/fxt-holds.c), so there is room for it. */
#define BETWEEN ((size_t)192 << 20)
#define HEADS   ((size_t)192 << 20)

static int edit_merge_write_switch(void *userdata, const struct edit_switch *sw)
{
	struct merge_input *in = userdata;

	return edit_copy_switch(in->copy, sw);
}

int edit_merge_new(struct edit_merge **ret, struct edit_output *out, unsigned n,
		   const struct edit_merge_options *options)
{
	_cleanup_(edit_merge_freep) struct edit_merge *m = calloc(1, sizeof(*m));
	int r = 0;

	if (!m)
		return -ENOMEM;
	m->out = out;
	m->window = options && options->window ? options->window : WINDOW;
	m->between = options && options->between ? options->between : BETWEEN;
	m->heads = options && options->heads ? options->heads : HEADS;
	m->mark.edit = EDIT_PART_MERGED;
	m->points = edit_points_new();
	m->sessions = edit_sessions_new(n);
	if (!m->points || !m->sessions)
		return -ENOMEM;
	r = edit_owners_new(&m->owners, n) ?: edit_viewer_new(&m->viewer);
	for (m->n_inputs = 0; r == 0 && m->n_inputs < n; m->n_inputs++) {
		m->inputs[m->n_inputs].merge = m;
		m->inputs[m->n_inputs].index = m->n_inputs;
		edit_join_init(&m->inputs[m->n_inputs].join);
		r = edit_sort_new(&m->inputs[m->n_inputs].sort, m->window)
			    ?: edit_timeline_new(&m->inputs[m->n_inputs].timeline,
						 edit_merge_write_switch, &m->inputs[m->n_inputs]);
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(m);
	return 0;
}

struct edit_merge *edit_merge_free(struct edit_merge *m)
{
	if (!m)
		return NULL;
	for (unsigned i = 0; i < m->n_inputs; i++) {
		edit_timeline_free(m->inputs[i].timeline);
		edit_copy_free(m->inputs[i].copy);
		edit_halves_deinit(&m->inputs[i].halves);
		edit_sort_free(m->inputs[i].sort);
	}
	edit_viewer_free(m->viewer);
	edit_owners_free(m->owners);
	edit_points_free(m->points);
	edit_sessions_free(m->sessions);
	return free_ptr(m);
}

void edit_merge_get_view(const struct edit_merge *m, unsigned input, struct edit_merge_view *ret)
{
	const struct merge_input *in = &m->inputs[input];

	const struct edit_owners_counts *owners = edit_owners_counts(m->owners, input);

	*ret = in->view;
	ret->koids_moved = owners->moved;
	ret->koids_shared = owners->shared;
	ret->points_moved = edit_points_moved(m->points, input);
	ret->has_clock = in->has_clock;
	ret->copied = *edit_sort_counts(in->sort);
	ret->copied.records = 0;
	if (!in->copy)
		return;
	ret->copied.records = edit_copy_counts(in->copy)->records;
	edit_counts_add(&ret->copied, edit_copy_counts(in->copy));
}

/* Returns true if there is room to read more than the window of an input, to find its head. */
static bool edit_merge_has_room_for_heads(const struct edit_merge *m)
{
	size_t sum = 0;

	for (unsigned i = 0; i < m->n_inputs; i++) {
		size_t bytes = edit_sort_bytes(m->inputs[i].sort);

		sum += bytes > m->window ? bytes - m->window : 0;
	}
	return sum <= m->heads;
}

/*
 * Returns true if IN must be read beyond its window to find its head. In a part, session_start and
 * clock follow the state, which can exceed the window: without these two events, the machine of IN
 * would be unknown. An edited part does not mark its state, so any archive of kymo is read until
 * these events are found. A program's own archive never has these events.
 */
static bool edit_merge_lacks_head(const struct merge_input *in)
{
	return !in->ended && in->has_kymo && !(in->has_start && in->has_clock);
}

/*
 * Returns true if IN is read further before OTHER. Parts in their state are read one by one, so
 * that each head needs as little room as possible. Other inputs are read evenly, so that none of
 * them takes all room.
 */
static bool edit_merge_reads_first(const struct merge_input *in, const struct merge_input *other)
{
	bool in_state = edit_join_is_in_state(&in->join);

	if (in_state != edit_join_is_in_state(&other->join))
		return in_state;
	return !in_state && edit_sort_bytes(in->sort) < edit_sort_bytes(other->sort);
}

/* Before the start: returns an input that must be read beyond its window, or -1. */
static int edit_merge_find_headless(const struct edit_merge *m)
{
	int found = -1;

	for (unsigned i = 0; i < m->n_inputs; i++)
		if (edit_merge_lacks_head(&m->inputs[i]) &&
		    (found < 0 || edit_merge_reads_first(&m->inputs[i], &m->inputs[found])))
			found = (int)i;
	return edit_merge_has_room_for_heads(m) ? found : -1;
}

/*
 * Returns an input of which more must be read, or -1. Before the start, each input is read until
 * its window is full and its head is known.
 */
static int edit_merge_find_starving(const struct edit_merge *m)
{
	uint64_t ts_ns;

	for (unsigned i = 0; i < m->n_inputs; i++) {
		const struct merge_input *in = &m->inputs[i];

		if (in->ended)
			continue;
		if (!(m->started ? edit_sort_peek(in->sort, false, &ts_ns)
				 : edit_sort_is_full(in->sort)))
			return (int)i;
	}
	return m->started ? -1 : edit_merge_find_headless(m);
}

/*
 * Returns true if the schedule of INPUT is used. At equal times, the records of such an input come
 * first, so that its schedule can end before another one begins.
 */
static bool edit_merge_holds_schedule(const struct edit_merge *m, unsigned input)
{
	return m->machines[m->inputs[input].view.machine].schedule_input == (int)input;
}

/* Returns the begin of IN's session, in the first input's time. */
static uint64_t edit_merge_start_of(const struct merge_input *in)
{
	return edit_shift_ns(in->start_ns, in->view.shift_ns);
}

/*
 * Returns true if the records of INPUT precede those of OTHER at equal times. Among chunks, the
 * first one precedes the next, so that its session ends before the next chunk continues it. Among
 * parts, the first one precedes the next, so that the first part is completely known when the next
 * one begins.
 */
static bool edit_merge_goes_first(const struct edit_merge *m, unsigned input, unsigned other)
{
	if (m->inputs[other].join.before == (int)input ||
	    m->inputs[input].join.before == (int)other)
		return m->inputs[other].join.before == (int)input;
	if (edit_merge_holds_schedule(m, input) != edit_merge_holds_schedule(m, other))
		return edit_merge_holds_schedule(m, input);
	return edit_merge_start_of(&m->inputs[input]) < edit_merge_start_of(&m->inputs[other]);
}

/* Returns the input with the earliest record, in the first input's time; -1 if all are empty. */
static int edit_merge_find_earliest(const struct edit_merge *m)
{
	uint64_t ts_ns, earliest_ns = UINT64_MAX;
	int earliest = -1;

	for (unsigned i = 0; i < m->n_inputs; i++) {
		const struct merge_input *in = &m->inputs[i];

		if (!edit_sort_peek(in->sort, in->ended, &ts_ns))
			continue;
		if (ts_ns > 0)
			ts_ns = edit_shift_ns(ts_ns, in->view.shift_ns);
		if (earliest < 0 || ts_ns < earliest_ns ||
		    (ts_ns == earliest_ns && edit_merge_goes_first(m, i, (unsigned)earliest))) {
			earliest = (int)i;
			earliest_ns = ts_ns;
		}
	}
	return earliest;
}

/*
 * Decides whether INPUT (-1 = none) is joint with the part before it. If more of an input must be
 * read to decide this, returns that input, otherwise -1.
 */
static int edit_merge_decide(struct edit_merge *m, int input)
{
	struct edit_join *join;
	int lacks;

	if (input < 0)
		return -1;
	join = &m->inputs[input].join;
	lacks = edit_join_lacks(join);
	if (lacks >= 0 && edit_sort_bytes(m->inputs[lacks].sort) <= m->between)
		return lacks;
	if (lacks >= 0)
		m->inputs[input].view.too_large = true;
	edit_join_decide(join);
	return -1;
}

/*
 * Returns an input of which more must be read before the next record of INPUT is taken out, or -1.
 * This ensures that all records between two parts are judged in the same way. Only one pair of
 * parts is read ahead at a time.
 */
static int edit_merge_find_undecided(struct edit_merge *m, unsigned input)
{
	const struct merge_input *in = &m->inputs[input];
	int r = edit_merge_decide(m, in->join.before < 0 ? -1 : (int)input);

	if (r < 0 && edit_sort_peek_tag(in->sort) == EDIT_PART_END)
		r = edit_merge_decide(m, in->join.after);
	return r;
}

int edit_merge_step(struct edit_merge *m, int *ret)
{
	struct edit_sorted item;
	int input, r = 0;

	for (;;) {
		*ret = edit_merge_find_starving(m);
		if (*ret >= 0)
			return 0;
		if (!m->started)
			r = edit_merge_start(m);
		input = r == 0 ? edit_merge_find_earliest(m) : -1;
		if (input < 0)
			return r < 0 ? r : edit_merge_write_halves(m);
		*ret = edit_merge_find_undecided(m, (unsigned)input);
		if (*ret >= 0)
			return 0;
		r = edit_sort_pop(m->inputs[input].sort, m->inputs[input].ended, &item);
		if (r > 0)
			r = edit_merge_write_item(m, (unsigned)input, &item);
		if (r < 0)
			return r;
		if (m->out->bytes.size > OUTPUT_BYTES)
			return 1;
	}
}

int edit_merge_put(struct edit_merge *m, unsigned input, const struct fxt_record *record)
{
	struct merge_input *in = &m->inputs[input];
	int r = edit_owners_see(m->owners, input, record);

	if (r < 0)
		return r;
	if (!m->started)
		edit_merge_learn_head(in, record);
	if (edit_join_read(&in->join, record))
		return 0;
	edit_sort_tag(in->sort, in->join.at);
	/*
	 * Packets would contradict the records, because the times and koids of records are changed.
	 */
	if (edit_copy_is_packets(record))
		return 0;
	return edit_sort_put(in->sort, record->provider, record);
}

void edit_merge_end(struct edit_merge *m, unsigned input)
{
	m->inputs[input].ended = true;
	edit_join_end(&m->inputs[input].join);
}

void edit_merge_damage(struct edit_merge *m, unsigned input)
{
	edit_join_damage(&m->inputs[input].join);
}
