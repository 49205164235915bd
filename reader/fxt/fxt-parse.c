/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One function a record type, in the order of the specification's "Record Types". Each takes words
 * from the front of what is left; a word that is not there ends the record as damaged. Words left
 * over are no damage by themselves: "Appending new information to existing record types" is how the
 * format grows. The reader looks twice at such a record.
 */
#include "reader/fxt/fxt-parse.h"

struct cursor {
	const uint64_t *p, *end;
	bool odd;
};

static const char too_short[] = "the record is shorter than its contents";

static bool fxt_parse_take_word(struct cursor *c, uint64_t *ret)
{
	if (c->p == c->end)
		return false;
	*ret = *c->p++;
	return true;
}

/* Takes a stream of N bytes. */
static bool fxt_parse_take_stream(struct cursor *c, uint64_t n, const uint8_t **ret)
{
	uint64_t words = n / FXT_WORD_BYTES + (n % FXT_WORD_BYTES != 0);

	if (words > (uint64_t)(c->end - c->p))
		return false;
	*ret = (const uint8_t *)c->p;
	c->p += words;
	return true;
}

static bool take_bytes_as_text(struct cursor *c, uint32_t n, struct fxt_text *ret)
{
	const uint8_t *bytes;

	if (!fxt_parse_take_stream(c, n, &bytes))
		return false;
	*ret = (struct fxt_text){ (const char *)bytes, n, -1, 0 };
	return true;
}

static bool fxt_parse_take_text(struct cursor *c, const struct fxt_provider *p, uint64_t ref,
				struct fxt_text *ret)
{
	if (!fxt_get_string_ref_inline(ref)) {
		*ret = fxt_provider_string(p, (unsigned)ref);
		return true;
	}
	if (!take_bytes_as_text(c, (uint32_t)fxt_get_string_ref_length(ref), ret))
		return false;
	ret->ref = (uint16_t)ref;
	return true;
}

static bool fxt_parse_take_thread(struct cursor *c, const struct fxt_provider *p, uint64_t ref,
				  struct fxt_thread *ret)
{
	if (ref != 0) {
		*ret = p->threads[ref];
		return true;
	}
	ret->defined = true;
	return fxt_parse_take_word(c, &ret->pid) && fxt_parse_take_word(c, &ret->tid);
}

static bool fxt_parse_take_time(struct cursor *c, struct fxt_record *r)
{
	if (!fxt_parse_take_word(c, &r->ts_ticks))
		return false;
	r->ts_ns = fxt_provider_ns(r->provider, r->ts_ticks);
	return true;
}

static void begin_args(struct cursor *c, struct fxt_record *r, uint64_t n)
{
	r->args = (struct fxt_args){ c->p, c->end, (unsigned)n, r->provider, NULL };
}

static void fxt_parse_must_be_zero(struct cursor *c, uint64_t bits)
{
	if (bits != 0)
		c->odd = true;
}

/* Goes behind the arguments, for what follows them. */
static bool skip_args(struct cursor *c, const struct fxt_record *r)
{
	const uint64_t *end = fxt_args_end(&r->args);

	if (!end)
		return false;
	c->p = end;
	return true;
}

/* Goes behind the arguments that end a record. They are judged when they are asked for. */
static void pass_args(struct cursor *c, const struct fxt_record *r)
{
	if (skip_args(c, r))
		return;
	c->odd = true;
	c->p = c->end; /* what is behind them cannot be told */
}

static const char *parse_metadata(struct cursor *c, struct fxt_record *r, uint64_t head)
{
	r->subtype = (unsigned)fxt_get_metadata_type(head);
	r->metadata.provider_id = (uint32_t)fxt_get_provider_id(head);
	switch (r->subtype) {
	case FXT_METADATA_PROVIDER_INFO:
		fxt_parse_must_be_zero(c, fxt_get_provider_info_reserved(head));
		if (!take_bytes_as_text(c, (uint32_t)fxt_get_provider_name_length(head), &r->name))
			return too_short;
		return NULL;
	case FXT_METADATA_PROVIDER_SECTION:
		fxt_parse_must_be_zero(c, fxt_get_provider_section_reserved(head));
		return NULL;
	case FXT_METADATA_PROVIDER_EVENT:
		fxt_parse_must_be_zero(c, fxt_get_provider_event_reserved(head));
		r->metadata.number = (uint32_t)fxt_get_provider_event_id(head);
		return NULL;
	case FXT_METADATA_TRACE_INFO:
		fxt_parse_must_be_zero(c, head ^ FXT_MAGIC);
		r->metadata.number = (uint32_t)fxt_get_trace_info_type(head);
		return NULL;
	default:
		c->odd = true;
		return NULL;
	}
}

