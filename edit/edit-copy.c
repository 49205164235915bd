/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-copy.h"

#include <errno.h>
#include <string.h>

#include "base/table.h"
#include "base/text.h"
#include "edit/edit-kept.h"
#include "writer/fxt/fxt-archive.h"

/* Texts of one record: category, name, and two for each argument; each with a NUL. */
enum {
	TEXTS_MAX = 2 + 2 * FXT_ARGS_MAX + 1,
	/* the last one is for text() */ TEXT_ROOM = FXT_STRING_BYTES_MAX + 1
};

enum { NANOSECOND_TICKS = 1000000000 };

static const char lost_text[] = "(lost)";

/* Sources that introduce the same provider under ever other names are not followed beyond this. */
enum { PROVIDERS_MAX = 1024 };

#define X(id, index, text) static_assert(index < EDIT_KEPT_STRING_FIRST, text);
FXT_NAMES(X)
#undef X

/* A provider of the source, and what it is in the output. */
struct provider {
	struct fxt_provider as;       /* its id and name when we met it */
	struct fxt_out_provider *out; /* that of `own`, or `other` */
	struct fxt_out_provider other;
	bool named;            /* has the names of fxt-names.h at their places */
	struct provider *next; /* in edit_copy.all */
};

struct edit_copy {
	struct edit_output *to;
	struct edit_rules rules;
	struct table
		providers; /* id of the source's + 2 -> the last struct provider of it; 1: ours */
	struct provider *all; /* owned */
	unsigned n_providers;
	struct fxt_archive own; /* for our own events; its writer writes everything */
	bool source_kymo;       /* a provider of the source shares that one */
	bool unknown_said;      /* who the pseudo-thread "unknown" is */
	struct edit_counts counts;
	size_t last;
	char *texts; /* owned; TEXTS_MAX of TEXT_ROOM bytes */
	unsigned n_texts;

	/* Of the record that is being copied. */
	const struct provider *provider;
	unsigned n_strings; /* apart: that were written for it */
	bool threads_apart; /* apart: its threads stand in records of their own */
	const struct fxt_record *record;
	struct fxt_out_arg args[FXT_ARGS_MAX];
	unsigned n_args;
};

/* ---- outputs ---- */

int edit_output_init(struct edit_output *out)
{
	*out = (struct edit_output){ .next_provider = 1 };
	return fxt_write_magic(&(struct fxt_writer){ .out = &out->bytes });
}

void edit_output_deinit(struct edit_output *out)
{
	outbuf_deinit(&out->bytes);
}

int edit_copy_new(struct edit_copy **ret, struct edit_output *out, const struct edit_rules *rules)
{
	_cleanup_(edit_copy_freep) struct edit_copy *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	r = fxt_archive_init(&c->own, &out->bytes, 1);
	if (r < 0)
		return r;
	fxt_archive_set_perfetto(&c->own, false);
	c->to = out;
	if (rules)
		c->rules = *rules;
	c->texts = malloc((size_t)TEXTS_MAX * TEXT_ROOM);
	if (!c->texts)
		return -ENOMEM;
	*ret = TAKE_PTR(c);
	return 0;
}

static struct provider *provider_free(struct provider *p)
{
	if (p && p->out == &p->other)
		fxt_out_provider_deinit(&p->other);
	free(p);
	return NULL;
}
DEFINE_CLEANUP(struct provider *, provider_free)

struct edit_copy *edit_copy_free(struct edit_copy *c)
{
	if (!c)
		return NULL;
	for (struct provider *p = c->all, *next; p; p = next) {
		next = p->next;
		provider_free(p);
	}
	table_deinit(&c->providers);
	fxt_archive_deinit(&c->own);
	free(c->texts);
	free(c);
	return NULL;
}

const struct edit_counts *edit_copy_counts(const struct edit_copy *c)
{
	return &c->counts;
}

size_t edit_copy_last(const struct edit_copy *c)
{
	return c->last;
}

