/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-find.h"

#include "edit/edit-copy.h"
#include "model/maps.h"

bool edit_find_arg(const struct fxt_record *record, int name, enum fxt_arg_type type,
		   struct fxt_arg *ret)
{
	return fxt_args_find(record->args, name, type, ret);
}

enum fxt_row_id edit_row_of(const struct fxt_provider *from, const struct fxt_record *r)
{
	return edit_copy_is_kymo(from) ? fxt_record_row(r) : FXT_ROW_NONE;
}

/* Returns true if R is an event about a mapping of a process, or about names of an address. */
static bool edit_is_about_code(const struct fxt_record *r)
{
	enum fxt_row_id row = fxt_record_row(r);

	return row == FXT_ROW_MAPPING || row == FXT_ROW_FRAME;
}

uint64_t edit_process_of(const struct fxt_record *r)
{
	struct fxt_arg arg;

	if (edit_is_about_code(r) && edit_find_arg(r, FXT_NAME_PROCESS, FXT_ARG_KOID, &arg))
		return arg.uint64;
	return r->thread.pid;
}

bool edit_is_kernel_mapping(const struct fxt_record *r)
{
	if (!maps_is_kthreadd(edit_process_of(r)))
		return false;
	if (r->type == FXT_RECORD_PROFILER)
		return r->subtype != FXT_PROFILER_BACKTRACE;
	return edit_is_about_code(r);
}