static const char *parse_initialization(struct cursor *c, struct fxt_record *r, uint64_t head)
{
	fxt_parse_must_be_zero(c, fxt_get_initialization_reserved(head));
	if (!fxt_parse_take_word(c, &r->initialization.ticks_per_second))
		return too_short;
	if (r->initialization.ticks_per_second == 0)
		return "an initialization record with 0 ticks per second";
	return NULL;
}

static const char *parse_string(struct cursor *c, struct fxt_record *r, uint64_t head)
{
	fxt_parse_must_be_zero(c, fxt_get_string_zero_31(head) | fxt_get_string_zero_47(head) |
					  fxt_get_string_reserved(head));
	r->string.index = (unsigned)fxt_get_string_index(head);
	if (!take_bytes_as_text(c, (uint32_t)fxt_get_string_length(head), &r->name))
		return too_short;
	return NULL;
}

static const char *parse_thread(struct cursor *c, struct fxt_record *r, uint64_t head)
{
	fxt_parse_must_be_zero(c, fxt_get_thread_reserved(head));
	r->thread_record.index = (unsigned)fxt_get_thread_index(head);
	return fxt_parse_take_thread(c, r->provider, 0, &r->thread) ? NULL : too_short;
}

static const char *parse_event(struct cursor *c, struct fxt_record *r, uint64_t head)
{
	r->subtype = (unsigned)fxt_get_event_type(head);
	r->event.value = 0;
	if (!fxt_parse_take_time(c, r) ||
	    !fxt_parse_take_thread(c, r->provider, fxt_get_event_thread(head), &r->thread) ||
	    !fxt_parse_take_text(c, r->provider, fxt_get_event_category(head), &r->category) ||
	    !fxt_parse_take_text(c, r->provider, fxt_get_event_name(head), &r->name))
		return too_short;
	begin_args(c, r, fxt_get_event_n_args(head));
	switch (r->subtype) {
	case FXT_EVENT_COUNTER:
	case FXT_EVENT_DURATION_COMPLETE:
	case FXT_EVENT_ASYNC_BEGIN:
	case FXT_EVENT_ASYNC_INSTANT:
	case FXT_EVENT_ASYNC_END:
	case FXT_EVENT_FLOW_BEGIN:
	case FXT_EVENT_FLOW_STEP:
	case FXT_EVENT_FLOW_END:
		if (!skip_args(c, r))
			return "the arguments do not fit the record";
		r->args.end = c->p;
		if (!fxt_parse_take_word(c, &r->event.value))
			return too_short;
		r->event.end_ns = fxt_provider_ns(r->provider, r->event.value);
		return NULL;
	default:
		pass_args(c, r);
		if (r->subtype > FXT_EVENT_FLOW_END)
			c->odd = true;
		return NULL;
	}
}

static const char *parse_blob(struct cursor *c, struct fxt_record *r, uint64_t head)
{
	fxt_parse_must_be_zero(c, fxt_get_blob_zero_47(head) | fxt_get_blob_reserved(head));
	r->blob.blob_type = (unsigned)fxt_get_blob_type(head);
	r->blob.length = fxt_get_blob_length(head);
	if (!fxt_parse_take_text(c, r->provider, fxt_get_blob_name(head), &r->name) ||
	    !fxt_parse_take_stream(c, r->blob.length, &r->blob.bytes))
		return too_short;
	return NULL;
}