const struct fxt_provider *edit_copy_from(const struct edit_copy *c)
{
	return &c->provider->as;
}

bool edit_copy_is_kymo(const struct fxt_provider *from)
{
	return strcmp(from->name, "kymo") == 0;
}

bool edit_copy_is_packets(const struct fxt_record *record)
{
	return record->type == FXT_RECORD_BLOB && record->blob.blob_type == FXT_BLOB_PERFETTO &&
	       fxt_text_known(&record->name) == FXT_NAME_PERFETTO_SAMPLES;
}

/* ---- text ---- */

/* The N bytes at BYTES as valid UTF-8 of at most MAX bytes, with a NUL, in one of our places. */
static const char *clean(struct edit_copy *c, const char *bytes, size_t n, size_t max,
			 size_t *ret_n)
{
	char *to = c->texts + (size_t)c->n_texts * TEXT_ROOM;

	c->n_texts++;
	if (n <= max && text_is_utf8(bytes, n)) {
		memcpy(to, bytes, n);
		to[n] = '\0';
		*ret_n = n;
	} else {
		*ret_n = text_clean(to, max + 1, bytes, n);
		c->counts.texts++;
	}
	return to;
}

/* Asks the rules about S, which is in one of our places. */
static void replace(struct edit_copy *c, enum edit_text what, int arg_name,
		    struct fxt_out_string *s)
{
	char *place = c->texts + (size_t)(c->n_texts - 1) * TEXT_ROOM;
	char *to = c->texts + (size_t)(TEXTS_MAX - 1) * TEXT_ROOM;
	size_t n =
		c->rules.text(c->rules.userdata, c->record, what, arg_name, s->text, s->length, to);

	if (n == EDIT_TEXT_AS_IT_IS)
		return;
	memcpy(place, to, n);
	place[n] = '\0';
	s->length = n;
}

static const char *name_text(int name)
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

/* Which of fxt-names.h T is, or 0. kymo's own are known by their places, even if what registered them
 * there was lost. */
static int known_name(const struct edit_copy *c, const struct fxt_text *t)
{
	if (t->bytes || !c->provider->named)
		return fxt_text_known(t);
	switch (t->ref) {
#define X(id, index, text) case index:
		FXT_NAMES(X)
#undef X
		return t->ref;
	default:
		return 0;
	}
}

/* Writes the record of S, at the next place for strings of this record. */
static struct fxt_out_string set_apart(struct edit_copy *c, const struct fxt_out_string *s)
{
	unsigned index = EDIT_KEPT_STRING_FIRST + c->n_strings++;

	fxt_write_string(&c->own.writer, index, s->text, s->length);
	return (struct fxt_out_string){ .index = index };
}

/* What T says, as the provider can say it. */
static struct fxt_out_string convert_text(struct edit_copy *c, const struct fxt_text *t,
					  enum edit_text what, int arg_name)
{
	struct fxt_out_string s = { 0 };
	bool is_word = what == EDIT_TEXT_CATEGORY || what == EDIT_TEXT_ARG_NAME ||
		       (what == EDIT_TEXT_NAME && c->record->type == FXT_RECORD_EVENT);
	bool in_record =
		what == EDIT_TEXT_LOG || what == EDIT_TEXT_MODULE || what == EDIT_TEXT_PROVIDER;
	int known = known_name(c, t);

	if (known && !in_record && (c->provider->named || c->rules.apart) &&
	    (is_word || !c->rules.text))
		return fxt_named((enum fxt_name)known);
	if (!t->bytes && !known) {
		c->counts.strings++;
		s.text = lost_text;
		s.length = strlen(lost_text);
		return c->rules.apart ? set_apart(c, &s) : s;
	}
	if (t->bytes && t->length == 0)
		return s;
	if (t->bytes)
		s.text = clean(c, t->bytes, t->length, FXT_STRING_BYTES_MAX, &s.length);
	else
		s.text = clean(c, name_text(known), strlen(name_text(known)), FXT_STRING_BYTES_MAX,
			       &s.length);
	if (c->rules.text && !(known && is_word))
		replace(c, what, arg_name, &s);
	return c->rules.apart && !in_record ? set_apart(c, &s) : s;
}

