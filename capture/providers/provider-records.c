/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/providers/provider-records.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "reader/fxt/fxt-parse.h"
#include "writer/fxt/fxt-names.h"

/* The result of a step of a record: 0, or garbage. (Errors of the output are negative.) */
enum { PROVIDER_GARBAGE = 1, PROVIDER_FILTERED = 2 };

/* The name of a thread or track that the archive has. */
struct provider_record_name {
	uint64_t koid;
	char *text; /* owned */
};

struct provider_records {
	struct provider_rules rules;
	char name[FXT_PROVIDER_NAME_MAX + 1];
	struct fxt_provider *tables; /* strings and threads of the program */
	struct fxt_out_provider out;
	bool has_out;
	struct provider_record_counts counts;
	struct fxt_out_arg args[FXT_ARGS_MAX];
	unsigned n_args;
	struct provider_record_name *names; /* for the heads of chunks */
	size_t n_names, names_room;
};

int provider_records_new(struct provider_records **ret, uint32_t id, const char *name,
			 const struct provider_rules *rules)
{
	_cleanup_(provider_records_freep) struct provider_records *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	p->rules = *rules;
	text_clean(p->name, sizeof(p->name), name, strlen(name));
	r = fxt_provider_new(&p->tables, id);
	if (r < 0)
		return r;
	r = fxt_out_provider_init(&p->out, id);
	if (r < 0)
		return r;
	p->has_out = true;
	*ret = TAKE_PTR(p);
	return 0;
}

struct provider_records *provider_records_free(struct provider_records *p)
{
	if (!p)
		return NULL;
	fxt_provider_free(p->tables);
	if (p->has_out)
		fxt_out_provider_deinit(&p->out);
	for (size_t i = 0; i < p->n_names; i++)
		free(p->names[i].text);
	free(p->names);
	return free_ptr(p);
}

int provider_records_forget(struct provider_records *p)
{
	return p->out.introduced ? fxt_out_provider_forget(&p->out) : 0;
}

const struct provider_record_counts *provider_records_counts(const struct provider_records *p)
{
	return &p->counts;
}

/* ---- parts of records ---- */

static bool provider_records_text(const struct fxt_text *t, struct fxt_out_string *ret)
{
	if (!t->bytes || t->length > FXT_STRING_BYTES_MAX || !text_is_utf8(t->bytes, t->length))
		return false;
	*ret = (struct fxt_out_string){ .text = t->bytes, .length = t->length };
	return true;
}

static bool provider_records_koid(const struct provider_records *p, uint64_t thread, uint64_t *ret)
{
	return p->rules.koid(p->rules.userdata, thread, ret);
}

/* In the buffer, threads have process 0, since the manager knows the koid of the process. */
static bool provider_records_thread(const struct provider_records *p, const struct fxt_thread *t,
				    struct fxt_out_thread *ret)
{
	*ret = (struct fxt_out_thread){ .pid = p->rules.pid };
	return t->defined && t->pid == 0 && provider_records_koid(p, t->tid, &ret->tid);
}

static bool provider_records_time(const struct provider_records *p, uint64_t stamp, uint64_t *ret)
{
	return p->rules.time(p->rules.userdata, stamp, ret);
}

static bool provider_records_arg(const struct provider_records *p, const struct fxt_arg *arg,
				 struct fxt_out_arg *ret)
{
	*ret = (struct fxt_out_arg){ 0 };
	if (!provider_records_text(&arg->name, &ret->name))
		return false;
	if (fxt_args_copy_value(arg, ret))
		return true;
	switch (arg->type) {
	case FXT_ARG_KOID:
		return provider_records_koid(p, arg->uint64, &ret->u64);
	case FXT_ARG_STRING:
		/* (values vary, so they are not in the table unless the program put them there) */
		if (!provider_records_text(&arg->text, &ret->text))
			return false;
		ret->text.is_inline = fxt_get_string_ref_inline(arg->text.ref);
		return true;
	default:
		return false;
	}
}

/* Reads all arguments of RECORD to p->args. */
static bool provider_records_args(struct provider_records *p, const struct fxt_record *record)
{
	struct fxt_args args = record->args;
	struct fxt_arg arg;
	int r;

	p->n_args = 0;
	while ((r = fxt_args_next(&args, &arg)) == FXT_ARGS_NEXT)
		if (!provider_records_arg(p, &arg, &p->args[p->n_args++]))
			return false;
	return r == FXT_ARGS_END;
}

