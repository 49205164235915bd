/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The macros below make one function for each record type from its layout (fxt-layout.h). Each part
 * of the layout consumes some of the remaining words. If a word is missing, the record is damaged.
 * Words left over are allowed: "Appending new information to existing record types" is how the
 * format grows. The reader examines a record with such words more closely.
 */
#include "reader/fxt/fxt-parse.h"

#include "writer/fxt/fxt-layout.h"

struct cursor {
	const uint64_t *p, *end;
	bool odd;
};

static const char too_short[] = "the record is shorter than its contents";

static bool fxt_parse_read_word(struct cursor *c, uint64_t *ret)
{
	if (c->p == c->end)
		return false;
	*ret = *c->p++;
	return true;
}

/* Consumes a stream of N bytes, padded to words. */
static bool fxt_parse_read_stream(struct cursor *c, uint64_t n, const uint8_t **ret)
{
	uint64_t words = n / FXT_WORD_BYTES + (n % FXT_WORD_BYTES != 0);

	if (words > (uint64_t)(c->end - c->p))
		return false;
	*ret = (const uint8_t *)c->p;
	c->p += words;
	return true;
}

static bool fxt_parse_read_bytes_as_text(struct cursor *c, uint32_t n, struct fxt_text *ret)
{
	const uint8_t *bytes;

	if (!fxt_parse_read_stream(c, n, &bytes))
		return false;
	*ret = (struct fxt_text){ (const char *)bytes, n, -1, 0 };
	return true;
}

static bool fxt_parse_read_text(struct cursor *c, const struct fxt_provider *p, uint64_t ref,
				struct fxt_text *ret)
{
	if (!fxt_get_string_ref_inline(ref)) {
		*ret = fxt_provider_string(p, (unsigned)ref);
		return true;
	}
	if (!fxt_parse_read_bytes_as_text(c, (uint32_t)fxt_get_string_ref_length(ref), ret))
		return false;
	ret->ref = (uint16_t)ref;
	return true;
}

static bool fxt_parse_read_thread(struct cursor *c, const struct fxt_provider *p, uint64_t ref,
				  struct fxt_thread *ret)
{
	if (ref != 0) {
		*ret = p->threads[ref];
		return true;
	}
	ret->defined = true;
	return fxt_parse_read_word(c, &ret->pid) && fxt_parse_read_word(c, &ret->tid);
}

static bool fxt_parse_read_time(struct cursor *c, struct fxt_record *r)
{
	if (!fxt_parse_read_word(c, &r->ts_ticks))
		return false;
	r->ts_ns = fxt_provider_ns(r->provider, r->ts_ticks);
	return true;
}

static void fxt_parse_begin_args(struct cursor *c, struct fxt_record *r, uint64_t n)
{
	r->args = (struct fxt_args){ c->p, c->end, (unsigned)n, r->provider, NULL };
}

static void fxt_parse_must_be_zero(struct cursor *c, uint64_t bits)
{
	if (bits != 0)
		c->odd = true;
}

/* Skips the arguments, so that the words after them can be read. Returns false if they do not
 * fit. */
static bool fxt_parse_skip_args(struct cursor *c, const struct fxt_record *r)
{
	const uint64_t *end = fxt_args_end(&r->args);

	if (!end)
		return false;
	c->p = end;
	return true;
}

/* Skips the arguments at the end of a record. fxt_args_next() checks them later. */
static void fxt_parse_pass_args(struct cursor *c, const struct fxt_record *r)
{
	if (fxt_parse_skip_args(c, r))
		return;
	c->odd = true;
	c->p = c->end; /* the arguments do not fit: the words after them are unknown */
}

/* Consumes the N arguments of RECORD, and the value after them if its type has one. */
static const char *fxt_parse_read_args(struct cursor *c, struct fxt_record *r, uint64_t n)
{
	fxt_parse_begin_args(c, r, n);
	if (r->type != FXT_RECORD_EVENT || !fxt_event_has_value(r->subtype)) {
		fxt_parse_pass_args(c, r);
		if (r->type == FXT_RECORD_EVENT) {
			r->event.value = 0;
			c->odd |= r->subtype > FXT_EVENT_FLOW_END;
		}
		return NULL;
	}
	if (!fxt_parse_skip_args(c, r))
		return "the arguments do not fit the record";
	r->args.end = c->p;
	if (!fxt_parse_read_word(c, &r->event.value))
		return too_short;
	r->event.end_ns = fxt_provider_ns(r->provider, r->event.value);
	return NULL;
}

/* Consumes the process of a userspace object, which has no thread. */
static bool fxt_parse_read_process(struct cursor *c, struct fxt_record *r, uint64_t ref)
{
	r->thread = r->provider->threads[ref];
	if (ref != 0)
		return true;
	r->thread = (struct fxt_thread){ .defined = true };
	return fxt_parse_read_word(c, &r->thread.pid);
}