/* ---- koids, times ---- */

static uint64_t convert_koid(const struct edit_copy *c, uint64_t koid)
{
	/* We say who "unknown" is, and there is one of it. */
	if (!c->rules.koid || koid == FXT_KOID_UNKNOWN)
		return koid;
	return c->rules.koid(c->rules.userdata, koid);
}

uint64_t edit_shift_ns(uint64_t ns, int64_t shift)
{
	uint64_t shifted = ns + (uint64_t)shift;

	if (shift < 0)
		return shifted > ns ? 0 : shifted;
	return shifted < ns ? UINT64_MAX : shifted;
}

static uint64_t convert_time(const struct edit_copy *c, uint64_t ns)
{
	return edit_shift_ns(ns, c->rules.shift_ns);
}

static struct fxt_out_thread convert_thread(struct edit_copy *c, const struct fxt_thread *t)
{
	struct fxt_out_thread thread = { .is_inline = c->rules.apart && !c->threads_apart };

	if (!t->defined) {
		c->counts.threads++;
		thread.pid = thread.tid = FXT_KOID_UNKNOWN;
		return thread;
	}
	thread.pid = convert_koid(c, t->pid);
	thread.tid = convert_koid(c, t->tid);
	return thread;
}

/* ---- arguments ---- */

/* Takes ARG over, without its name. False: it cannot be said. */
static bool convert_value(struct edit_copy *c, const struct fxt_arg *arg, int name,
			  struct fxt_out_arg *ret)
{
	ret->type = (enum fxt_arg_type)arg->type;
	switch (arg->type) {
	case FXT_ARG_NULL:
		return true;
	case FXT_ARG_INT32:
		ret->i32 = arg->int32;
		return true;
	case FXT_ARG_UINT32:
		ret->u32 = arg->uint32;
		return true;
	case FXT_ARG_BOOL:
		ret->boolean = arg->boolean;
		return true;
	case FXT_ARG_INT64:
	case FXT_ARG_UINT64:
	case FXT_ARG_DOUBLE:
	case FXT_ARG_POINTER:
		ret->u64 = arg->uint64;
		return true;
	case FXT_ARG_KOID:
		ret->u64 = convert_koid(c, arg->uint64);
		return true;
	case FXT_ARG_STRING:
		ret->text = convert_text(c, &arg->text, EDIT_TEXT_ARG, name);
		return true;
	case FXT_ARG_BLOB:
		ret->blob.data = arg->blob.bytes;
		ret->blob.size = arg->blob.length;
		return true;
	default:
		return false;
	}
}

/* Readers give up where these are of another type. */
static bool has_wrong_type(const struct fxt_record *r, int name, unsigned type)
{
	switch (name) {
	case FXT_NAME_OUTGOING_WEIGHT:
	case FXT_NAME_INCOMING_WEIGHT:
		return r->type == FXT_RECORD_SCHEDULING && r->subtype == FXT_SCHED_SWITCH &&
		       type != FXT_ARG_INT32;
	case FXT_NAME_WEIGHT:
		return r->type == FXT_RECORD_SCHEDULING && r->subtype == FXT_SCHED_WAKEUP &&
		       type != FXT_ARG_INT32;
	case FXT_NAME_WAKER:
		return r->type == FXT_RECORD_SCHEDULING && r->subtype == FXT_SCHED_WAKEUP &&
		       type != FXT_ARG_KOID;
	case FXT_NAME_PROCESS:
		return r->type == FXT_RECORD_KERNEL_OBJECT && type != FXT_ARG_KOID;
	default:
		return false;
	}
}

/* What the rules add. */
static void add_arg(struct edit_copy *c)
{
	struct fxt_out_arg *to = &c->args[c->n_args];
	int name;

	if (!c->rules.more || c->n_args == FXT_ARGS_MAX)
		return;
	name = c->rules.more(c->rules.userdata, c->record, to);
	if (!name)
		return;
	to->name =
		c->provider->named ? fxt_named((enum fxt_name)name) : fxt_interned(name_text(name));
	c->n_args++;
}

