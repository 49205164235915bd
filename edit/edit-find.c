/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-find.h"

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
