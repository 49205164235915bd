/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What programs say: events, objects and their messages.
 */
#include <errno.h>

#include "writer/fxt/fxt-draft.h"
#include "writer/fxt/fxt-layout.h"

int fxt_write_event(struct fxt_writer *w, const struct fxt_event *ev)
{
	struct fxt_draft d = {
		.threads = { &ev->thread },
		.strings = { &ev->category, &ev->name },
		.args = ev->args,
		.n_args = ev->n_args,
		.n_words = 2,
	};
	fxt_word *p;
	int r;

	if ((unsigned)ev->type > FXT_EVENT_FLOW_END ||
	    (ev->type == FXT_EVENT_DURATION_COMPLETE && ev->id < ev->ts_ticks))
		return -EINVAL;
	d.n_words += fxt_event_has_value(ev->type);
	p = fxt_draft_begin(w, &d, &r);
	if (!p)
		return r;
	*p++ = fxt_put_record_type(FXT_RECORD_EVENT) | fxt_put_record_words(d.n_words) |
	       fxt_put_event_type(ev->type) | fxt_put_event_n_args(ev->n_args) |
	       fxt_put_event_thread(d.thread_refs[0]) | fxt_put_event_category(d.string_refs[0]) |
	       fxt_put_event_name(d.string_refs[1]);
	*p++ = ev->ts_ticks;
	p = fxt_draft_thread(&d, 0, p);
	p = fxt_draft_string(&d, 0, p);
	p = fxt_draft_string(&d, 1, p);
	p = fxt_draft_args(&d, p);
	if (fxt_event_has_value(ev->type))
		*p = ev->id;
	return 0;
}

int fxt_write_userspace_object(struct fxt_writer *w, const struct fxt_userspace_object *o)
{
	struct fxt_draft d = {
		.threads = { &o->process },
		.strings = { &o->name },
		.args = o->args,
		.n_args = o->n_args,
		.process_only = true,
		.n_words = 2,
	};
	int r;
	fxt_word *p = fxt_draft_begin(w, &d, &r);

	if (!p)
		return r;
	*p++ = fxt_put_record_type(FXT_RECORD_USERSPACE_OBJECT) | fxt_put_record_words(d.n_words) |
	       fxt_put_userspace_thread(d.thread_refs[0]) |
	       fxt_put_userspace_name(d.string_refs[0]) | fxt_put_userspace_n_args(o->n_args);
	*p++ = o->pointer;
	p = fxt_draft_thread(&d, 0, p);
	p = fxt_draft_string(&d, 0, p);
	fxt_draft_args(&d, p);
	return 0;
}

int fxt_write_kernel_object(struct fxt_writer *w, const struct fxt_kernel_object *o)
{
	struct fxt_draft d = {
		.strings = { &o->name },
		.args = o->args,
		.n_args = o->n_args,
		.n_words = 2,
	};
	fxt_word *p;
	int r;

	if (o->type > FXT_OBJECT_TYPE_MAX)
		return -EINVAL;
	p = fxt_draft_begin(w, &d, &r);
	if (!p)
		return r;
	*p++ = fxt_put_record_type(FXT_RECORD_KERNEL_OBJECT) | fxt_put_record_words(d.n_words) |
	       fxt_put_kernel_object_type(o->type) | fxt_put_kernel_object_name(d.string_refs[0]) |
	       fxt_put_kernel_object_n_args(o->n_args);
	*p++ = o->koid;
	p = fxt_draft_string(&d, 0, p);
	fxt_draft_args(&d, p);
	return 0;
}

int fxt_write_log(struct fxt_writer *w, const struct fxt_log *log)
{
	struct fxt_draft d = { .threads = { &log->thread }, .n_words = 2 };
	fxt_word *p;
	int r;

	if (log->length > FXT_STRING_BYTES_MAX)
		return -EMSGSIZE;
	fxt_draft_add_stream(&d, log->length);
	p = fxt_draft_begin(w, &d, &r);
	if (!p)
		return r;
	*p++ = fxt_put_record_type(FXT_RECORD_LOG) | fxt_put_record_words(d.n_words) |
	       fxt_put_log_length(log->length) | fxt_put_log_thread(d.thread_refs[0]);
	*p++ = log->ts_ticks;
	p = fxt_draft_thread(&d, 0, p);
	fxt_draft_stream(p, log->text, log->length);
	return 0;
}