static void convert_args(struct edit_copy *c)
{
	struct fxt_args it = c->record->args;
	struct fxt_arg arg;
	int outcome;

	c->n_args = 0;
	while ((outcome = fxt_args_next(&it, &arg)) != FXT_ARGS_END) {
		struct fxt_out_arg *to = &c->args[c->n_args];
		int name;

		if (outcome == FXT_ARGS_DAMAGE) {
			c->counts.arguments++;
			continue;
		}
		name = known_name(c, &arg.name);
		if (has_wrong_type(c->record, name, arg.type) ||
		    !convert_value(c, &arg, name, to)) {
			c->counts.arguments++;
			continue;
		}
		to->name = convert_text(c, &arg.name, EDIT_TEXT_ARG_NAME, name);
		if (!c->rules.arg || c->rules.arg(c->rules.userdata, c->record, name, to))
			c->n_args++;
	}
	add_arg(c);
}

/* ---- records ---- */

static int copy_metadata(struct edit_copy *c)
{
	if (c->record->subtype != FXT_METADATA_PROVIDER_EVENT)
		return 0;
	return fxt_write_provider_event(&c->own.writer, c->record->metadata.number);
}

static int copy_event(struct edit_copy *c)
{
	const struct fxt_record *r = c->record;

	if (r->subtype > FXT_EVENT_FLOW_END)
		return -EINVAL;
	return fxt_write_event(&c->own.writer,
			       &(struct fxt_event){
				       .type = (enum fxt_event_type)r->subtype,
				       .category =
					       convert_text(c, &r->category, EDIT_TEXT_CATEGORY, 0),
				       .name = convert_text(c, &r->name, EDIT_TEXT_NAME, 0),
				       .ts_ticks = convert_time(c, r->ts_ns),
				       .thread = convert_thread(c, &r->thread),
				       .args = c->args,
				       .n_args = c->n_args,
				       .id = r->subtype == FXT_EVENT_DURATION_COMPLETE
						     ? convert_time(c, r->event.end_ns)
						     : r->event.value,
			       });
}

static int copy_blob(struct edit_copy *c)
{
	const struct fxt_record *r = c->record;

	return fxt_write_blob(&c->own.writer,
			      &(struct fxt_blob){
				      .name = convert_text(c, &r->name, EDIT_TEXT_NAME, 0),
				      .type = (enum fxt_blob_type)r->blob.blob_type,
				      .data = r->blob.bytes,
				      .size = (size_t)r->blob.length,
			      });
}

static int copy_large(struct edit_copy *c)
{
	const struct fxt_record *r = c->record;
	struct fxt_large_blob blob = {
		.category = convert_text(c, &r->category, EDIT_TEXT_CATEGORY, 0),
		.name = convert_text(c, &r->name, EDIT_TEXT_NAME, 0),
		.data = r->blob.bytes,
		.size = (size_t)r->blob.length,
	};

	if (r->subtype == FXT_LARGE_BLOB_METADATA) {
		blob.has_metadata = true;
		blob.ts_ticks = convert_time(c, r->ts_ns);
		blob.thread = convert_thread(c, &r->thread);
		blob.args = c->args;
		blob.n_args = c->n_args;
	}
	return fxt_write_large_blob(&c->own.writer, &blob);
}

static int copy_userspace_object(struct edit_copy *c)
{
	const struct fxt_record *r = c->record;
	struct fxt_out_thread process = convert_thread(c, &r->thread);

	/* In the record stands only the process; a reference is to a thread. */
	process.is_inline = process.tid == 0;
	return fxt_write_userspace_object(
		&c->own.writer, &(struct fxt_userspace_object){
					.pointer = r->userspace_object.pointer,
					.process = process,
					.name = convert_text(c, &r->name, EDIT_TEXT_NAME, 0),
					.args = c->args,
					.n_args = c->n_args,
				});
}

