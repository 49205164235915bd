/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Examines the parts of a record in order: words, streams, references, arguments. The reader
 * (fxt-parse.c) works differently: it must be fast, and only needs to know that all parts are
 * inside the record.
 */
#include "reader/fxt/fxt-shape.h"

#include "writer/fxt/fxt-layout.h"

/* The maximum number of bytes of a text that are examined, so that the time is bounded. Garbage
 * shows itself before. */
enum { TEXT_CHECKED_MAX = 64 };

struct walk {
	const uint8_t *p;
	uint64_t left; /* number of remaining words */
	bool swap;
	uint64_t *to; /* destination of a copy; NULL = no copy */
	struct fxt_shape *shape;
};

static bool fxt_shape_read_word(struct walk *w, uint64_t *ret)
{
	if (w->left == 0)
		return false;
	*ret = fxt_load_word(w->p, w->swap);
	if (w->to)
		*w->to++ = *ret;
	w->p += FXT_WORD_BYTES;
	w->left--;
	return true;
}

static bool fxt_shape_read_words(struct walk *w, uint64_t n)
{
	uint64_t there = n < w->left ? n : w->left, word;

	for (uint64_t i = 0; w->to && i < there; i++)
		fxt_shape_read_word(w, &word);
	if (!w->to) {
		w->p += there * FXT_WORD_BYTES;
		w->left -= there;
	}
	return there == n;
}

static uint64_t fxt_shape_stream_words(uint64_t n)
{
	return n / FXT_WORD_BYTES + (n % FXT_WORD_BYTES != 0);
}

static bool fxt_shape_read_stream(struct walk *w, uint64_t n_bytes)
{
	uint64_t words = fxt_shape_stream_words(n_bytes);

	if (words > w->left)
		return false;
	if (w->to) {
		memcpy(w->to, w->p, words * FXT_WORD_BYTES);
		w->to += words;
	}
	w->p += words * FXT_WORD_BYTES;
	w->left -= words;
	return true;
}

static bool fxt_is_text(uint8_t c)
{
	return c == '\t' || c == '\n' || (c >= 0x20 && c != 0x7f && c < 0xf5);
}

static bool fxt_shape_read_text(struct walk *w, uint64_t n_bytes)
{
	uint64_t n_checked = n_bytes < TEXT_CHECKED_MAX ? n_bytes : TEXT_CHECKED_MAX;
	const uint8_t *p = w->p;

	if (!fxt_shape_read_stream(w, n_bytes))
		return false;
	for (uint64_t i = 0; i < n_checked; i++)
		if (!fxt_is_text(p[i]))
			w->shape->odd_text = true;
	for (uint64_t i = n_bytes; i % FXT_WORD_BYTES != 0; i++)
		if (p[i] != 0)
			w->shape->odd_text = true;
	w->shape->clean_bytes += (uint32_t)n_checked;
	return true;
}

static bool fxt_shape_read_text_ref(struct walk *w, uint64_t ref)
{
	struct fxt_shape *s = w->shape;

	if (fxt_get_string_ref_inline(ref))
		return fxt_shape_read_text(w, fxt_get_string_ref_length(ref));
	if (ref != 0 && s->n_refs < FXT_SHAPE_REFS_MAX)
		s->refs[s->n_refs++] = (uint16_t)ref;
	return true;
}

static bool fxt_shape_read_thread(struct walk *w, uint64_t ref)
{
	struct fxt_shape *s = w->shape;

	if (ref == 0)
		return fxt_shape_read_words(w, 2);
	if (s->n_threads < FXT_SHAPE_THREADS_MAX)
		s->threads[s->n_threads++] = (uint8_t)ref;
	return true;
}

static bool fxt_shape_read_time(struct walk *w)
{
	w->shape->timed = true;
	return fxt_shape_read_word(w, &w->shape->ticks);
}

static void fxt_shape_must_be_zero(struct walk *w, uint64_t bits)
{
	if (bits != 0)
		w->shape->flawed = true;
}

