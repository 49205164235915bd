/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/fxt/fxt-check.h"

#include <string.h>

#include "base/text.h"
#include "reader/fxt/fxt-kymo.h"
#include "reader/fxt/fxt-shape.h"
#include "writer/fxt/fxt-layout.h"

/* Longer names are useless in a viewer. */
enum { NAME_BYTES_MAX = 1024 };

/* Perfetto's tables of CPUs have this size. */
enum { CPUS_MAX = 4096 };

void fxt_findings_add(struct fxt_findings *f, enum fxt_finding_id id, uint64_t value)
{
	for (unsigned i = 0; i < f->n; i++)
		if (f->list[i].id == id)
			return;
	if (f->n == FXT_CHECK_MAX)
		return;
	f->list[f->n++] = (struct fxt_finding){ .id = id, .value = { value } };
	if (fxt_finding_kinds[id].severity == FXT_SEVERITY_ERROR)
		f->n_errors++;
}

void fxt_check_reserved(struct fxt_findings *f, uint64_t bits)
{
	if (bits != 0)
		fxt_findings_add(f, FXT_FINDING_RESERVED_BITS, 0);
}

void fxt_check_padding(struct fxt_findings *f, const void *p, uint64_t n)
{
	const uint8_t *bytes = p;

	for (uint64_t i = n; i % FXT_WORD_BYTES != 0; i++)
		if (bytes[i] != 0)
			fxt_findings_add(f, FXT_FINDING_PADDING, 0);
}

void fxt_check_stream(struct fxt_findings *f, const struct fxt_text *t)
{
	const char *nul = t->length ? memchr(t->bytes, '\0', t->length) : NULL;

	if (!text_is_utf8(t->bytes, t->length))
		fxt_findings_add(f, FXT_FINDING_UTF8, 0);
	if (nul)
		fxt_findings_add(f, FXT_FINDING_TEXT_NUL, (uint64_t)(nul - t->bytes));
	fxt_check_padding(f, t->bytes, t->length);
}

static void fxt_check_length(struct fxt_findings *f, const struct fxt_text *t)
{
	if (t->length > FXT_STRING_BYTES_MAX)
		fxt_findings_add(f, FXT_FINDING_STRING_LONG, t->length);
}

void fxt_check_ref(struct fxt_findings *f, const struct fxt_text *t)
{
	/* Text in the table was checked when it was registered. */
	if (!t->bytes || fxt_kymo_has_added(t))
		fxt_findings_add(f, FXT_FINDING_STRING_UNDEFINED, t->ref);
	else if (fxt_get_string_ref_inline(t->ref)) {
		fxt_check_stream(f, t);
		fxt_check_length(f, t);
	}
}

/* Checks a name or a category. (The names of blobs are not displayed.) */
static void fxt_check_name(struct fxt_findings *f, const struct fxt_record *r,
			   const struct fxt_text *t)
{
	fxt_check_ref(f, t);
	if (t->length > NAME_BYTES_MAX && r->type != FXT_RECORD_BLOB)
		fxt_findings_add(f, FXT_FINDING_NAME_LONG, t->length);
}

static void fxt_check_thread(struct fxt_findings *f, const struct fxt_thread *t, uint64_t ref)
{
	if (!t->defined)
		fxt_findings_add(f, FXT_FINDING_THREAD_UNDEFINED, ref);
	else if ((t->pid | t->tid) > UINT32_MAX)
		fxt_findings_add(f, FXT_FINDING_KOID_WIDE, t->tid > UINT32_MAX ? t->tid : t->pid);
}

static void fxt_check_time(struct fxt_findings *f, uint64_t ns)
{
	if (ns > INT64_MAX)
		fxt_findings_add(f, FXT_FINDING_TIME_HUGE, 0);
}

/* Reports words after the contents of a scheduling or profiler record. */
static void fxt_check_trailing(struct fxt_findings *f, const struct fxt_record *r)
{
	if (r->n_behind > 0)
		fxt_findings_add(f, FXT_FINDING_RECORD_TRAILING, r->n_behind);
}

/* Checks the fields of the record, by its layout. */
#define KIND(field)
#define HEAD(of, m, field, key)
#define RESERVED(field) fxt_check_reserved(f, fxt_get_##field(head));
#define WORD(of, m, key)
#define KOID(of, m, key)
#define WORDS(of, m, n, field, key)
#define TIME()                      fxt_check_time(f, r->ts_ns);
#define THREAD(field)               fxt_check_thread(f, &r->thread, fxt_get_##field(head));
#define PROCESS(field)              THREAD(field)
#define IDS()                       fxt_check_thread(f, &r->thread, 0);
#define REF(m, field, key)          fxt_check_name(f, r, &r->m);
#define TEXT(m, field, key)         fxt_check_stream(f, &r->name);
#define BYTES(of, m, n, field, key) fxt_check_padding(f, r->of.m, r->of.n);
#define BULK(of, m, n, field)       BYTES(of, m, n, field, )
#define ARGS(field)                 fxt_check_args(f, r);
#define VALUE()

