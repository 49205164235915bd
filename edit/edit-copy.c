/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-copy.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "edit/edit-copy-state.h"

enum { NANOSECOND_TICKS = 1000000000 };

/*
 * The maximum number of providers in the output. A source can introduce one provider under ever new
 * names, and each name needs a provider.
 */
enum { PROVIDERS_MAX = 1024 };

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
	*ret = TAKE_PTR(c);
	return 0;
}

static struct edit_provider *edit_provider_free(struct edit_provider *p)
{
	if (p && p->out == &p->other)
		fxt_out_provider_deinit(&p->other);
	return free_ptr(p);
}
DEFINE_CLEANUP(struct edit_provider *, edit_provider_free)

struct edit_copy *edit_copy_free(struct edit_copy *c)
{
	if (!c)
		return NULL;
	for (struct edit_provider *p = c->all, *next; p; p = next) {
		next = p->next;
		edit_provider_free(p);
	}
	table_deinit(&c->providers);
	fxt_archive_deinit(&c->own);
	for (size_t i = 0; i < EDIT_TEXTS_MAX; i++)
		free(c->texts[i]);
	return free_ptr(c);
}

void edit_counts_add(struct edit_counts *to, const struct edit_counts *more)
{
	to->strings += more->strings;
	to->threads += more->threads;
	to->texts += more->texts;
	to->arguments += more->arguments;
	to->refused += more->refused;
	to->longer += more->longer;
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
	return record->type == FXT_RECORD_BLOB && record->blob.type == FXT_BLOB_PERFETTO &&
	       fxt_text_known(&record->name) == FXT_NAME_PERFETTO_SAMPLES;
}

/* ---- providers ---- */

/* Makes following records go to P's section. */
static int edit_copy_enter(struct edit_copy *c, const struct edit_provider *p)
{
	int r = 0;

	if (c->to->current != p->out)
		r = fxt_write_section(&c->own.writer, p->out);
	c->own.writer.provider = p->out;
	c->to->current = p->out;
	return r;
}

static int edit_copy_introduce(struct edit_copy *c, const struct edit_provider *p, const char *name)
{
	int r;

	p->out->id = c->to->next_provider++;
	r = fxt_write_provider_info(&c->own.writer, p->out, name)
		    ?: fxt_write_section(&c->own.writer, p->out)
		    ?: fxt_write_initialization(&c->own.writer, NANOSECOND_TICKS);
	if (r == 0 && (p->named || c->rules.apart))
		r = fxt_write_names(&c->own.writer);
	c->to->current = p->out;
	return r;
}

/*
 * Writes to TO the name that the source's provider FROM has in the output. TO has room for
 * FXT_PROVIDER_NAME_MAX + 1 bytes.
 */
static void edit_convert_provider_name(struct edit_copy *c, const struct fxt_provider *from,
				       char *to)
{
	struct fxt_text name = { from->name, from->name_length, 0, 0 };
	struct fxt_out_string text;

	c->record = NULL;
	text = edit_convert_text(c, &name, EDIT_TEXT_PROVIDER, 0);

	if (text.length == 0)
		text = fxt_interned("unnamed");
	text_clean(to, FXT_PROVIDER_NAME_MAX + 1, text.text, text.length);
}

/* Returns true if P has the current name of FROM. */
static bool edit_is_called(const struct edit_provider *p, const struct fxt_provider *from)
{
	return !from || (p->as.name_length == from->name_length &&
			 memcmp(p->as.name, from->name, from->name_length) == 0);
}

/*
 * Finds or makes the provider for FROM in the output. FROM = NULL stands for kymo's own events. The
 * first provider of the source that kymo wrote becomes the same provider as kymo's own events.
 */
static int edit_copy_get_provider(struct edit_copy *c, const struct fxt_provider *from,
				  struct edit_provider **ret)
{
	uint64_t key = from ? (uint64_t)from->id + 2 : 1;
	bool is_kymo = !from || edit_copy_is_kymo(from);
	_cleanup_(edit_provider_freep) struct edit_provider *p = NULL;
	char name[FXT_PROVIDER_NAME_MAX + 1] = "kymo";
	int r = 0;

	*ret = table_get(&c->providers, key);
	if (*ret && (edit_is_called(*ret, from) || c->n_providers >= PROVIDERS_MAX))
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
		edit_convert_provider_name(c, from, name);
	if (r == 0 && !p->out->introduced)
		r = edit_copy_introduce(c, p, name);
	r = r ?: table_set(&c->providers, key, p);
	c->provider = NULL;
	if (r < 0)
		return r;
	p->next = c->all;
	c->all = p;
	c->n_providers++;
	*ret = TAKE_PTR(p);
	return 0;
}

/* ---- public functions ---- */

static bool edit_names_unknown(const struct fxt_record *r)
{
	if (r->type == FXT_RECORD_SCHEDULING)
		return r->subtype == FXT_SCHED_LEGACY_SWITCH &&
		       (!r->sw.out_defined || !r->sw.in_defined ||
			r->sw.out_pid == FXT_KOID_UNKNOWN || r->sw.in_pid == FXT_KOID_UNKNOWN);
	/* A record with a time, or an object of a program, belongs to a thread or process. */
	return (fxt_record_has_time(r) || r->type == FXT_RECORD_USERSPACE_OBJECT) &&
	       (!r->thread.defined || r->thread.pid == FXT_KOID_UNKNOWN);
}

/* Names the pseudo-thread "unknown". */
static int edit_name_unknown(struct edit_copy *c)
{
	struct event ev = {
		.kind = EVENT_TASK,
		.pid = FXT_KOID_UNKNOWN,
		.tid = FXT_KOID_UNKNOWN,
		.task = { .comm = "unknown", .command_line = "", .is_process = true },
	};

	c->unknown_named = true;
	return edit_copy_event(c, &ev);
}