static int copy_kernel_object(struct edit_copy *c)
{
	const struct fxt_record *r = c->record;

	return fxt_write_kernel_object(&c->own.writer,
				       &(struct fxt_kernel_object){
					       .type = r->kernel_object.object_type,
					       .koid = convert_koid(c, r->kernel_object.koid),
					       .name = convert_text(c, &r->name, EDIT_TEXT_NAME, 0),
					       .args = c->args,
					       .n_args = c->n_args,
				       });
}

static int copy_legacy_switch(struct edit_copy *c)
{
	const struct fxt_record *r = c->record;
	struct fxt_thread out = { r->sw.out_pid, r->sw.out_tid, r->sw.out_defined };
	struct fxt_thread in = { r->sw.in_pid, r->sw.in_tid, r->sw.in_defined };
	enum fxt_thread_state state = (enum fxt_thread_state)r->sw.out_state;

	/* Running is not for these; readers take both for runnable. */
	if (state == FXT_STATE_RUNNING)
		state = FXT_STATE_NEW;
	return fxt_write_legacy_switch(&c->own.writer,
				       &(struct fxt_legacy_switch){
					       .ts_ticks = convert_time(c, r->ts_ns),
					       .cpu = r->sw.cpu + c->rules.shift_cpu,
					       .out_state = state,
					       .out = convert_thread(c, &out),
					       .in = convert_thread(c, &in),
					       .out_priority = r->sw.out_priority,
					       .in_priority = r->sw.in_priority,
				       });
}

static int copy_scheduling(struct edit_copy *c)
{
	const struct fxt_record *r = c->record;

	switch (r->subtype) {
	case FXT_SCHED_LEGACY_SWITCH:
		return copy_legacy_switch(c);
	case FXT_SCHED_SWITCH:
		return fxt_write_switch(&c->own.writer,
					&(struct fxt_switch){
						.ts_ticks = convert_time(c, r->ts_ns),
						.cpu = r->sw.cpu + c->rules.shift_cpu,
						.out_state = (enum fxt_thread_state)r->sw.out_state,
						.out_tid = convert_koid(c, r->sw.out_tid),
						.in_tid = convert_koid(c, r->sw.in_tid),
						.args = c->args,
						.n_args = c->n_args,
					});
	default:
		return fxt_write_wakeup(&c->own.writer,
					&(struct fxt_wakeup){
						.ts_ticks = convert_time(c, r->ts_ns),
						.cpu = r->wake.cpu + c->rules.shift_cpu,
						.tid = convert_koid(c, r->wake.tid),
						.args = c->args,
						.n_args = c->n_args,
					});
	}
}

static int copy_log(struct edit_copy *c)
{
	const struct fxt_record *r = c->record;
	struct fxt_out_string text = convert_text(c, &r->name, EDIT_TEXT_LOG, 0);

	return fxt_write_log(&c->own.writer, &(struct fxt_log){
						     .ts_ticks = convert_time(c, r->ts_ns),
						     .thread = convert_thread(c, &r->thread),
						     .text = text.text,
						     .length = text.length,
					     });
}

/* A name that fits a module record. */
static const char *convert_module_name(struct edit_copy *c)
{
	struct fxt_out_string name = convert_text(c, &c->record->name, EDIT_TEXT_MODULE, 0);
	char *place;

	/* It stands there as a C string. */
	if (name.length <= FXT_MODULE_NAME_MAX && name.length == strlen(name.text ?: ""))
		return name.text ?: "";
	place = c->texts + (size_t)c->n_texts++ * TEXT_ROOM;
	text_clean(place, FXT_MODULE_NAME_MAX + 1, name.text, name.length);
	c->counts.texts++;
	return place;
}