static void fxt_check_parts(struct fxt_findings *f, const struct fxt_record *r, uint64_t head)
{
	switch (fxt_layout_key(head)) {
#define X(layout, type, subtype, facts)                                                            \
	case FXT_LAYOUT_KEY(type, subtype):                                                        \
		FXT_LAYOUT_##layout break;
		FXT_FRAME_LAYOUTS(X)
		FXT_DATA_LAYOUTS(X)
#undef X
	default:
		fxt_check_reserved(f, fxt_reserved_bits(head));
		break;
	}
}

static void fxt_check_metadata(struct fxt_findings *f, const struct fxt_record *r, uint64_t head)
{
	switch (r->subtype) {
	case FXT_METADATA_PROVIDER_INFO:
	case FXT_METADATA_PROVIDER_SECTION:
		break;
	case FXT_METADATA_PROVIDER_EVENT:
		fxt_findings_add(f,
				 r->metadata.number == FXT_PROVIDER_EVENT_BUFFER_FILLED
					 ? FXT_FINDING_LOSS_UNSEEN
					 : FXT_FINDING_METADATA_UNKNOWN,
				 r->metadata.number);
		break;
	case FXT_METADATA_TRACE_INFO:
		if (r->metadata.number != FXT_TRACE_INFO_MAGIC)
			fxt_findings_add(f, FXT_FINDING_METADATA_UNKNOWN, r->metadata.number);
		else if (head != FXT_MAGIC)
			fxt_findings_add(f, FXT_FINDING_MAGIC_WRONG, 0);
		else if (r->offset != 0)
			fxt_findings_add(f, FXT_FINDING_MAGIC_AGAIN, 0);
		break;
	default:
		fxt_findings_add(f, FXT_FINDING_METADATA_UNKNOWN, r->subtype);
	}
}

static void fxt_check_event(struct fxt_findings *f, const struct fxt_record *r)
{
	if (r->subtype > FXT_EVENT_FLOW_END)
		fxt_findings_add(f, FXT_FINDING_EVENT_UNKNOWN, r->subtype);
	if (r->subtype == FXT_EVENT_COUNTER && r->args.n_left == 0)
		fxt_findings_add(f, FXT_FINDING_COUNTER_EMPTY, 0);
	if (r->subtype == FXT_EVENT_DURATION_COMPLETE) {
		fxt_check_time(f, r->event.end_ns);
		if (r->event.value < r->ts_ticks)
			fxt_findings_add(f, FXT_FINDING_COMPLETE_BACKWARDS, 0);
	}
}

static void fxt_check_legacy_switch(struct fxt_findings *f, const struct fxt_record *r,
				    uint64_t head)
{
	uint64_t out = fxt_get_legacy_out_thread(head), in = fxt_get_legacy_in_thread(head);
	const struct fxt_thread out_thread = { r->sw.out_pid, r->sw.out_tid, r->sw.out_defined };
	const struct fxt_thread in_thread = { r->sw.in_pid, r->sw.in_tid, r->sw.in_defined };

	fxt_check_thread(f, &out_thread, out);
	fxt_check_thread(f, &in_thread, in);
	if (r->sw.out_state == FXT_STATE_RUNNING)
		fxt_findings_add(f, FXT_FINDING_LEGACY_RUNNING, 0);
	f->facts.out_idle = r->sw.out_defined && r->sw.out_pid == 0 && r->sw.out_priority == 0;
	f->facts.in_idle = r->sw.in_defined && r->sw.in_pid == 0 && r->sw.in_priority == 0;
	if ((r->sw.out_defined && r->sw.out_tid == 0 && !f->facts.out_idle) ||
	    (r->sw.in_defined && r->sw.in_tid == 0 && !f->facts.in_idle))
		fxt_findings_add(f, FXT_FINDING_IDLE_WEIGHT, r->sw.cpu);
	fxt_check_trailing(f, r);
}

/* Checks one side of a switch of type 1: the side must be the idle thread, or have a weight. */
static void fxt_check_side(struct fxt_findings *f, const struct fxt_record *r, uint64_t tid,
			   bool idle, bool has_weight)
{
	if (idle)
		return;
	if (tid == 0)
		fxt_findings_add(f, FXT_FINDING_IDLE_WEIGHT, r->sw.cpu);
	else if (!has_weight)
		fxt_findings_add(f, FXT_FINDING_WEIGHT_MISSING, tid);
	if (tid > UINT32_MAX)
		fxt_findings_add(f, FXT_FINDING_KOID_WIDE, tid);
}

