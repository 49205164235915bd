/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "edit/edit-copy-state.h"
#include "writer/fxt/fxt-layout.h"

/* ---- by hand ---- */

static int edit_copy_types_copy_large(struct edit_copy *c)
{
	const struct fxt_record *r = c->record;
	struct fxt_large_blob blob = {
		.category = edit_convert_text(c, &r->category, EDIT_TEXT_CATEGORY, 0),
		.name = edit_convert_text(c, &r->name, EDIT_TEXT_NAME, 0),
		.data = r->blob.data,
		.size = (size_t)r->blob.size,
	};

	if (r->subtype == FXT_LARGE_BLOB_METADATA) {
		blob.has_metadata = true;
		blob.ts_ticks = edit_convert_time(c, r->ts_ns);
		blob.thread = edit_convert_thread(c, &r->thread);
		blob.args = c->args;
		blob.n_args = c->n_args;
	}
	return fxt_write_large_blob(&c->own.writer, &blob);
}

static int edit_copy_types_copy_legacy_switch(struct edit_copy *c)
{
	const struct fxt_record *r = c->record;
	struct fxt_thread out = { r->sw.out_pid, r->sw.out_tid, r->sw.out_defined };
	struct fxt_thread in = { r->sw.in_pid, r->sw.in_tid, r->sw.in_defined };
	enum fxt_thread_state state = (enum fxt_thread_state)r->sw.out_state;

	/* (the format forbids "running" in such a record; readers treat "running" and "new" as
	 * runnable) */
	if (state == FXT_STATE_RUNNING)
		state = FXT_STATE_NEW;
	return fxt_write_legacy_switch(&c->own.writer,
				       &(struct fxt_legacy_switch){
					       .ts_ticks = edit_convert_time(c, r->ts_ns),
					       .cpu = r->sw.cpu + c->rules.shift_cpu,
					       .out_state = state,
					       .out = edit_convert_thread(c, &out),
					       .in = edit_convert_thread(c, &in),
					       .out_priority = r->sw.out_priority,
					       .in_priority = r->sw.in_priority,
				       });
}

static int edit_copy_types_copy_unlisted(struct edit_copy *c)
{
	const struct fxt_record *r = c->record;

	switch (FXT_LAYOUT_KEY(r->type, r->subtype)) {
	case FXT_LAYOUT_KEY(FXT_RECORD_METADATA, FXT_METADATA_PROVIDER_EVENT):
		return fxt_write_provider_event(&c->own.writer, r->metadata.number);
	case FXT_LAYOUT_KEY(FXT_RECORD_SCHEDULING, FXT_SCHED_LEGACY_SWITCH):
		return edit_copy_types_copy_legacy_switch(c);
	case FXT_LAYOUT_KEY(FXT_RECORD_LARGE, FXT_LARGE_BLOB_METADATA):
	case FXT_LAYOUT_KEY(FXT_RECORD_LARGE, FXT_LARGE_BLOB_NO_METADATA):
		return edit_copy_types_copy_large(c);
	default:
		return -EINVAL;
	}
}

/* ---- by the layouts ---- */

static void edit_copy_types_copy_log_text(struct edit_copy *c, struct fxt_log *s)
{
	struct fxt_out_string text = edit_convert_text(c, &c->record->name, EDIT_TEXT_LOG, 0);

	s->text = text.text;
	s->length = text.length;
}

/* The roles of REF members, and the conversions of TEXT members. */
#define WHAT_category EDIT_TEXT_CATEGORY
#define WHAT_name     EDIT_TEXT_NAME
#define ASSIGN_name   s.name = edit_convert_module_name(c);
#define ASSIGN_text   edit_copy_types_copy_log_text(c, &s);

#define RESERVED(field)
#define KIND(field)                                                                                \
	if (r->subtype > FXT_EVENT_FLOW_END)                                                       \
		return -EINVAL;                                                                    \
	s.type = (typeof(s.type))r->subtype;
#define HEAD(of, m, field, key)  s.m = (typeof(s.m))r->of.m;
#define STATE(of, m, field, key) HEAD(of, m, field, key)
#define CPU(of, m, field, key)   s.m = r->of.m + c->rules.shift_cpu;
#define TIME()                   s.ts_ticks = edit_convert_time(c, r->ts_ns);
#define THREAD(field)            s.thread = edit_convert_thread(c, &r->thread);
/* A record contains only the process, but a reference names a thread. So a process without a thread
 * is written inline. */
#define PROCESS(field)                                                                             \
	s.process = edit_convert_thread(c, &r->thread);                                            \
	s.process.is_inline = s.process.tid == 0;
#define REF(m, field, key)          s.m = edit_convert_text(c, &r->m, WHAT_##m, 0);
#define TEXT(m, field, key)         ASSIGN_##m
#define WORD(of, m, key)            s.m = r->of.m;
#define BYTES(of, m, n, field, key) WORD(of, m, key) WORD(of, n, key)
#define WORDS(of, m, n, field, key) BYTES(of, m, n, field, key)
#define BULK(of, m, n, field)       BYTES(of, m, n, field, )
#define KOID(of, m, key)            s.m = edit_convert_koid(c, r->of.m);
#define ARGS(field)                                                                                \
	s.args = c->args;                                                                          \
	s.n_args = c->n_args;
#define VALUE()                                                                                    \
	s.id = s.type == FXT_EVENT_DURATION_COMPLETE ? edit_convert_time(c, r->event.end_ns)       \
						     : r->event.value;

#define X(layout, type, subtype, type_name)                                                        \
	static int copy_##layout(struct edit_copy *c)                                              \
	{                                                                                          \
		const struct fxt_record *r = c->record;                                            \
		struct fxt_##layout s;                                                             \
                                                                                                   \
		FXT_LAYOUT_##layout return fxt_write_##layout(&c->own.writer, &s);                 \
	}
FXT_DATA_LAYOUTS(X)
FXT_SCHED_LAYOUTS(X)
#undef X

int edit_copy_by_type(struct edit_copy *c)
{
	switch (fxt_layout_key_of(c->record->type, c->record->subtype)) {
#define X(layout, type, subtype, type_name)                                                        \
	case FXT_LAYOUT_KEY(type, subtype):                                                        \
		return copy_##layout(c);
		FXT_DATA_LAYOUTS(X)
		FXT_SCHED_LAYOUTS(X)
#undef X
	default:
		return edit_copy_types_copy_unlisted(c);
	}
}
