/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One function for each record type, made from its layout (fxt-layout.h). A record that the format
 * cannot hold is refused; otherwise its parts are written in order.
 *
 * A layout is a list of macros, one for each part. Each layout is expanded twice, with different
 * definitions of these macros:
 *
 *	draft_TYPE()      checks each part, counts its words, and lists strings and threads
 *	put_TYPE()        writes each part, the word HEAD or the next word at P
 *	fxt_write_TYPE()  calls both, and between them registers the listed strings and threads
 *
 * For example, WORD(of, pointer, key) becomes d->n_words++; in draft_TYPE(), and *p++ = s->pointer;
 * in put_TYPE().
 */
#include <errno.h>

#include "writer/fxt/fxt-draft.h"
#include "writer/fxt/fxt-layout.h"

/* The number of bytes of a TEXT whose member is `name` or `text`. */
#define LENGTH_OF_name strlen(s->name)
#define LENGTH_OF_text s->length

#define RESERVED(field)
#define STATE(of, m, field, key) HEAD(of, m, field, key)
#define CPU(of, m, field, key)   HEAD(of, m, field, key)
#define KOID(of, m, key)         WORD(of, m, key)
#define BULK(of, m, n, field)    BYTES(of, m, n, field, )

/* ---- conditions of a part: in draft_TYPE(), with the draft D and the struct S ---- */

#define NEED(condition, error)                                                                     \
	if (!(condition))                                                                          \
		return error;