/* Discards the part of the record that was written, and writes the record again. */
static int edit_copy_attempt(struct edit_copy *c)
{
	c->to->bytes.size = c->last;
	c->n_texts = 0;
	c->n_strings = 0;
	edit_convert_args(c);
	return edit_copy_by_type(c);
}

/*
 * Writes the string and thread records first, and then the record with references to them, since a
 * record with inline threads can be too long.
 */
static int edit_attempt_with_threads_apart(struct edit_copy *c)
{
	struct fxt_table *threads = &c->own.provider.threads;
	int r;

	fxt_table_deinit(threads);
	r = fxt_table_init(threads, 1, FXT_THREAD_INDEX_MAX);
	if (r < 0)
		return c->to->bytes.error = r;
	c->threads_apart = true;
	r = edit_copy_attempt(c);
	c->threads_apart = false;
	return r;
}

/* Returns true if RECORD only fills tables for later records, or begins a section. */
static bool edit_is_for_tables(const struct fxt_record *record)
{
	if (record->type != FXT_RECORD_METADATA)
		return record->type <= FXT_RECORD_THREAD;
	return record->subtype == FXT_METADATA_PROVIDER_INFO ||
	       record->subtype == FXT_METADATA_PROVIDER_SECTION ||
	       record->subtype == FXT_METADATA_TRACE_INFO;
}

int edit_copy_record(struct edit_copy *c, const struct fxt_provider *from,
		     const struct fxt_record *record)
{
	struct edit_counts before = c->counts;
	struct edit_provider *p;
	int r;

	if (edit_is_for_tables(record))
		return 0;
	if (!c->rules.apart && !c->unknown_named && edit_names_unknown(record)) {
		r = edit_name_unknown(c);
		if (r < 0)
			return r;
	}
	r = edit_copy_get_provider(c, from, &p) ?: edit_copy_enter(c, p);
	if (r < 0)
		return r;
	c->record = record;
	c->provider = p;
	c->last = c->to->bytes.size;
	r = c->rules.apart && record->type == FXT_RECORD_USERSPACE_OBJECT
		    ? edit_attempt_with_threads_apart(c)
		    : edit_copy_attempt(c);
	if (r == -EMSGSIZE && c->rules.apart && !c->to->bytes.error) {
		c->counts = before;
		r = edit_attempt_with_threads_apart(c);
	}
	if (c->to->bytes.error)
		return c->to->bytes.error;
	if (r < 0) {
		c->counts.refused++;
		return 0;
	}
	c->counts.records++;
	c->counts.longer += record->n_behind > 0;
	return 0;
}

/* Makes following records go to kymo's own section. */
static int edit_enter_own(struct edit_copy *c)
{
	struct edit_provider *p;
	int r = edit_copy_get_provider(c, NULL, &p);

	return r == 0 ? edit_copy_enter(c, p) : r;
}

int edit_copy_begin(struct edit_copy *c)
{
	return edit_enter_own(c);
}

int edit_copy_event(struct edit_copy *c, const struct event *ev)
{
	int r = edit_enter_own(c);

	return r == 0 ? fxt_archive_event(&c->own, ev) : r;
}

void edit_copy_make_packets(struct edit_copy *c)
{
	fxt_archive_set_perfetto(&c->own, true);
}

static int edit_copy_write_packets(struct edit_copy *c, bool all)
{
	int r = edit_enter_own(c);

	return r == 0 ? fxt_archive_packets(&c->own, all) : r;
}

int edit_copy_gather(struct edit_copy *c, const struct event *ev)
{
	int r = fxt_archive_gather(&c->own, ev);

	return r > 0 ? edit_copy_write_packets(c, false) : r;
}

int edit_copy_packets(struct edit_copy *c)
{
	/* (without samples, the section of kymo's own provider is not entered) */
	return c->own.samples ? edit_copy_write_packets(c, true) : 0;
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
	int r = edit_enter_own(c);

	if (r < 0)
		return r;
	r = fxt_write_switch(&c->own.writer, &(struct fxt_switch){
						     .ts_ticks = edit_convert_time(c, sw->ts_ns),
						     .cpu = sw->cpu + c->rules.shift_cpu,
						     .out_state = FXT_STATE_RUNNING,
						     .out_tid = edit_convert_koid(c, sw->out_tid),
						     .in_tid = edit_convert_koid(c, sw->in_tid),
						     .args = args,
						     .n_args = ARRAY_SIZE(args),
					     });
	/* Other records of this CPU are refused, too, since the format cannot hold its number. */
	c->counts.refused += r < 0;
	return c->to->bytes.error;
}

int edit_copy_raw_event(struct edit_copy *c, const struct fxt_event *ev)
{
	int r = edit_enter_own(c);

	if (r < 0)
		return r;
	c->counts.refused += fxt_write_event(&c->own.writer, ev) < 0;
	return c->to->bytes.error;
}

int edit_copy_name(struct edit_copy *c, unsigned type, uint64_t koid, uint64_t pid,
		   const char *name)
{
	const struct fxt_out_arg process = { .type = FXT_ARG_KOID,
					     .name = fxt_named(FXT_NAME_PROCESS),
					     .u64 = edit_convert_koid(c, pid) };
	int r = edit_enter_own(c);

	if (r < 0)
		return r;
	fxt_write_kernel_object(&c->own.writer, &(struct fxt_kernel_object){
							.type = type,
							.koid = edit_convert_koid(c, koid),
							.name = fxt_interned(name),
							.args = &process,
							.n_args = type == FXT_OBJECT_THREAD,
						});
	return c->to->bytes.error;
}