static int provider_records_introduce(const struct provider_records *p, struct fxt_writer *w,
				      struct fxt_out_provider *out)
{
	return fxt_write_provider_info(w, out, p->name)
		       ?: fxt_write_section(w, out)
		       ?: fxt_write_initialization(w, 1000000000);
}

/* Makes P the provider of the records that follow. */
static int provider_records_enter(struct provider_records *p, struct fxt_writer *w)
{
	if (w->provider == &p->out)
		return 0;
	return p->out.introduced ? fxt_write_section(w, &p->out)
				 : provider_records_introduce(p, w, &p->out);
}

/* ---- records ---- */

static int provider_records_event(struct provider_records *p, struct fxt_writer *w,
				  const struct fxt_record *record)
{
	struct fxt_event ev = { .type = (enum fxt_event_type)record->subtype,
				.id = record->event.value };

	if (record->subtype > FXT_EVENT_FLOW_END ||
	    !provider_records_text(&record->category, &ev.category) ||
	    !provider_records_text(&record->name, &ev.name) ||
	    !provider_records_thread(p, &record->thread, &ev.thread) ||
	    !provider_records_time(p, record->ts_ticks, &ev.ts_ticks) ||
	    !provider_records_args(p, record))
		return PROVIDER_GARBAGE;
	if (ev.type == FXT_EVENT_DURATION_COMPLETE &&
	    (!provider_records_time(p, ev.id, &ev.id) || ev.id < ev.ts_ticks))
		return PROVIDER_GARBAGE;
	if (p->rules.category &&
	    !p->rules.category(p->rules.userdata, ev.category.text, ev.category.length))
		return PROVIDER_FILTERED;
	ev.args = p->args;
	ev.n_args = p->n_args;
	return provider_records_enter(p, w) ?: fxt_write_event(w, &ev);
}

static int provider_records_log(struct provider_records *p, struct fxt_writer *w,
				const struct fxt_record *record)
{
	struct fxt_out_string text;
	struct fxt_log log = { 0 };

	if (!provider_records_text(&record->name, &text) ||
	    !provider_records_thread(p, &record->thread, &log.thread) ||
	    !provider_records_time(p, record->ts_ticks, &log.ts_ticks))
		return PROVIDER_GARBAGE;
	log.text = text.text;
	log.length = text.length;
	return provider_records_enter(p, w) ?: fxt_write_log(w, &log);
}

static int provider_records_blob(struct provider_records *p, struct fxt_writer *w,
				 const struct fxt_record *record)
{
	struct fxt_blob blob = { .type = FXT_BLOB_DATA,
				 .data = record->blob.data,
				 .size = record->blob.size };

	/*
	 * Only blobs of this type are written: readers interpret the contents of others, for
	 * example packets with threads of other processes.
	 */
	if (record->blob.type != FXT_BLOB_DATA || !provider_records_text(&record->name, &blob.name))
		return PROVIDER_GARBAGE;
	return provider_records_enter(p, w) ?: fxt_write_blob(w, &blob);
}

static int provider_records_userspace_object(struct provider_records *p, struct fxt_writer *w,
					     const struct fxt_record *record)
{
	struct fxt_userspace_object o = { .pointer = record->userspace_object.pointer,
					  .process = { .pid = p->rules.pid, .is_inline = true } };

	if (!record->thread.defined || record->thread.pid != 0 ||
	    !provider_records_text(&record->name, &o.name) || !provider_records_args(p, record))
		return PROVIDER_GARBAGE;
	o.args = p->args;
	o.n_args = p->n_args;
	return provider_records_enter(p, w) ?: fxt_write_userspace_object(w, &o);
}

static int provider_records_write_name(const struct provider_records *p, struct fxt_writer *w,
				       uint64_t koid, struct fxt_out_string name)
{
	const struct fxt_out_arg process = { .type = FXT_ARG_KOID,
					     .name = fxt_interned("process"),
					     .u64 = p->rules.pid };

	return fxt_write_kernel_object(w, &(struct fxt_kernel_object){
						  .type = FXT_OBJECT_THREAD,
						  .koid = koid,
						  .name = name,
						  .args = &process,
						  .n_args = 1,
					  });
}

/* Keeps the name. The size of the durable part limits the number of names. */
static int provider_records_keep_name(struct provider_records *p, uint64_t koid,
				      const struct fxt_out_string *name)
{
	struct provider_record_name *kept;

	if (GROW(p->names, p->names_room, p->n_names + 1) < 0)
		return -ENOMEM;
	kept = &p->names[p->n_names];
	*kept = (struct provider_record_name){ koid, strndup(name->text, name->length) };
	p->n_names += kept->text != NULL;
	return kept->text ? 0 : -ENOMEM;
}

