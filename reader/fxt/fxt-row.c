/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/fxt/fxt-row.h"

#include "base/table.h"

enum fxt_row_id fxt_other_row(const struct fxt_record *r)
{
	switch (r->type) {
	case FXT_RECORD_KERNEL_OBJECT:
		return r->kernel_object.type == FXT_OBJECT_PROCESS  ? FXT_ROW_PROCESS
		       : r->kernel_object.type == FXT_OBJECT_THREAD ? FXT_ROW_THREAD
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

uint64_t fxt_record_number(const struct fxt_record *r, int name)
{
	const struct fxt_event_field *field = fxt_record_field(r, name);
	struct fxt_arg arg;

	if (!field || !fxt_args_find(r->args, name, field->type, &arg))
		return 0;
	switch (arg.type) {
	case FXT_ARG_STRING:
		return arg.text.bytes ? table_hash(arg.text.bytes, arg.text.length) : 0;
	case FXT_ARG_UINT32:
		return arg.uint32;
	case FXT_ARG_BOOL:
		return arg.boolean;
	default:
		return arg.uint64;
	}
}

void fxt_named_set(struct fxt_named *n, const struct fxt_record *event)
{
	*n = (struct fxt_named){ event->ts_ns, event->thread.pid,
				 fxt_record_number(event, FXT_NAME_ID) };
}

uint64_t fxt_named_consume(struct fxt_named *n, const struct fxt_record *r)
{
	uint64_t id = n->ts_ns == r->ts_ns && n->pid == r->thread.pid ? n->id : 0;

	if (id)
		n->id = 0;
	return id;
}

bool fxt_record_has_main(const struct fxt_record *r, enum fxt_row_id row)
{
	const struct fxt_event_field *f = fxt_event_rows[row].fields;
	struct fxt_arg arg;

	while (f && f->name && !(f->flags & FXT_FIELD_MAIN))
		f++;
	return f && f->name && fxt_args_find(r->args, f->name, f->type, &arg);
}