static int copy_profiler(struct edit_copy *c)
{
	const struct fxt_record *r = c->record;
	struct fxt_out_thread thread = convert_thread(c, &r->thread);
	uint64_t ts = convert_time(c, r->ts_ns);

	switch (r->subtype) {
	case FXT_PROFILER_MODULE:
		return fxt_write_module(&c->own.writer,
					&(struct fxt_module){
						.ts_ticks = ts,
						.thread = thread,
						.id = r->module.id,
						.name = convert_module_name(c),
						.build_id = r->module.build_id,
						.build_id_size = r->module.build_id_length,
					});
	case FXT_PROFILER_MMAP:
		return fxt_write_mmap(&c->own.writer, &(struct fxt_mmap){
							      .ts_ticks = ts,
							      .thread = thread,
							      .module_id = r->mmap.module_id,
							      .flags = r->mmap.flags,
							      .start = r->mmap.start,
							      .range = r->mmap.range,
							      .vaddr = r->mmap.vaddr,
						      });
	default:
		return fxt_write_backtrace(&c->own.writer,
					   &(struct fxt_backtrace){
						   .ts_ticks = ts,
						   .thread = thread,
						   .frames = r->backtrace.frames,
						   .n_frames = r->backtrace.n_frames,
					   });
	}
}

static int copy_by_type(struct edit_copy *c)
{
	switch (c->record->type) {
	case FXT_RECORD_METADATA:
		return copy_metadata(c);
	case FXT_RECORD_EVENT:
		return copy_event(c);
	case FXT_RECORD_BLOB:
		return copy_blob(c);
	case FXT_RECORD_USERSPACE_OBJECT:
		return copy_userspace_object(c);
	case FXT_RECORD_KERNEL_OBJECT:
		return copy_kernel_object(c);
	case FXT_RECORD_SCHEDULING:
		return copy_scheduling(c);
	case FXT_RECORD_LOG:
		return copy_log(c);
	case FXT_RECORD_PROFILER:
		return copy_profiler(c);
	case FXT_RECORD_LARGE:
		return copy_large(c);
	default:
		return -EINVAL;
	}
}

/* ---- providers ---- */

/* Makes P's section the one that records go to. */
static int enter(struct edit_copy *c, const struct provider *p)
{
	int r = 0;

	if (c->to->current != p->out)
		r = fxt_write_section(&c->own.writer, p->out);
	c->own.writer.provider = p->out;
	c->to->current = p->out;
	return r;
}

static int introduce(struct edit_copy *c, const struct provider *p, const char *name)
{
	int r;

	p->out->id = c->to->next_provider++;
	r = fxt_write_provider_info(&c->own.writer, p->out, name);
	if (r == 0)
		r = fxt_write_section(&c->own.writer, p->out);
	if (r == 0)
		r = fxt_write_initialization(&c->own.writer, NANOSECOND_TICKS);
	if (r == 0 && (p->named || c->rules.apart))
		r = fxt_write_names(&c->own.writer);
	c->to->current = p->out;
	return r;
}

/* What the source's provider FROM is called in the output; TO has FXT_PROVIDER_NAME_MAX + 1 bytes. */
static void convert_provider_name(struct edit_copy *c, const struct fxt_provider *from, char *to)
{
	struct fxt_text name = { from->name, from->name_length, 0, 0 };
	struct fxt_out_string text;

	c->record = NULL;
	text = convert_text(c, &name, EDIT_TEXT_PROVIDER, 0);

	if (text.length == 0)
		text = fxt_interned("unnamed");
	text_clean(to, FXT_PROVIDER_NAME_MAX + 1, text.text, text.length);
}

/* Whether P is what FROM is called now. */
static bool is_called(const struct provider *p, const struct fxt_provider *from)
{
	return !from || (p->as.name_length == from->name_length &&
			 memcmp(p->as.name, from->name, from->name_length) == 0);
}

/*
 * FROM in the output; NULL: the provider of our own events. The first one that kymo wrote shares
 * it.
 */
