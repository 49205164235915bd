/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the table of events, for tests/style/check-mapping: a line "WHAT argument type" for each
 * field and a line "WHAT" for each row. WHAT is "category:name whose" or "category:name complete",
 * "category: complete" if the name varies, and the record's name if it is no event.
 */
#include <stdio.h>

#include "writer/fxt/fxt-event-fields.h"

static const char *name_of(int name)
{
	switch (name) {
#define X(id, index, text)                                                                         \
	case index:                                                                                \
		return text;
		FXT_NAMES(X)
#undef X
	default:
		return "";
	}
}

static void print_row(const struct fxt_event_row *row, const char *id)
{
	static const char *const types[] = {
		[FXT_ARG_INT32] = "int32",     [FXT_ARG_UINT32] = "uint32",
		[FXT_ARG_UINT64] = "uint64",   [FXT_ARG_STRING] = "string",
		[FXT_ARG_POINTER] = "pointer", [FXT_ARG_KOID] = "koid",
		[FXT_ARG_BOOL] = "bool",
	};
	static const char *const whose[] = {
		[FXT_WHOSE_OWN] = "own", [FXT_WHOSE_PROCESS] = "process", [FXT_WHOSE_KYMO] = "kymo",
		[FXT_WHOSE_CPU] = "cpu", [FXT_WHOSE_CODE] = "code",       [FXT_WHOSE_BPF] = "own",
	};
	char what[128];

	if (row->category)
		snprintf(what, sizeof(what), "%s:%s %s", name_of(row->category), name_of(row->name),
			 row->type == FXT_EVENT_INSTANT ? whose[row->whose] : "complete");
	else
		snprintf(what, sizeof(what), "%s", id);
	puts(what);
	for (const struct fxt_event_field *f = row->fields; f->name; f++)
		/* (only for readers, since an event with the same members writes it) */
		if (f->form != FXT_FORM_WORD || (f->flags & FXT_FIELD_WHEN) != FXT_FIELD_UNWRITTEN)
			printf("%s %s %s\n", what, name_of(f->name), types[f->type]);
}

int main(void)
{
#define EVENT(kind, ...)     print_row(&fxt_event_rows[FXT_ROW_##kind], #kind);
#define ALSO(row, kind, ...) print_row(&fxt_event_rows[FXT_ROW_##row], #row);
#define OTHER(row, ...)      print_row(&fxt_event_rows[FXT_ROW_##row], #row);
#include "writer/fxt/fxt-event-rows.h"
	return 0;
}