static const char *parse_userspace_object(struct cursor *c, struct fxt_record *r, uint64_t head)
{
	uint64_t ref = fxt_get_userspace_thread(head);

	if (!fxt_parse_take_word(c, &r->userspace_object.pointer))
		return too_short;
	/* Here an inline reference is the process alone. */
	r->thread = r->provider->threads[ref];
	if (ref == 0) {
		r->thread = (struct fxt_thread){ .defined = true };
		if (!fxt_parse_take_word(c, &r->thread.pid))
			return too_short;
	}
	if (!fxt_parse_take_text(c, r->provider, fxt_get_userspace_name(head), &r->name))
		return too_short;
	fxt_parse_must_be_zero(c, fxt_get_userspace_reserved(head));
	begin_args(c, r, fxt_get_userspace_n_args(head));
	pass_args(c, r);
	return NULL;
}

static const char *parse_kernel_object(struct cursor *c, struct fxt_record *r, uint64_t head)
{
	r->kernel_object.object_type = (unsigned)fxt_get_kernel_object_type(head);
	if (!fxt_parse_take_word(c, &r->kernel_object.koid) ||
	    !fxt_parse_take_text(c, r->provider, fxt_get_kernel_object_name(head), &r->name))
		return too_short;
	fxt_parse_must_be_zero(c, fxt_get_kernel_object_reserved(head));
	begin_args(c, r, fxt_get_kernel_object_n_args(head));
	pass_args(c, r);
	return NULL;
}

static const char *parse_legacy_switch(struct cursor *c, struct fxt_record *r, uint64_t head)
{
	struct fxt_thread out, in;

	if (!fxt_parse_take_time(c, r) ||
	    !fxt_parse_take_thread(c, r->provider, fxt_get_legacy_out_thread(head), &out) ||
	    !fxt_parse_take_thread(c, r->provider, fxt_get_legacy_in_thread(head), &in))
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

/* A known type's subtype that is not: nobody knows what stands in it, not even whether it has a time. */
static const char *pass_unknown(struct cursor *c, struct fxt_record *r)
{
	r->type = FXT_RECORD_UNKNOWN_KIND;
	c->odd = true;
	return NULL;
}

/* The bulk of most archives: by plain loads, without a cursor. */
static inline const char *parse_scheduling(struct cursor *c, struct fxt_record *r, uint64_t head)
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
		return parse_legacy_switch(c, r, head);
	default:
		return pass_unknown(c, r);
	}
	begin_args(c, r, fxt_get_sched_n_args(head));
	pass_args(c, r);
	return NULL;
}

static const char *parse_log(struct cursor *c, struct fxt_record *r, uint64_t head)
{
	fxt_parse_must_be_zero(c, fxt_get_log_zero_31(head) | fxt_get_log_reserved(head));
	if (!fxt_parse_take_time(c, r) ||
	    !fxt_parse_take_thread(c, r->provider, fxt_get_log_thread(head), &r->thread) ||
	    !take_bytes_as_text(c, (uint32_t)fxt_get_log_length(head), &r->name))
		return too_short;
	return NULL;
}

static const char *parse_profiler(struct cursor *c, struct fxt_record *r, uint64_t head)
{
	const uint8_t *bytes;

	r->subtype = (unsigned)fxt_get_profiler_type(head);
	if (r->subtype > FXT_PROFILER_BACKTRACE)
		return pass_unknown(c, r);
	if (!fxt_parse_take_time(c, r) ||
	    !fxt_parse_take_thread(c, r->provider, fxt_get_profiler_thread(head), &r->thread))
		return too_short;
	switch (r->subtype) {
	case FXT_PROFILER_MODULE:
		fxt_parse_must_be_zero(c, fxt_get_module_reserved(head));
		r->module.id = (uint16_t)fxt_get_module_id(head);
		r->module.build_id_length = (uint8_t)fxt_get_module_build_id_length(head);
		if (!take_bytes_as_text(c, (uint32_t)fxt_get_module_name_length(head), &r->name) ||
		    !fxt_parse_take_stream(c, r->module.build_id_length, &r->module.build_id))
			return too_short;
		return NULL;
	case FXT_PROFILER_MMAP:
		fxt_parse_must_be_zero(c, fxt_get_mmap_reserved(head));
		r->mmap.module_id = (uint16_t)fxt_get_mmap_module_id(head);
		r->mmap.flags = (uint8_t)fxt_get_mmap_flags(head);
		if (!fxt_parse_take_word(c, &r->mmap.start) ||
		    !fxt_parse_take_word(c, &r->mmap.range) ||
		    !fxt_parse_take_word(c, &r->mmap.vaddr))
			return too_short;
		return NULL;
	default:
		fxt_parse_must_be_zero(c, fxt_get_backtrace_reserved(head));
		r->backtrace.n_frames = (unsigned)fxt_get_backtrace_n_frames(head);
		if (!fxt_parse_take_stream(c, (uint64_t)r->backtrace.n_frames * FXT_WORD_BYTES,
					   &bytes))
			return too_short;
		r->backtrace.frames = (const uint64_t *)bytes;
		return NULL;
	}
}

