/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/archive/perfetto-record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"

/* Larger data is shown with its size only. */
enum { PERFETTO_RECORD_BLOB_BYTES = 64, PERFETTO_RECORD_BLOB_ROOM = 136 };

void perfetto_record_deinit(struct perfetto_record *r)
{
	outbuf_deinit(&r->texts);
}

/* ---- texts ---- */

/* text_clean() can replace each byte of a text by three bytes. */
static size_t perfetto_record_text_room(const struct fxt_text *t)
{
	return t->bytes ? 3 * (size_t)t->length + 1 : 0;
}

/* Makes room for all texts of RECORD. Returns 0 or -ENOMEM. */
static int perfetto_record_make_room(struct perfetto_record *r, const struct fxt_record *record)
{
	size_t room = perfetto_record_text_room(&record->name);
	struct fxt_args it = record->args;
	struct fxt_arg arg;
	int outcome;

	if (record->type == FXT_RECORD_EVENT)
		room += perfetto_record_text_room(&record->category);
	while ((outcome = fxt_args_next(&it, &arg)) != FXT_ARGS_END) {
		if (outcome != FXT_ARGS_NEXT)
			continue;
		room += perfetto_record_text_room(&arg.name);
		if (arg.type == FXT_ARG_STRING)
			room += perfetto_record_text_room(&arg.text);
		else if (arg.type == FXT_ARG_BLOB)
			room += PERFETTO_RECORD_BLOB_ROOM;
	}
	outbuf_reset(&r->texts);
	r->next = outbuf_reserve(&r->texts, room);
	return r->next ? 0 : -ENOMEM;
}

static const char *perfetto_record_text(struct perfetto_record *r, const struct fxt_text *t)
{
	char *to = r->next;

	if (!t->bytes || t->length == 0)
		return "";
	r->next += text_clean(to, perfetto_record_text_room(t), t->bytes, t->length) + 1;
	return to;
}

/* Hexadecimal digits, or the size. */
static const char *perfetto_record_blob(struct perfetto_record *r, const struct fxt_arg *arg)
{
	char *to = r->next;

	r->next += PERFETTO_RECORD_BLOB_ROOM;
	if (arg->blob.size > PERFETTO_RECORD_BLOB_BYTES)
		snprintf(to, PERFETTO_RECORD_BLOB_ROOM, "%" PRIu32 " bytes", arg->blob.size);
	else
		for (size_t i = 0; i < arg->blob.size; i++)
			snprintf(to + 2 * i, 3, "%02x", arg->blob.data[i]);
	return to;
}

/* ---- events ---- */

/* Returns whether the argument has a value. */
static bool perfetto_record_arg(struct perfetto_record *r, const struct fxt_arg *arg,
				struct perfetto_plain_arg *ret)
{
	switch (arg->type) {
	case FXT_ARG_INT32:
		ret->form = PLAIN_ARG_INT;
		ret->i64 = arg->int32;
		break;
	case FXT_ARG_INT64:
		ret->form = PLAIN_ARG_INT;
		ret->i64 = arg->int64;
		break;
	case FXT_ARG_UINT32:
		ret->form = PLAIN_ARG_UINT;
		ret->u64 = arg->uint32;
		break;
	case FXT_ARG_UINT64:
	case FXT_ARG_KOID:
		ret->form = PLAIN_ARG_UINT;
		ret->u64 = arg->uint64;
		break;
	case FXT_ARG_POINTER:
		ret->form = PLAIN_ARG_POINTER;
		ret->u64 = arg->uint64;
		break;
	case FXT_ARG_DOUBLE:
		ret->form = PLAIN_ARG_DOUBLE;
		ret->f64 = arg->real;
		break;
	case FXT_ARG_BOOL:
		ret->form = PLAIN_ARG_BOOL;
		ret->yes = arg->boolean;
		break;
	case FXT_ARG_STRING:
		ret->form = PLAIN_ARG_TEXT;
		ret->text = perfetto_record_text(r, &arg->text);
		break;
	case FXT_ARG_NULL:
		ret->form = PLAIN_ARG_TEXT;
		ret->text = "null";
		break;
	case FXT_ARG_BLOB:
		ret->form = PLAIN_ARG_TEXT;
		ret->text = perfetto_record_blob(r, arg);
		break;
	default:
		return false;
	}
	ret->name = perfetto_record_text(r, &arg->name);
	return true;
}

static bool perfetto_record_form(const struct fxt_record *record, enum perfetto_plain_form *ret)
{
	static const enum perfetto_plain_form forms[] = {
		[FXT_EVENT_INSTANT] = PLAIN_INSTANT,
		[FXT_EVENT_COUNTER] = PLAIN_COUNTER,
		[FXT_EVENT_DURATION_BEGIN] = PLAIN_BEGIN,
		[FXT_EVENT_DURATION_END] = PLAIN_END,
		[FXT_EVENT_DURATION_COMPLETE] = PLAIN_COMPLETE,
		[FXT_EVENT_ASYNC_BEGIN] = PLAIN_ASYNC_BEGIN,
		[FXT_EVENT_ASYNC_INSTANT] = PLAIN_ASYNC_INSTANT,
		[FXT_EVENT_ASYNC_END] = PLAIN_ASYNC_END,
		[FXT_EVENT_FLOW_BEGIN] = PLAIN_FLOW_BEGIN,
		[FXT_EVENT_FLOW_STEP] = PLAIN_FLOW_STEP,
		[FXT_EVENT_FLOW_END] = PLAIN_FLOW_END,
	};

	if (record->type == FXT_RECORD_LOG) {
		*ret = PLAIN_LOG;
		return true;
	}
	if (record->type != FXT_RECORD_EVENT || record->subtype >= ARRAY_SIZE(forms))
		return false;
	/* (such an event only gives a stack its id in the archive; the export has no such ids) */
	if (record->provider->is_kymo && fxt_text_known(&record->category) == FXT_NAME_MEMORY &&
	    fxt_text_known(&record->name) == FXT_NAME_STACK)
		return false;
	*ret = forms[record->subtype];
	return true;
}

int perfetto_record_get(struct perfetto_record *r, const struct fxt_record *record,
			struct perfetto_plain *ret)
{
	struct fxt_args it = record->args;
	struct fxt_arg arg;
	int outcome;

	*ret = (struct perfetto_plain){ .pid = (uint32_t)record->thread.pid,
					.tid = (uint32_t)record->thread.tid,
					.ts_ns = record->ts_ns,
					.args = r->args };
	if (!perfetto_record_form(record, &ret->form))
		return 0;
	if (perfetto_record_make_room(r, record) < 0)
		return -ENOMEM;
	if (ret->form == PLAIN_LOG) {
		ret->category = record->provider->name;
		ret->name = perfetto_record_text(r, &record->name);
		return 1;
	}
	ret->end_ns = ret->form == PLAIN_COMPLETE ? record->event.end_ns : 0;
	ret->id = ret->form == PLAIN_COMPLETE ? 0 : record->event.value;
	ret->category = perfetto_record_text(r, &record->category);
	ret->name = perfetto_record_text(r, &record->name);
	while (ret->n_args < PERFETTO_RECORD_ARGS &&
	       (outcome = fxt_args_next(&it, &arg)) != FXT_ARGS_END)
		if (outcome == FXT_ARGS_NEXT && perfetto_record_arg(r, &arg, &r->args[ret->n_args]))
			ret->n_args++;
	return 1;
}