static void fxt_check_scheduling(struct fxt_findings *f, const struct fxt_record *r, uint64_t head)
{
	fxt_check_time(f, r->ts_ns);
	if (r->subtype == FXT_SCHED_WAKEUP) {
		fxt_check_args(f, r);
		if (!f->facts.waker)
			fxt_findings_add(f, FXT_FINDING_WAKER_MISSING, r->wake.tid);
		if (r->wake.tid > UINT32_MAX)
			fxt_findings_add(f, FXT_FINDING_KOID_WIDE, r->wake.tid);
		if (r->wake.cpu >= CPUS_MAX)
			fxt_findings_add(f, FXT_FINDING_CPU_HUGE, r->wake.cpu);
	} else {
		if (r->sw.out_state > FXT_STATE_DEAD)
			fxt_findings_add(f, FXT_FINDING_THREAD_STATE, r->sw.out_state);
		if (r->sw.cpu >= CPUS_MAX)
			fxt_findings_add(f, FXT_FINDING_CPU_HUGE, r->sw.cpu);
		if (r->subtype == FXT_SCHED_LEGACY_SWITCH) {
			fxt_check_legacy_switch(f, r, head);
			return;
		}
		fxt_check_args(f, r);
		/* If arguments are damaged, the weight can be one of them: do not report that it is
		 * missing. */
		fxt_check_side(f, r, r->sw.out_tid, f->facts.out_idle,
			       f->facts.out_weight || !f->facts.end);
		fxt_check_side(f, r, r->sw.in_tid, f->facts.in_idle,
			       f->facts.in_weight || !f->facts.end);
	}
	if (f->facts.end)
		fxt_check_trailing(f, r);
}

static void fxt_check_profiler(struct fxt_findings *f, const struct fxt_record *r, uint64_t head)
{
	fxt_findings_add(f, FXT_FINDING_PROFILER_UNSEEN, 0);
	if (fxt_get_profiler_thread(head) == 0 && r->subtype != FXT_PROFILER_BACKTRACE)
		fxt_findings_add(f, FXT_FINDING_PROFILER_INLINE, 0);
	fxt_check_trailing(f, r);
}

static void fxt_check_large(struct fxt_findings *f, const struct fxt_record *r)
{
	uint64_t format = r->words[1];

	fxt_findings_add(f, FXT_FINDING_LARGE_UNSEEN, 0);
	if (r->n_words > FXT_RECORD_WORDS_MAX)
		fxt_findings_add(f, FXT_FINDING_LARGE_LONG, r->n_words);
	fxt_check_name(f, r, &r->category);
	fxt_check_name(f, r, &r->name);
	fxt_check_padding(f, r->blob.data, r->blob.size);
	if (r->subtype == FXT_LARGE_BLOB_NO_METADATA) {
		fxt_check_reserved(f, fxt_get_large_blob_bare_reserved(format));
		return;
	}
	fxt_check_time(f, r->ts_ns);
	fxt_check_reserved(f, fxt_get_large_blob_header_reserved(format));
	fxt_check_thread(f, &r->thread, fxt_get_large_blob_thread(format));
	fxt_check_args(f, r);
}

/*
 * Returns the time by which Perfetto's clock is late after 10^12 ns. Perfetto multiplies ticks by a
 * factor that is rounded down to 32 binary places, so all its times are a little short.
 */
static uint64_t fxt_short_ns(uint64_t ticks_per_second)
{
	const uint64_t factor = UINT64_C(1000000000) << 32;

	return (uint64_t)((unsigned __int128)(factor % ticks_per_second) * UINT64_C(1000000000000) /
			  factor);
}

static void fxt_check_table_record(struct fxt_findings *f, const struct fxt_record *r)
{
	switch (r->type) {
	case FXT_RECORD_INITIALIZATION:
		if (fxt_provider_is_odd_rate(r->initialization.ticks_per_second))
			fxt_findings_add(f, FXT_FINDING_TICKS_ODD,
					 r->initialization.ticks_per_second);
		if (fxt_short_ns(r->initialization.ticks_per_second) > 0) {
			fxt_findings_add(f, FXT_FINDING_TICKS_INEXACT,
					 r->initialization.ticks_per_second);
			f->list[f->n - 1].value[1] =
				fxt_short_ns(r->initialization.ticks_per_second);
		}
		break;
	case FXT_RECORD_STRING:
		fxt_check_length(f, &r->name);
		if (r->string.index == 0)
			fxt_findings_add(f, FXT_FINDING_STRING_INDEX_0, 0);
		else if (r->name.length == 0)
			fxt_findings_add(f, FXT_FINDING_STRING_EMPTY, r->string.index);
		break;
	default:
		if (r->thread_record.index == 0)
			fxt_findings_add(f, FXT_FINDING_THREAD_INDEX_0, 0);
	}
}