static int get_provider(struct edit_copy *c, const struct fxt_provider *from, struct provider **ret)
{
	uint64_t key = from ? (uint64_t)from->id + 2 : 1;
	bool is_kymo = !from || edit_copy_is_kymo(from);
	_cleanup_(provider_freep) struct provider *p = NULL;
	char name[FXT_PROVIDER_NAME_MAX + 1] = "kymo";
	int r = 0;

	*ret = table_get(&c->providers, key);
	if (*ret && (is_called(*ret, from) || c->n_providers >= PROVIDERS_MAX))
		return 0;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	if (from) {
		p->as.id = from->id;
		p->as.name_length = from->name_length;
		memcpy(p->as.name, from->name, sizeof(p->as.name));
	}
	p->named = is_kymo;
	p->out = c->rules.apart || (is_kymo && !(from && c->source_kymo)) ? &c->own.provider
									  : &p->other;
	c->source_kymo |= is_kymo && from;
	if (p->out == &p->other)
		r = fxt_out_provider_init(&p->other, 0);
	c->provider = p;
	c->n_texts = 0;
	if (r == 0 && !is_kymo)
		convert_provider_name(c, from, name);
	if (r == 0 && !p->out->introduced)
		r = introduce(c, p, name);
	if (r == 0)
		r = table_set(&c->providers, key, p);
	c->provider = NULL;
	if (r < 0)
		return r;
	p->next = c->all;
	c->all = p;
	c->n_providers++;
	*ret = TAKE_PTR(p);
	return 0;
}

/* ---- from outside ---- */

static bool has_thread(const struct fxt_record *r)
{
	switch (r->type) {
	case FXT_RECORD_EVENT:
	case FXT_RECORD_USERSPACE_OBJECT:
	case FXT_RECORD_LOG:
	case FXT_RECORD_PROFILER:
		return true;
	case FXT_RECORD_LARGE:
		return r->subtype == FXT_LARGE_BLOB_METADATA;
	default:
		return false;
	}
}

static bool names_unknown(const struct fxt_record *r)
{
	if (r->type == FXT_RECORD_SCHEDULING)
		return r->subtype == FXT_SCHED_LEGACY_SWITCH &&
		       (!r->sw.out_defined || !r->sw.in_defined ||
			r->sw.out_pid == FXT_KOID_UNKNOWN || r->sw.in_pid == FXT_KOID_UNKNOWN);
	return has_thread(r) && (!r->thread.defined || r->thread.pid == FXT_KOID_UNKNOWN);
}

/* Says who "unknown" is. */
static int say_unknown(struct edit_copy *c)
{
	struct event ev = {
		.kind = EVENT_TASK,
		.pid = FXT_KOID_UNKNOWN,
		.tid = FXT_KOID_UNKNOWN,
		.task = { .comm = "unknown", .command_line = "", .is_process = true },
	};

	c->unknown_said = true;
	return edit_copy_event(c, &ev);
}

/* Begins the record anew, for another attempt. */
static int attempt(struct edit_copy *c)
{
	c->to->bytes.size = c->last;
	c->n_texts = 0;
	c->n_strings = 0;
	convert_args(c);
	return copy_by_type(c);
}

/* A record with threads in its place can be too long where one with references is not. */
static int attempt_with_threads_apart(struct edit_copy *c)
{
	struct fxt_table *threads = &c->own.provider.threads;
	int r;

	fxt_table_deinit(threads);
	r = fxt_table_init(threads, 1, FXT_THREAD_INDEX_MAX);
	if (r < 0)
		return c->to->bytes.error = r;
	c->threads_apart = true;
	r = attempt(c);
	c->threads_apart = false;
	return r;
}

