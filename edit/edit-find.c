/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-find.h"

#include "writer/maps.h"

bool edit_find_arg(const struct fxt_record *record, int name, enum fxt_arg_type type,
		   struct fxt_arg *ret)
{
	return fxt_args_find(record->args, name, type, ret);
}

/* Whether R is an event that says what a process has mapped, or what an address of it means. */
static bool is_about_code(const struct fxt_record *r)
{
	int name;

	/* (other records have no name, but what a record before them left there) */
	if (r->type != FXT_RECORD_EVENT || r->subtype != FXT_EVENT_INSTANT ||
	    fxt_text_known(&r->category) != FXT_NAME_PROFILE)
		return false;
	name = fxt_text_known(&r->name);
	return name == FXT_NAME_MAPPING || name == FXT_NAME_FRAME;
}

uint64_t edit_process_of(const struct fxt_record *r)
{
	struct fxt_arg arg;

	if (is_about_code(r) && edit_find_arg(r, FXT_NAME_PROCESS, FXT_ARG_KOID, &arg))
		return arg.uint64;
	return r->thread.pid;
}

bool edit_is_kernel_mapping(const struct fxt_record *r)
{
	if (!maps_is_kthreadd(edit_process_of(r)))
		return false;
	if (r->type == FXT_RECORD_PROFILER)
		return r->subtype != FXT_PROFILER_BACKTRACE;
	return is_about_code(r);
}
