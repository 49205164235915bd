/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-join.h"

#include <string.h>

#include "edit/edit-find.h"

void edit_join_init(struct edit_join *j)
{
	*j = (struct edit_join){ .before = -1, .after = -1 };
}

bool edit_join_read(struct edit_join *j, const struct fxt_record *record)
{
	enum edit_part_class at;
	struct edit_part part;

	if (!edit_part_read(record->provider, record, &part, &at))
		return false;
	if (j->part.id == 0)
		j->part = part;
	j->at = at == EDIT_PART_EDITED ? EDIT_PART_RECORDS : at;
	j->ended |= at == EDIT_PART_END;
	return true;
}

bool edit_join_is_in_state(const struct edit_join *j)
{
	return j->part.id != 0 && j->at == EDIT_PART_STATE;
}

void edit_join_damage(struct edit_join *j)
{
	j->damaged = true;
	j->begins_damaged |= j->at == EDIT_PART_STATE;
}

void edit_join_end(struct edit_join *j)
{
	j->all_read = true;
}

void edit_join_link(struct edit_join *a, int input_a, struct edit_join *b, int input_b)
{
	if (!edit_part_fits(&a->part, &b->part) || a->after >= 0 || b->before >= 0)
		return;
	a->after = input_b;
	b->before = input_a;
	a->next = b;
	b->previous = a;
}

static bool edit_join_is_complete(const struct fxt_record *r)
{
	return r->type == FXT_RECORD_EVENT && r->subtype == FXT_EVENT_DURATION_COMPLETE;
}

/*
 * Returns true if J can be joined with the part before it, judging by the data that was read of
 * both so far. A file that was cut off between two records shows no damage, but lacks the event
 * `part` after the state.
 */
static bool edit_join_can_be_joint(const struct edit_join *j)
{
	bool cut_off = j->all_read && j->at == EDIT_PART_STATE;

	return j->previous && j->previous->ended && !j->previous->damaged && !j->begins_damaged &&
	       !cut_off;
}

int edit_join_lacks(const struct edit_join *j)
{
	if (j->joint != EDIT_JOINT_UNKNOWN || !edit_join_can_be_joint(j))
		return -1;
	if (!j->previous->all_read)
		return j->before;
	return j->at == EDIT_PART_STATE && !j->all_read ? j->previous->after : -1;
}

void edit_join_decide(struct edit_join *j)
{
	bool joint = edit_join_can_be_joint(j) && edit_join_lacks(j) < 0;

	if (j->joint == EDIT_JOINT_UNKNOWN)
		j->joint = joint ? EDIT_JOINT_YES : EDIT_JOINT_NO;
}

bool edit_join_is_joint(const struct edit_join *j)
{
	return j->joint == EDIT_JOINT_YES;
}

bool edit_join_goes_on(const struct edit_join *j, const struct fxt_record *r)
{
	struct fxt_arg arg;

	return j->after >= 0 && edit_join_is_complete(r) && r->event.end_ns == j->part.behind_ns &&
	       edit_find_arg(r, FXT_NAME_ENDS_AT, FXT_ARG_UINT64, &arg);
}

bool edit_join_went_on(const struct edit_join *j, const struct fxt_record *r)
{
	struct fxt_arg arg;

	return j->before >= 0 && edit_join_is_complete(r) && r->ts_ns == j->part.first_ns &&
	       edit_find_arg(r, FXT_NAME_BEGAN_AT, FXT_ARG_UINT64, &arg);
}

bool edit_join_omits(const struct edit_join *j, const struct edit_sorted *item)
{
	const struct fxt_record *r = item->record;

	/* The times are checked, since an event `part` can be missing in a damaged archive. */
	if (item->tag == EDIT_PART_END)
		return j->next && edit_join_is_joint(j->next) &&
		       (!item->timed || r->ts_ns >= j->part.behind_ns);
	if (item->tag != EDIT_PART_STATE || !edit_join_is_joint(j) ||
	    (item->timed && r->ts_ns != j->part.first_ns))
		return false;
	/*
	 * A complete event is never left out as state: without room for its true times, it stays in
	 * both parts.
	 */
	return !edit_join_is_complete(r);
}

bool edit_join_mend(const struct edit_join *j, struct fxt_record *r)
{
	struct fxt_arg arg;

	if (j->before < 0 || r->type != FXT_RECORD_EVENT || r->ts_ns != j->part.first_ns ||
	    !edit_find_arg(r, FXT_NAME_BEGAN_AT, FXT_ARG_UINT64, &arg) || arg.uint64 > r->ts_ns)
		return false;
	r->ts_ns = arg.uint64 > j->chain_ns ? arg.uint64 : j->chain_ns;
	return arg.uint64 >= j->chain_ns;
}

static bool edit_join_is_text(const struct fxt_out_arg *arg, const char *text)
{
	return arg->type == FXT_ARG_STRING && arg->text.text && arg->text.length == strlen(text) &&
	       memcmp(arg->text.text, text, arg->text.length) == 0;
}

bool edit_join_keeps(int name, const struct fxt_out_arg *arg, bool *behind)
{
	if (name == FXT_NAME_BEGAN_AT) {
		*behind = true;
		return false;
	}
	if (*behind && name == FXT_NAME_LEFT_BY)
		return !edit_join_is_text(arg, "cut");
	if (*behind && name == FXT_NAME_BEGUN)
		return !edit_join_is_text(arg, "earlier");
	return true;
}