/* Names a thread or track of the program. Other objects are the kernel's, and not the program's. */
static int provider_records_kernel_object(struct provider_records *p, struct fxt_writer *w,
					  const struct fxt_record *record)
{
	struct fxt_out_string name;
	uint64_t koid;

	if (record->kernel_object.type != FXT_OBJECT_THREAD ||
	    !provider_records_text(&record->name, &name) ||
	    !provider_records_koid(p, record->kernel_object.koid, &koid))
		return PROVIDER_GARBAGE;
	return provider_records_enter(p, w)
		       ?: provider_records_write_name(p, w, koid, name)
		       ?: (p->rules.named ? p->rules.named(p->rules.userdata, koid, name.text,
							   name.length)
					  : 0)
		       ?: provider_records_keep_name(p, koid, &name);
}

int provider_records_lost(struct provider_records *p, struct fxt_writer *w)
{
	return provider_records_enter(p, w)
		       ?: fxt_write_provider_event(w, FXT_PROVIDER_EVENT_BUFFER_FILLED);
}

int provider_records_head(const struct provider_records *p, struct fxt_writer *w)
{
	struct fxt_out_provider *before = w->provider, out;
	int r;

	if (!p->out.introduced)
		return 0;
	r = fxt_out_provider_init(&out, p->out.id);
	if (r < 0)
		return r;
	r = provider_records_introduce(p, w, &out);
	for (size_t i = 0; r == 0 && i < p->n_names; i++)
		r = provider_records_write_name(p, w, p->names[i].koid,
						fxt_interned(p->names[i].text));
	r = r ?: fxt_write_section(w, before);
	fxt_out_provider_deinit(&out);
	return r;
}

/* Takes a string or thread into the tables of the program. */
static int provider_records_define(struct provider_records *p, const struct fxt_record *record)
{
	struct fxt_out_string text;

	if (record->type == FXT_RECORD_THREAD) {
		if (record->thread_record.index == 0)
			return PROVIDER_GARBAGE;
		p->tables->threads[record->thread_record.index] = record->thread;
		return 0;
	}
	if (record->string.index == 0 || !provider_records_text(&record->name, &text))
		return PROVIDER_GARBAGE;
	return fxt_provider_set_string(p->tables, record->string.index, text.text,
				       (uint32_t)text.length);
}

static int provider_records_write(struct provider_records *p, struct fxt_writer *w,
				  const struct fxt_record *record, bool is_durable)
{
	switch (record->type) {
	case FXT_RECORD_STRING:
	case FXT_RECORD_THREAD:
		return is_durable ? provider_records_define(p, record) : PROVIDER_GARBAGE;
	case FXT_RECORD_KERNEL_OBJECT:
		return is_durable ? provider_records_kernel_object(p, w, record) : PROVIDER_GARBAGE;
	default:
		break;
	}
	if (is_durable)
		return PROVIDER_GARBAGE;
	switch (record->type) {
	case FXT_RECORD_EVENT:
		return provider_records_event(p, w, record);
	case FXT_RECORD_LOG:
		return provider_records_log(p, w, record);
	case FXT_RECORD_BLOB:
		return provider_records_blob(p, w, record);
	case FXT_RECORD_USERSPACE_OBJECT:
		return provider_records_userspace_object(p, w, record);
	default:
		return PROVIDER_GARBAGE;
	}
}

int provider_records_add(struct provider_records *p, struct fxt_writer *w, const uint64_t *words,
			 unsigned n_words, bool is_durable)
{
	struct fxt_record record = { .words = words, .n_words = n_words, .provider = p->tables };
	bool odd = false;
	int r;

	if (fxt_parse_record(&record, &odd) || odd)
		r = PROVIDER_GARBAGE;
	else
		r = provider_records_write(p, w, &record, is_durable);
	/* (a record that the format cannot hold is refused, and nothing of it is written) */
	if (r < 0 && !w->out->error && r != -ENOMEM)
		r = PROVIDER_GARBAGE;
	if (r < 0)
		return r;
	p->counts.garbage += r == PROVIDER_GARBAGE;
	p->counts.filtered += r == PROVIDER_FILTERED;
	p->counts.written += r == 0 && !is_durable;
	return 0;
}
