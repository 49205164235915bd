/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/fxt/fxt-object.h"

bool fxt_object_is_unknown(const struct fxt_record *record)
{
	struct fxt_args it = record->args;
	struct fxt_arg arg;
	int outcome;

	if (!record->name.bytes || record->name.length != 1 || record->name.bytes[0] != '?')
		return false;
	while ((outcome = fxt_args_next(&it, &arg)) != FXT_ARGS_END)
		if (outcome == FXT_ARGS_NEXT && fxt_text_known(&arg.name) == FXT_NAME_START_TIME)
			return false;
	return true;
}
