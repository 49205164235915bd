/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-find.h"

#include "writer/maps.h"

bool edit_find_arg(const struct fxt_record *record, int name, enum fxt_arg_type type,
		   struct fxt_arg *ret)
{
	struct fxt_args it = record->args;
	int outcome;

	while ((outcome = fxt_args_next(&it, ret)) != FXT_ARGS_END)
		if (outcome == FXT_ARGS_NEXT && ret->type == (unsigned)type &&
		    fxt_text_known(&ret->name) == name)
			return true;
	return false;
}

bool edit_is_kernel_mapping(const struct fxt_record *r)
{
	if (!maps_is_kthreadd(r->thread.pid))
		return false;
	if (r->type == FXT_RECORD_PROFILER)
		return r->subtype != FXT_PROFILER_BACKTRACE;
	return r->subtype == FXT_EVENT_INSTANT &&
	       fxt_text_known(&r->category) == FXT_NAME_PROFILE &&
	       fxt_text_known(&r->name) == FXT_NAME_MAPPING;
}