static const char *parse_large(struct cursor *c, struct fxt_record *r, uint64_t head)
{
	uint64_t format;

	r->subtype = (unsigned)fxt_get_large_type(head);
	if (r->subtype != FXT_LARGE_BLOB)
		return pass_unknown(c, r);
	r->subtype = (unsigned)fxt_get_large_blob_format(head);
	if (r->subtype > FXT_LARGE_BLOB_NO_METADATA)
		return pass_unknown(c, r);
	fxt_parse_must_be_zero(c, fxt_get_large_blob_reserved(head));
	if (!fxt_parse_take_word(c, &format) ||
	    !fxt_parse_take_text(c, r->provider, fxt_get_large_blob_category(format),
				 &r->category) ||
	    !fxt_parse_take_text(c, r->provider, fxt_get_large_blob_name(format), &r->name))
		return too_short;
	if (r->subtype == FXT_LARGE_BLOB_METADATA) {
		if (!fxt_parse_take_time(c, r) ||
		    !fxt_parse_take_thread(c, r->provider, fxt_get_large_blob_thread(format),
					   &r->thread))
			return too_short;
		begin_args(c, r, fxt_get_large_blob_n_args(format));
		if (!skip_args(c, r))
			return "the arguments do not fit the record";
		r->args.end = c->p;
	}
	r->blob.blob_type = 0;
	if (!fxt_parse_take_word(c, &r->blob.length) ||
	    !fxt_parse_take_stream(c, r->blob.length, &r->blob.bytes))
		return too_short;
	return NULL;
}

/* (apart, so that the path of scheduling records stays short) */
static __attribute__((noinline)) const char *parse_other(struct cursor *c, struct fxt_record *r,
							 uint64_t head)
{
	r->subtype = 0;
	switch (r->type) {
	case FXT_RECORD_METADATA:
		return parse_metadata(c, r, head);
	case FXT_RECORD_INITIALIZATION:
		return parse_initialization(c, r, head);
	case FXT_RECORD_STRING:
		return parse_string(c, r, head);
	case FXT_RECORD_THREAD:
		return parse_thread(c, r, head);
	case FXT_RECORD_EVENT:
		return parse_event(c, r, head);
	case FXT_RECORD_BLOB:
		return parse_blob(c, r, head);
	case FXT_RECORD_USERSPACE_OBJECT:
		return parse_userspace_object(c, r, head);
	case FXT_RECORD_KERNEL_OBJECT:
		return parse_kernel_object(c, r, head);
	case FXT_RECORD_LOG:
		return parse_log(c, r, head);
	case FXT_RECORD_PROFILER:
		return parse_profiler(c, r, head);
	case FXT_RECORD_LARGE:
		return parse_large(c, r, head);
	default: /* skipped by its size, as the format wants */
		c->odd = true;
		return NULL;
	}
}

const char *fxt_parse_record(struct fxt_record *r, bool *ret_odd)
{
	struct cursor c = { r->words + 1, r->words + r->n_words, false };
	uint64_t head = r->words[0];
	const char *what;

	r->type = (unsigned)fxt_get_record_type(head);
	r->args.n_left = 0;
	if (__builtin_expect(r->type == FXT_RECORD_SCHEDULING, 1))
		what = parse_scheduling(&c, r, head);
	else
		what = parse_other(&c, r, head);
	r->n_behind = (size_t)(c.end - c.p);
	*ret_odd = c.odd | (c.p != c.end);
	return what;
}
