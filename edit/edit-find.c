/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-find.h"

#include "writer/maps.h"

bool edit_find_arg(const struct fxt_record *record, int name, enum fxt_arg_type type,
		   struct fxt_arg *ret)
{
	return fxt_args_find(record->args, name, type, ret);
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