/* Consumes an argument after its header HEAD. Returns false if it does not fit. */
static bool fxt_shape_read_arg(struct walk *w, uint64_t head)
{
	if (!fxt_shape_read_text_ref(w, fxt_get_arg_name(head)))
		return false;
	switch (fxt_get_arg_type(head)) {
	case FXT_ARG_NULL:
		fxt_shape_must_be_zero(w, fxt_get_arg_reserved(head));
		return true;
	case FXT_ARG_INT32:
	case FXT_ARG_UINT32:
		return true;
	case FXT_ARG_BOOL:
		fxt_shape_must_be_zero(w, fxt_get_arg_value32(head) >> 1);
		return true;
	case FXT_ARG_INT64:
	case FXT_ARG_UINT64:
	case FXT_ARG_DOUBLE:
	case FXT_ARG_POINTER:
	case FXT_ARG_KOID:
		fxt_shape_must_be_zero(w, fxt_get_arg_reserved(head));
		return fxt_shape_read_words(w, 1);
	case FXT_ARG_STRING:
		fxt_shape_must_be_zero(w, fxt_get_arg_string_reserved(head));
		return fxt_shape_read_text_ref(w, fxt_get_arg_value_ref(head));
	case FXT_ARG_BLOB:
		return fxt_shape_read_stream(w, fxt_get_arg_value32(head));
	default:
		return false;
	}
}

static bool fxt_shape_read_args(struct walk *w, uint64_t n)
{
	while (n-- > 0) {
		uint64_t head, words, rest;

		if (!fxt_shape_read_word(w, &head))
			return false;
		words = fxt_get_arg_words(head);
		if (words == 0 || words - 1 > w->left)
			return false;
		rest = w->left - (words - 1);
		w->left = words - 1;
		if (!fxt_shape_read_arg(w, head) || w->left > 0)
			w->shape->flawed = true;
		fxt_shape_read_words(w, w->left);
		w->left = rest;
	}
	return true;
}

static bool fxt_shape_unknown(struct walk *w)
{
	w->shape->unknown = true;
	return false;
}

static bool fxt_shape_read_event_args(struct walk *w, uint64_t head)
{
	unsigned type = (unsigned)fxt_get_event_type(head);

	if (!fxt_shape_read_args(w, fxt_get_event_n_args(head)))
		return false;
	if (type > FXT_EVENT_FLOW_END)
		return fxt_shape_unknown(w);
	return !fxt_event_has_value(type) || fxt_shape_read_words(w, 1);
}

/* ---- by hand ---- */

/* Consumes a scheduling record that has no layout: a legacy switch, or an unknown one. */
static bool fxt_walk_scheduling(struct walk *w, uint64_t head)
{
	if (!fxt_shape_read_time(w))
		return false;
	if (fxt_get_sched_type(head) != FXT_SCHED_LEGACY_SWITCH)
		return fxt_shape_unknown(w);
	return fxt_shape_read_thread(w, fxt_get_legacy_out_thread(head)) &&
	       fxt_shape_read_thread(w, fxt_get_legacy_in_thread(head));
}

static bool fxt_walk_large(struct walk *w, uint64_t head)
{
	uint64_t format, length;

	if (fxt_get_large_type(head) != FXT_LARGE_BLOB)
		return fxt_shape_unknown(w);
	if (!fxt_shape_read_word(w, &format))
		return false;
	fxt_shape_must_be_zero(w, fxt_get_large_blob_reserved(head));
	if (!fxt_shape_read_text_ref(w, fxt_get_large_blob_category(format)) ||
	    !fxt_shape_read_text_ref(w, fxt_get_large_blob_name(format)))
		return false;
	switch (fxt_get_large_blob_format(head)) {
	case FXT_LARGE_BLOB_METADATA:
		fxt_shape_must_be_zero(w, fxt_get_large_blob_header_reserved(format));
		if (!fxt_shape_read_time(w) ||
		    !fxt_shape_read_thread(w, fxt_get_large_blob_thread(format)) ||
		    !fxt_shape_read_args(w, fxt_get_large_blob_n_args(format)))
			return false;
		break;
	case FXT_LARGE_BLOB_NO_METADATA:
		fxt_shape_must_be_zero(w, fxt_get_large_blob_bare_reserved(format));
		break;
	default:
		return fxt_shape_unknown(w);
	}
	if (!fxt_shape_read_word(w, &length))
		return false;
	if (w->to)
		return fxt_shape_read_stream(w, length);
	w->shape->words = fxt_shape_stream_words(length); /* counted without being examined */
	return true;
}