static bool fxt_parse_read_frames(struct cursor *c, uint64_t n, const uint64_t **ret)
{
	return fxt_parse_read_stream(c, n * FXT_WORD_BYTES, (const uint8_t **)ret);
}

/* ---- by layouts ---- */

#define NEED(condition)                                                                            \
	if (!(condition))                                                                          \
		return too_short;
#define RESERVED(field)         fxt_parse_must_be_zero(c, fxt_get_##field(head));
#define KIND(field)             r->subtype = (unsigned)fxt_get_##field(head);
#define HEAD(of, m, field, key) r->of.m = (typeof(r->of.m))fxt_get_##field(head);
#define TIME()                  NEED(fxt_parse_read_time(c, r))
#define THREAD(field)           NEED(fxt_parse_read_thread(c, r->provider, fxt_get_##field(head), &r->thread))
#define PROCESS(field)          NEED(fxt_parse_read_process(c, r, fxt_get_##field(head)))
#define IDS()                   NEED(fxt_parse_read_thread(c, r->provider, 0, &r->thread))
#define REF(m, field, key)      NEED(fxt_parse_read_text(c, r->provider, fxt_get_##field(head), &r->m))
#define TEXT(m, field, key)                                                                        \
	NEED(fxt_parse_read_bytes_as_text(c, (uint32_t)fxt_get_##field(head), &r->name))
#define BYTES(of, m, n, field, key)                                                                \
	HEAD(of, n, field, key) NEED(fxt_parse_read_stream(c, r->of.n, &r->of.m))
#define BULK(of, m, n, field) BYTES(of, m, n, field, )
#define WORDS(of, m, n, field, key)                                                                \
	HEAD(of, n, field, key) NEED(fxt_parse_read_frames(c, r->of.n, &r->of.m))
#define WORD(of, m, key) NEED(fxt_parse_read_word(c, &r->of.m))
#define KOID(of, m, key) WORD(of, m, key)
#define ARGS(field)      return fxt_parse_read_args(c, r, fxt_get_##field(head));
#define VALUE()          /* consumed with the arguments */

#define X(layout, type, subtype, type_name)                                                        \
	static const char *parse_##layout(struct cursor *c, struct fxt_record *r, uint64_t head)   \
	{                                                                                          \
		FXT_LAYOUT_##layout return NULL;                                                   \
	}
FXT_FRAME_LAYOUTS(X)
FXT_DATA_LAYOUTS(X)
#undef X

/* ---- by hand ---- */

static const char *fxt_parse_legacy_switch(struct cursor *c, struct fxt_record *r, uint64_t head)
{
	struct fxt_thread out, in;

	if (!fxt_parse_read_time(c, r) ||
	    !fxt_parse_read_thread(c, r->provider, fxt_get_legacy_out_thread(head), &out) ||
	    !fxt_parse_read_thread(c, r->provider, fxt_get_legacy_in_thread(head), &in))
		return too_short;
	r->sw.out_tid = out.tid;
	r->sw.out_pid = out.pid;
	r->sw.out_defined = out.defined;
	r->sw.in_tid = in.tid;
	r->sw.in_pid = in.pid;
	r->sw.in_defined = in.defined;
	r->sw.cpu = (uint16_t)fxt_get_legacy_cpu(head);
	r->sw.out_state = (uint8_t)fxt_get_legacy_out_state(head);
	r->sw.out_priority = (uint8_t)fxt_get_legacy_out_priority(head);
	r->sw.in_priority = (uint8_t)fxt_get_legacy_in_priority(head);
	return NULL;
}

/*
 * Handles an unknown subtype of a known type. Nothing is known about the contents of such a record,
 * not even whether it has a time.
 */
static const char *fxt_parse_pass_unknown(struct cursor *c, struct fxt_record *r)
{
	r->type = FXT_RECORD_UNKNOWN_KIND;
	c->odd = true;
	return NULL;
}

/* Most records of an archive are scheduling records, so they are read by plain loads, without the
 * cursor. */
static inline const char *fxt_parse_scheduling(struct cursor *c, struct fxt_record *r,
					       uint64_t head)
{
	const uint64_t *w = r->words;

	r->subtype = (unsigned)fxt_get_sched_type(head);
	switch (r->subtype) {
	case FXT_SCHED_SWITCH:
		if (r->n_words < 4)
			return too_short;
		r->ts_ticks = w[1];
		r->ts_ns = fxt_provider_ns(r->provider, w[1]);
		r->sw.out_tid = w[2];
		r->sw.in_tid = w[3];
		r->sw.out_pid = r->sw.in_pid = 0;
		r->sw.out_defined = r->sw.in_defined = true;
		r->sw.cpu = (uint16_t)fxt_get_sched_cpu(head);
		r->sw.out_state = (uint8_t)fxt_get_sched_out_state(head);
		fxt_parse_must_be_zero(c, fxt_get_sched_switch_reserved(head));
		c->p = w + 4;
		break;
	case FXT_SCHED_WAKEUP:
		if (r->n_words < 3)
			return too_short;
		r->ts_ticks = w[1];
		r->ts_ns = fxt_provider_ns(r->provider, w[1]);
		r->wake.tid = w[2];
		r->wake.cpu = (uint16_t)fxt_get_sched_cpu(head);
		fxt_parse_must_be_zero(c, fxt_get_sched_wakeup_reserved(head));
		c->p = w + 3;
		break;
	case FXT_SCHED_LEGACY_SWITCH:
		return fxt_parse_legacy_switch(c, r, head);
	default:
		return fxt_parse_pass_unknown(c, r);
	}
	fxt_parse_begin_args(c, r, fxt_get_sched_n_args(head));
	fxt_parse_pass_args(c, r);
	return NULL;
}

/* Parses metadata that belongs to no provider. */
static const char *fxt_parse_trace_info(struct cursor *c, struct fxt_record *r, uint64_t head)
{
	r->metadata.provider_id = (uint32_t)fxt_get_provider_id(head);
	if (r->subtype == FXT_METADATA_TRACE_INFO) {
		fxt_parse_must_be_zero(c, head ^ FXT_MAGIC);
		r->metadata.number = (uint32_t)fxt_get_trace_info_type(head);
	} else {
		c->odd = true;
	}
	return NULL;
}

static const char *fxt_parse_large(struct cursor *c, struct fxt_record *r, uint64_t head)
{
	uint64_t format;

	r->subtype = (unsigned)fxt_get_large_type(head);
	if (r->subtype != FXT_LARGE_BLOB)
		return fxt_parse_pass_unknown(c, r);
	r->subtype = (unsigned)fxt_get_large_blob_format(head);
	if (r->subtype > FXT_LARGE_BLOB_NO_METADATA)
		return fxt_parse_pass_unknown(c, r);
	fxt_parse_must_be_zero(c, fxt_get_large_blob_reserved(head));
	if (!fxt_parse_read_word(c, &format) ||
	    !fxt_parse_read_text(c, r->provider, fxt_get_large_blob_category(format),
				 &r->category) ||
	    !fxt_parse_read_text(c, r->provider, fxt_get_large_blob_name(format), &r->name))
		return too_short;
	if (r->subtype == FXT_LARGE_BLOB_METADATA) {
		if (!fxt_parse_read_time(c, r) ||
		    !fxt_parse_read_thread(c, r->provider, fxt_get_large_blob_thread(format),
					   &r->thread))
			return too_short;
		fxt_parse_begin_args(c, r, fxt_get_large_blob_n_args(format));
		if (!fxt_parse_skip_args(c, r))
			return "the arguments do not fit the record";
		r->args.end = c->p;
	}
	r->blob.type = 0;
	if (!fxt_parse_read_word(c, &r->blob.size) ||
	    !fxt_parse_read_stream(c, r->blob.size, &r->blob.data))
		return too_short;
	return NULL;
}

/* Parses records without a layout. */
static const char *fxt_parse_unlisted(struct cursor *c, struct fxt_record *r, uint64_t head)
{
	switch (r->type) {
	case FXT_RECORD_METADATA:
		return fxt_parse_trace_info(c, r, head);
	case FXT_RECORD_PROFILER:
		return fxt_parse_pass_unknown(c, r);
	case FXT_RECORD_LARGE:
		return fxt_parse_large(c, r, head);
	default: /* skipped by its size, as the format requires */
		c->odd = true;
		return NULL;
	}
}

/* Not inlined, so that the code for scheduling records stays short. */
static __attribute__((noinline)) const char *fxt_parse_other(struct cursor *c, struct fxt_record *r,
							     uint64_t head)
{
	const char *what;

	r->subtype = fxt_layout_key(head) & 15;
	switch (fxt_layout_key(head)) {
#define X(layout, type, subtype, type_name)                                                        \
	case FXT_LAYOUT_KEY(type, subtype):                                                        \
		what = parse_##layout(c, r, head);                                                 \
		break;
		FXT_FRAME_LAYOUTS(X)
		FXT_DATA_LAYOUTS(X)
#undef X
	default:
		return fxt_parse_unlisted(c, r, head);
	}
	if (!what && r->type == FXT_RECORD_INITIALIZATION &&
	    r->initialization.ticks_per_second == 0)
		what = "an initialization record with 0 ticks per second";
	return what;
}

const char *fxt_parse_record(struct fxt_record *r, bool *ret_odd)
{
	struct cursor c = { r->words + 1, r->words + r->n_words, false };
	uint64_t head = r->words[0];
	const char *what;

	r->type = (unsigned)fxt_get_record_type(head);
	r->args.n_left = 0;
	if (__builtin_expect(r->type == FXT_RECORD_SCHEDULING, 1))
		what = fxt_parse_scheduling(&c, r, head);
	else
		what = fxt_parse_other(&c, r, head);
	r->n_behind = (size_t)(c.end - c.p);
	*ret_odd = c.odd | (c.p != c.end);
	return what;
}
