/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/fxt/fxt-row.h"

enum fxt_row_id fxt_other_row(const struct fxt_record *r)
{
	switch (r->type) {
	case FXT_RECORD_KERNEL_OBJECT:
		return r->kernel_object.object_type == FXT_OBJECT_PROCESS  ? FXT_ROW_PROCESS
		       : r->kernel_object.object_type == FXT_OBJECT_THREAD ? FXT_ROW_THREAD
									   : FXT_ROW_NONE;
	case FXT_RECORD_SCHEDULING:
		return r->subtype == FXT_SCHED_SWITCH   ? FXT_ROW_SWITCH
		       : r->subtype == FXT_SCHED_WAKEUP ? FXT_ROW_WAKEUP
							: FXT_ROW_NONE;
	default:
		return FXT_ROW_NONE;
	}
}

const struct fxt_event_field *fxt_record_field(const struct fxt_record *r, int name)
{
	return fxt_event_field_named(fxt_record_row(r), name);
}

bool fxt_record_has_main(const struct fxt_record *r, enum fxt_row_id row)
{
	const struct fxt_event_field *f = fxt_event_rows[row].fields;
	struct fxt_arg arg;

	while (f && f->name && !(f->flags & FXT_FIELD_MAIN))
		f++;
	return f && f->name && fxt_args_find(r->args, f->name, f->type, &arg);
}