#define STREAM(n, bytes, field)                                                                    \
	NEED(fxt_fits_##field(n), -EMSGSIZE)                                                       \
	fxt_draft_add_stream(d, bytes);

#define KIND(field)             NEED((unsigned)s->type <= FXT_EVENT_FLOW_END, -EINVAL)
#define HEAD(of, m, field, key) NEED(fxt_fits_##field((fxt_word)s->m), -EINVAL)
#define TIME()                  d->n_words++;
#define THREAD(field)           d->threads[0] = &s->thread;
#define PROCESS(field)                                                                             \
	d->threads[0] = &s->process;                                                               \
	d->process_only = true;
#define REF(m, field, key) d->strings[d->strings[0] != NULL] = &s->m;
#define TEXT(m, field, key)                                                                        \
	NEED(LENGTH_OF_##m <= FXT_STRING_BYTES_MAX, -EMSGSIZE)                                     \
	STREAM(LENGTH_OF_##m, LENGTH_OF_##m, field)
#define BYTES(of, m, n, field, key) STREAM(s->n, s->n, field)
#define WORDS(of, m, n, field, key) STREAM(s->n, s->n *FXT_WORD_BYTES, field)
#define WORD(of, m, key)            d->n_words++;
#define ARGS(field)                                                                                \
	d->args = s->args;                                                                         \
	d->n_args = s->n_args;
#define VALUE()                                                                                    \
	NEED(s->type != FXT_EVENT_DURATION_COMPLETE || s->id >= s->ts_ticks, -EINVAL)              \
	d->n_words += fxt_event_has_value(s->type);

/* The function that checks the parts and counts their words. */
#define X(layout, type, subtype, type_name)                                                        \
	static int draft_##layout(struct fxt_draft *d, const struct fxt_##layout *s)               \
	{                                                                                          \
		FXT_LAYOUT_##layout return 0;                                                      \
	}
FXT_DATA_LAYOUTS(X)
FXT_SCHED_LAYOUTS(X)
#undef X

/* ---- how a part is written: in put_TYPE(), with HEAD and P, too ---- */

#undef KIND
#undef HEAD
#undef TIME
#undef THREAD
#undef PROCESS
#undef REF
#undef TEXT
#undef BYTES
#undef WORDS
#undef WORD
#undef ARGS
#undef VALUE
#define KIND(field)             *head |= fxt_put_##field(s->type);
#define HEAD(of, m, field, key) *head |= fxt_put_##field((fxt_word)s->m);
#define TIME()                  *p++ = s->ts_ticks;
#define THREAD(field)                                                                              \
	*head |= fxt_put_##field(d->thread_refs[0]);                                               \
	p = fxt_draft_thread(d, 0, p);
#define PROCESS(field) THREAD(field)
#define REF(m, field, key)                                                                         \
	*head |= fxt_put_##field(d->string_refs[d->strings[0] != &s->m]);                          \
	p = fxt_draft_string(d, d->strings[0] != &s->m, p);
#define TEXT(m, field, key)                                                                        \
	*head |= fxt_put_##field(LENGTH_OF_##m);                                                   \
	p = fxt_draft_stream(p, s->m, LENGTH_OF_##m);
#define BYTES(of, m, n, field, key)                                                                \
	*head |= fxt_put_##field(s->n);                                                            \
	p = fxt_draft_stream(p, s->m, s->n);
#define WORDS(of, m, n, field, key)                                                                \
	*head |= fxt_put_##field(s->n);                                                            \
	p = fxt_draft_stream(p, s->m, s->n * FXT_WORD_BYTES);
#define WORD(of, m, key) *p++ = s->m;
#define ARGS(field)                                                                                \
	*head |= fxt_put_##field(d->n_args);                                                       \
	p = fxt_draft_args(d, p);
#define VALUE()                                                                                    \
	if (fxt_event_has_value(s->type))                                                          \
		*p = s->id;

/* The function that writes the parts, and the function that callers use. */
#define X(layout, record_type, subtype, type_name)                                                 \
	static void put_##layout(const struct fxt_draft *d, const struct fxt_##layout *s,          \
				 fxt_word *head)                                                   \
	{                                                                                          \
		fxt_word *p = head + 1;                                                            \
                                                                                                   \
		*head = fxt_put_record_type(record_type) | fxt_put_record_words(d->n_words) |      \
			fxt_layout_subtype(record_type, subtype);                                  \
		FXT_LAYOUT_##layout                                                                \
	}                                                                                          \
	int fxt_write_##layout(struct fxt_writer *w, const struct fxt_##layout *s)                 \
	{                                                                                          \
		struct fxt_draft d = { .n_words = 1 };                                             \
		int r = draft_##layout(&d, s);                                                     \
		fxt_word *head = r < 0 ? NULL : fxt_draft_begin(w, &d, &r);                        \
                                                                                                   \
		if (head)                                                                          \
			put_##layout(&d, s, head);                                                 \
		return head ? 0 : r;                                                               \
	}
FXT_DATA_LAYOUTS(X)
FXT_SCHED_LAYOUTS(X)
#undef X

/* ---- records that no layout describes ---- */

int fxt_write_legacy_switch(struct fxt_writer *w, const struct fxt_legacy_switch *sw)
{
	struct fxt_draft d = { .threads = { &sw->out, &sw->in }, .n_words = 2 };
	fxt_word *p;
	int r;

	if (sw->cpu > FXT_LEGACY_CPU_MAX || (unsigned)sw->out_state > FXT_STATE_MAX)
		return -EINVAL;
	p = fxt_draft_begin(w, &d, &r);
	if (!p)
		return r;
	*p++ = fxt_put_record_type(FXT_RECORD_SCHEDULING) | fxt_put_record_words(d.n_words) |
	       fxt_put_legacy_cpu(sw->cpu) | fxt_put_legacy_out_state(sw->out_state) |
	       fxt_put_legacy_out_thread(d.thread_refs[0]) |
	       fxt_put_legacy_in_thread(d.thread_refs[1]) |
	       fxt_put_legacy_out_priority(sw->out_priority) |
	       fxt_put_legacy_in_priority(sw->in_priority) |
	       fxt_put_sched_type(FXT_SCHED_LEGACY_SWITCH);
	*p++ = sw->ts_ticks;
	p = fxt_draft_thread(&d, 0, p);
	fxt_draft_thread(&d, 1, p);
	return 0;
}

static fxt_word *fxt_write_put_metadata(fxt_word *p, const struct fxt_large_blob *blob,
					const struct fxt_draft *d)
{
	*p++ = blob->ts_ticks;
	p = fxt_draft_thread(d, 0, p);
	return fxt_draft_args(d, p);
}

int fxt_write_large_blob(struct fxt_writer *w, const struct fxt_large_blob *blob)
{
	struct fxt_draft d = {
		.strings = { &blob->category, &blob->name },
		.is_large = true,
		.n_words = 3,
	};
	unsigned format = FXT_LARGE_BLOB_NO_METADATA;
	fxt_word *p;
	int r;

	if (blob->has_metadata) {
		format = FXT_LARGE_BLOB_METADATA;
		d.threads[0] = &blob->thread;
		d.args = blob->args;
		d.n_args = blob->n_args;
		d.n_words++;
	}
	fxt_draft_add_stream(&d, blob->size);
	p = fxt_draft_begin(w, &d, &r);
	if (!p)
		return r;
	*p++ = fxt_put_record_type(FXT_RECORD_LARGE) | fxt_put_large_words(d.n_words) |
	       fxt_put_large_type(FXT_LARGE_BLOB) | fxt_put_large_blob_format(format);
	*p++ = fxt_put_large_blob_category(d.string_refs[0]) |
	       fxt_put_large_blob_name(d.string_refs[1]) | fxt_put_large_blob_n_args(d.n_args) |
	       fxt_put_large_blob_thread(d.thread_refs[0]);
	p = fxt_draft_string(&d, 0, p);
	p = fxt_draft_string(&d, 1, p);
	if (blob->has_metadata)
		p = fxt_write_put_metadata(p, blob, &d);
	*p++ = blob->size;
	fxt_draft_stream(p, blob->data, blob->size);
	return 0;
}
