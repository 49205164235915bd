/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-part.h"

#include <string.h>

#include "base/table.h"
#include "edit/edit-find.h"

static const char *const names[] = {
	[EDIT_PART_STATE] = "state",
	[EDIT_PART_RECORDS] = "records",
	[EDIT_PART_END] = "end",
	[EDIT_PART_EDITED] = "edited",
};

struct event edit_part_event(const struct edit_part *part, enum edit_part_class what,
			     uint64_t ts_ns)
{
	return (struct event){
		.kind = EVENT_PART,
		.ts_ns = ts_ns,
		.part = { names[what], part->id, part->first_ns, part->behind_ns },
	};
}

int edit_part_write_mark(struct edit_part_mark *mark, struct edit_copy *copy,
			 const struct edit_part *source, uint64_t ts_ns)
{
	const uint64_t words[] = { mark->hide ? mark->hide(mark->userdata, source->id) : source->id,
				   mark->edit };
	const struct edit_part part = { .id = table_hash(words, sizeof(words)),
					.first_ns = source->first_ns };
	struct event ev = edit_part_event(&part, EDIT_PART_EDITED, ts_ns);

	if (mark->written)
		return 0;
	mark->written = true;
	return edit_copy_event(copy, &ev);
}

int edit_part_mark_before(struct edit_part_mark *mark, struct edit_copy *copy,
			  const struct fxt_provider *from, const struct fxt_record *record)
{
	enum fxt_row_id row = edit_row_of(from, record);
	struct edit_part source = { 0 };
	int r = 0;

	if (row == FXT_ROW_PART)
		source = (struct edit_part){
			.id = fxt_record_number(record, FXT_NAME_ID),
			.first_ns = fxt_record_number(record, FXT_NAME_FIRST),
		};
	if (row == FXT_ROW_PART || row == FXT_ROW_START)
		r = edit_part_write_mark(mark, copy, &source, record->ts_ns);
	return r == 0 && row == FXT_ROW_PART ? 1 : r;
}

bool edit_part_read(const struct fxt_provider *from, const struct fxt_record *record,
		    struct edit_part *ret, enum edit_part_class *ret_what)
{
	struct fxt_arg arg;

	if (edit_row_of(from, record) != FXT_ROW_PART ||
	    !edit_find_arg(record, FXT_NAME_CLASS, FXT_ARG_STRING, &arg) || !arg.text.bytes)
		return false;
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		if (arg.text.length != strlen(names[i]) ||
		    memcmp(arg.text.bytes, names[i], arg.text.length) != 0)
			continue;
		*ret = (struct edit_part){ fxt_record_number(record, FXT_NAME_ID),
					   fxt_record_number(record, FXT_NAME_FIRST),
					   fxt_record_number(record, FXT_NAME_LAST) };
		*ret_what = i;
		return true;
	}
	return false;
}

bool edit_part_fits(const struct edit_part *a, const struct edit_part *b)
{
	return a->id != 0 && a->id == b->id && a->behind_ns != 0 && a->behind_ns == b->first_ns &&
	       a->first_ns < a->behind_ns;
}

bool edit_part_begins_source(const struct edit_part *p)
{
	return p->id == 0 || p->first_ns == 0;
}