int edit_copy_record(struct edit_copy *c, const struct fxt_provider *from,
		     const struct fxt_record *record)
{
	struct edit_counts before = c->counts;
	struct provider *p;
	int r;

	if (record->type <= FXT_RECORD_THREAD && !(record->type == FXT_RECORD_METADATA &&
						   record->subtype == FXT_METADATA_PROVIDER_EVENT))
		return 0;
	if (!c->rules.apart && !c->unknown_said && names_unknown(record)) {
		r = say_unknown(c);
		if (r < 0)
			return r;
	}
	r = get_provider(c, from, &p);
	if (r == 0)
		r = enter(c, p);
	if (r < 0)
		return r;
	c->record = record;
	c->provider = p;
	c->last = c->to->bytes.size;
	r = c->rules.apart && record->type == FXT_RECORD_USERSPACE_OBJECT
		    ? attempt_with_threads_apart(c)
		    : attempt(c);
	if (r == -EMSGSIZE && c->rules.apart && !c->to->bytes.error) {
		c->counts = before;
		r = attempt_with_threads_apart(c);
	}
	if (c->to->bytes.error)
		return c->to->bytes.error;
	if (r < 0)
		c->counts.refused++;
	else
		c->counts.records++;
	return 0;
}

/* Makes kymo's own section the one that records go to. */
static int enter_own(struct edit_copy *c)
{
	struct provider *p;
	int r = get_provider(c, NULL, &p);

	return r == 0 ? enter(c, p) : r;
}

int edit_copy_event(struct edit_copy *c, const struct event *ev)
{
	int r = enter_own(c);

	return r == 0 ? fxt_archive_event(&c->own, ev) : r;
}

void edit_copy_make_packets(struct edit_copy *c)
{
	fxt_archive_set_perfetto(&c->own, true);
}

static int write_packets(struct edit_copy *c, bool all)
{
	int r = enter_own(c);

	return r == 0 ? fxt_archive_packets(&c->own, all) : r;
}

int edit_copy_gather(struct edit_copy *c, const struct event *ev)
{
	int r = fxt_archive_gather(&c->own, ev);

	return r > 0 ? write_packets(c, false) : r;
}

int edit_copy_packets(struct edit_copy *c)
{
	/* Nobody is introduced for nothing. */
	return c->own.samples ? write_packets(c, true) : 0;
}

int edit_copy_switch(struct edit_copy *c, const struct edit_switch *sw)
{
	const struct fxt_out_arg args[] = {
		{ .type = FXT_ARG_INT32,
		  .name = fxt_named(FXT_NAME_OUTGOING_WEIGHT),
		  .i32 = sw->out_tid ? sw->out_weight : FXT_IDLE_WEIGHT },
		{ .type = FXT_ARG_INT32,
		  .name = fxt_named(FXT_NAME_INCOMING_WEIGHT),
		  .i32 = sw->in_tid ? sw->in_weight : FXT_IDLE_WEIGHT },
		{ .type = FXT_ARG_BOOL, .name = fxt_named(FXT_NAME_SYNTHETIC), .boolean = true },
	};
	int r = enter_own(c);

	if (r < 0)
		return r;
	r = fxt_write_switch(&c->own.writer, &(struct fxt_switch){
						     .ts_ticks = convert_time(c, sw->ts_ns),
						     .cpu = sw->cpu + c->rules.shift_cpu,
						     .out_state = FXT_STATE_RUNNING,
						     .out_tid = convert_koid(c, sw->out_tid),
						     .in_tid = convert_koid(c, sw->in_tid),
						     .args = args,
						     .n_args = ARRAY_SIZE(args),
					     });
	/* The CPU's other records are refused, too. */
	c->counts.refused += r < 0;
	return c->to->bytes.error;
}

int edit_copy_name(struct edit_copy *c, unsigned type, uint64_t koid, uint64_t pid,
		   const char *name)
{
	const struct fxt_out_arg process = { .type = FXT_ARG_KOID,
					     .name = fxt_named(FXT_NAME_PROCESS),
					     .u64 = convert_koid(c, pid) };
	int r = enter_own(c);

	if (r < 0)
		return r;
	fxt_write_kernel_object(&c->own.writer, &(struct fxt_kernel_object){
							.type = type,
							.koid = convert_koid(c, koid),
							.name = fxt_interned(name),
							.args = &process,
							.n_args = type == FXT_OBJECT_THREAD,
						});
	return c->to->bytes.error;
}