static bool fxt_walk_unlisted(struct walk *w, uint64_t head)
{
	switch (fxt_get_record_type(head)) {
	case FXT_RECORD_SCHEDULING:
		return fxt_walk_scheduling(w, head);
	case FXT_RECORD_LARGE:
		return fxt_walk_large(w, head);
	default:
		if (fxt_layout_key(head) !=
		    FXT_LAYOUT_KEY(FXT_RECORD_METADATA, FXT_METADATA_TRACE_INFO))
			return fxt_shape_unknown(w);
		fxt_shape_must_be_zero(w, head ^ FXT_MAGIC);
		return true;
	}
}

/* ---- by layouts ---- */

#define NEED(condition)                                                                            \
	if (!(condition))                                                                          \
		return false;
#define RESERVED(field) fxt_shape_must_be_zero(w, fxt_get_##field(head));
#define KIND(field)
#define HEAD(of, m, field, key)
#define STATE(of, m, field, key)
#define CPU(of, m, field, key)
#define TIME()                      NEED(fxt_shape_read_time(w))
#define THREAD(field)               NEED(fxt_shape_read_thread(w, fxt_get_##field(head)))
#define PROCESS(field)              NEED(fxt_shape_read_words(w, fxt_get_##field(head) == 0))
#define IDS()                       NEED(fxt_shape_read_words(w, 2))
#define REF(m, field, key)          NEED(fxt_shape_read_text_ref(w, fxt_get_##field(head)))
#define TEXT(m, field, key)         NEED(fxt_shape_read_text(w, fxt_get_##field(head)))
#define BYTES(of, m, n, field, key) NEED(fxt_shape_read_stream(w, fxt_get_##field(head)))
#define BULK(of, m, n, field)       BYTES(of, m, n, field, )
#define WORDS(of, m, n, field, key) NEED(fxt_shape_read_words(w, fxt_get_##field(head)))
#define WORD(of, m, key)            NEED(fxt_shape_read_word(w, &w->shape->value))
#define KOID(of, m, key)            WORD(of, m, key)
#define VALUE()                     /* consumed with the arguments */
#define ARGS(field)                                                                                \
	return fxt_get_record_type(head) == FXT_RECORD_EVENT                                       \
		       ? fxt_shape_read_event_args(w, head)                                        \
		       : fxt_shape_read_args(w, fxt_get_##field(head));

/* Examines a record by its type. Returns false if the record is too short. */
static bool fxt_walk_record(struct walk *w, uint64_t head)
{
	switch (fxt_layout_key(head)) {
#define X(layout, type, subtype, type_name)                                                        \
	case FXT_LAYOUT_KEY(type, subtype):                                                        \
		FXT_LAYOUT_##layout return true;
		FXT_LAYOUTS(X)
#undef X
	default:
		return fxt_walk_unlisted(w, head);
	}
}

/* The reserved bits of a record, by its layout. */
#undef RESERVED
#undef NEED
#undef ARGS
#define RESERVED(field) | fxt_get_##field(head)
#define NEED(condition)
#define ARGS(field)

uint64_t fxt_reserved_bits(uint64_t head)
{
	switch (fxt_layout_key(head)) {
#define X(layout, type, subtype, type_name)                                                        \
	case FXT_LAYOUT_KEY(type, subtype):                                                        \
		return 0 FXT_LAYOUT_##layout;
		FXT_LAYOUTS(X)
#undef X
	case FXT_LAYOUT_KEY(FXT_RECORD_LARGE, 0):
		return fxt_get_large_blob_reserved(head);
	default:
		return 0;
	}
}

/* Returns true if a record of the type of HEAD can have the size that it claims. */
static bool fxt_fits_words(uint64_t head)
{
	uint64_t words = fxt_claimed_words(head);

	switch (fxt_get_record_type(head)) {
	case FXT_RECORD_METADATA:
		switch (fxt_get_metadata_type(head)) {
		case FXT_METADATA_PROVIDER_INFO:
			return words ==
			       1 + fxt_shape_stream_words(fxt_get_provider_name_length(head));
		case FXT_METADATA_PROVIDER_SECTION:
		case FXT_METADATA_PROVIDER_EVENT:
			return words == 1;
		default:
			return head == FXT_MAGIC;
		}
	case FXT_RECORD_INITIALIZATION:
	case FXT_RECORD_USERSPACE_OBJECT:
	case FXT_RECORD_KERNEL_OBJECT:
	case FXT_RECORD_LOG:
		return words >= 2;
	case FXT_RECORD_STRING:
		return words == 1 + fxt_shape_stream_words(fxt_get_string_length(head));
	case FXT_RECORD_THREAD:
		return words == 3;
	case FXT_RECORD_EVENT:
		return fxt_get_event_type(head) <= FXT_EVENT_FLOW_END &&
		       words >= 2 + fxt_get_event_n_args(head);
	case FXT_RECORD_BLOB:
		return words >= 1 + fxt_shape_stream_words(fxt_get_blob_length(head));
	case FXT_RECORD_SCHEDULING:
		switch (fxt_get_sched_type(head)) {
		case FXT_SCHED_SWITCH:
			return words >= 4;
		case FXT_SCHED_WAKEUP:
			return words >= 3;
		case FXT_SCHED_LEGACY_SWITCH:
			return words == 2 || words == 4 || words == 6;
		default:
			return false;
		}
	case FXT_RECORD_PROFILER:
		return fxt_get_profiler_type(head) <= FXT_PROFILER_BACKTRACE && words >= 2;
	case FXT_RECORD_LARGE:
		return fxt_get_large_type(head) == FXT_LARGE_BLOB &&
		       fxt_get_large_blob_format(head) <= FXT_LARGE_BLOB_NO_METADATA && words >= 3;
	default:
		return false;
	}
}

bool fxt_shape_begins(uint64_t head)
{
	/* The size is checked first, since that rejects most words that are not headers. */
	return fxt_fits_words(head) &&
	       (fxt_get_record_type(head) == FXT_RECORD_PROFILER || fxt_reserved_bits(head) == 0);
}

void fxt_shape_of(const uint8_t *p, uint64_t available, bool swap, struct fxt_shape *ret)
{
	struct walk w = { .p = p, .left = available, .swap = swap, .shape = ret };

	ret->words = 0;
	ret->unknown = ret->flawed = ret->timed = ret->odd_text = false;
	ret->ticks = ret->value = 0;
	ret->clean_bytes = 0;
	ret->n_refs = ret->n_threads = 0;
	fxt_shape_read_word(&w, &ret->head);
	ret->claimed = fxt_claimed_words(ret->head);
	if (fxt_walk_record(&w, ret->head))
		ret->words += available - w.left;
	else
		ret->flawed = true;
}

void fxt_shape_copy(const uint8_t *p, uint64_t n_words, bool swap, uint64_t *to)
{
	struct fxt_shape shape = { 0 };
	struct walk w = { .p = p, .left = n_words, .swap = swap, .to = to, .shape = &shape };
	uint64_t head;

	if (!swap) {
		memcpy(to, p, n_words * FXT_WORD_BYTES);
		return;
	}
	/* The remaining bytes are treated as words, since nothing else is known about them. */
	if (fxt_shape_read_word(&w, &head))
		fxt_walk_record(&w, head);
	fxt_shape_read_words(&w, w.left);
}