static void fxt_check_object(struct fxt_findings *f, const struct fxt_record *r)
{
	unsigned type = r->kernel_object.type;

	if (r->type == FXT_RECORD_USERSPACE_OBJECT) {
		fxt_findings_add(f, FXT_FINDING_USERSPACE_UNSEEN, 0);
		return;
	}
	if (type != FXT_OBJECT_PROCESS && type != FXT_OBJECT_THREAD) {
		fxt_findings_add(f, FXT_FINDING_OBJECT_UNSEEN, type);
		return;
	}
	if (r->kernel_object.koid > UINT32_MAX)
		fxt_findings_add(f, FXT_FINDING_KOID_WIDE, r->kernel_object.koid);
	if (type == FXT_OBJECT_THREAD && !f->facts.has_process)
		fxt_findings_add(f, FXT_FINDING_PROCESS_MISSING, r->kernel_object.koid);
}

static void fxt_check_blob(struct fxt_findings *f, const struct fxt_record *r)
{
	unsigned type = r->blob.type;

	if (type < FXT_BLOB_DATA || type > FXT_BLOB_PERFETTO)
		fxt_findings_add(f, FXT_FINDING_BLOB_TYPE, type);
	else if (type != FXT_BLOB_PERFETTO)
		fxt_findings_add(f, FXT_FINDING_BLOB_UNSEEN, type);
}

/*
 * Reports words after the contents of R, unless a known program writes such words. Scheduling and
 * profiler records are checked elsewhere, since such words are a worse error there.
 */
static void fxt_check_longer(struct fxt_findings *f, const struct fxt_record *r)
{
	switch (r->type) {
	case FXT_RECORD_INITIALIZATION:
	case FXT_RECORD_SCHEDULING:
	case FXT_RECORD_PROFILER:
		return;
	case FXT_RECORD_EVENT:
		if (r->subtype > FXT_EVENT_FLOW_END)
			return;
		/* a known program appends the scope of an instant: 0 to 2 */
		if (r->subtype == FXT_EVENT_INSTANT && r->n_behind == 1 &&
		    r->words[r->n_words - 1] <= 2)
			return;
		break;
	default:
		if (r->type > FXT_RECORD_LOG && r->type != FXT_RECORD_LARGE)
			return;
	}
	if (r->n_behind > 0)
		fxt_findings_add(f, FXT_FINDING_RECORD_LONGER, r->n_behind);
}

void fxt_check_record(const struct fxt_record *r, struct fxt_findings *ret)
{
	uint64_t head = r->words[0];

	ret->n = ret->n_errors = 0;
	ret->facts = (struct fxt_check_facts){ 0 };
	fxt_check_longer(ret, r);
	fxt_check_parts(ret, r, head);
	switch (r->type) {
	case FXT_RECORD_METADATA:
		fxt_check_metadata(ret, r, head);
		break;
	case FXT_RECORD_INITIALIZATION:
	case FXT_RECORD_STRING:
	case FXT_RECORD_THREAD:
		fxt_check_table_record(ret, r);
		break;
	case FXT_RECORD_EVENT:
		fxt_check_event(ret, r);
		break;
	case FXT_RECORD_BLOB:
		fxt_check_blob(ret, r);
		break;
	case FXT_RECORD_USERSPACE_OBJECT:
	case FXT_RECORD_KERNEL_OBJECT:
		fxt_check_object(ret, r);
		break;
	case FXT_RECORD_SCHEDULING:
		fxt_check_scheduling(ret, r, head);
		break;
	case FXT_RECORD_LOG:
		fxt_findings_add(ret, FXT_FINDING_LOG_UNSEEN, 0);
		break;
	case FXT_RECORD_PROFILER:
		fxt_check_profiler(ret, r, head);
		break;
	case FXT_RECORD_LARGE:
		fxt_check_large(ret, r);
		break;
	default:
		fxt_findings_add(ret, FXT_FINDING_RECORD_UNKNOWN, fxt_get_record_type(head));
		if (r->type == FXT_RECORD_UNKNOWN_KIND)
			ret->list[ret->n - 1].what = "of an unknown kind of its type";
	}
}
