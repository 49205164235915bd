/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/fxt/fxt-draft.h"

#include <errno.h>

/* ---- checks ---- */

/* Checks S, and adds the number of words that it needs in the record to *WORDS. */
static int fxt_draft_check_string(const struct fxt_out_provider *p, const struct fxt_out_string *s,
				  uint64_t *words)
{
	if (s->index > FXT_STRING_FIXED_MAX)
		return -EINVAL;
	if (s->index > 0)
		return p->registered[s->index / 64] >> s->index % 64 & 1 ? 0 : -EINVAL;
	if (s->length > FXT_STRING_BYTES_MAX)
		return -EMSGSIZE;
	if (s->is_inline)
		*words += fxt_stream_words(s->length);
	return 0;
}

/* Checks ARG, and adds the number of words that it needs to *WORDS. */
static int fxt_draft_check_arg(const struct fxt_out_provider *p, const struct fxt_out_arg *arg,
			       uint64_t *words)
{
	uint64_t own = 1;
	int r = fxt_draft_check_string(p, &arg->name, &own);

	if (r < 0)
		return r;
	switch (arg->type) {
	case FXT_ARG_NULL:
	case FXT_ARG_INT32:
	case FXT_ARG_UINT32:
	case FXT_ARG_BOOL:
		break;
	case FXT_ARG_INT64:
	case FXT_ARG_UINT64:
	case FXT_ARG_DOUBLE:
	case FXT_ARG_POINTER:
	case FXT_ARG_KOID:
		own++;
		break;
	case FXT_ARG_STRING:
		r = fxt_draft_check_string(p, &arg->text, &own);
		break;
	case FXT_ARG_BLOB:
		if (arg->blob.size > (size_t)FXT_RECORD_WORDS_MAX * FXT_WORD_BYTES)
			return -EMSGSIZE;
		own += fxt_stream_words(arg->blob.size);
		break;
	default:
		return -EINVAL;
	}
	*words += own;
	return r < 0 ? r : own > FXT_RECORD_WORDS_MAX ? -EMSGSIZE : 0;
}

static int fxt_draft_check(const struct fxt_out_provider *p, struct fxt_draft *d)
{
	uint64_t max = d->is_large ? FXT_LARGE_WORDS_MAX : FXT_RECORD_WORDS_MAX;
	int r = 0;

	if (!p || d->n_args > FXT_ARGS_MAX)
		return -EINVAL;
	for (unsigned i = 0; i < FXT_DRAFT_REFS; i++) {
		if (d->threads[i] && d->threads[i]->is_inline)
			d->n_words += d->process_only ? 1 : 2;
		if (d->strings[i])
			r = fxt_draft_check_string(p, d->strings[i], &d->n_words);
		if (r < 0)
			return r;
	}
	for (unsigned i = 0; i < d->n_args; i++) {
		r = fxt_draft_check_arg(p, &d->args[i], &d->n_words);
		if (r < 0)
			return r;
	}
	return d->n_words > max ? -EMSGSIZE : 0;
}

/* ---- references ---- */

static fxt_word *fxt_draft_reserve(struct fxt_writer *w, uint64_t words, int *reterr)
{
	fxt_word *p = outbuf_reserve(w->out, words * FXT_WORD_BYTES);

	if (!p)
		*reterr = w->out->error;
	return p;
}

static int fxt_draft_resolve_string(struct fxt_writer *w, const struct fxt_out_string *s,
				    uint16_t *ret_ref)
{
	fxt_word *p;
	int r;

	if (s->index > 0 || s->length == 0) {
		*ret_ref = (uint16_t)s->index;
		return 0;
	}
	if (s->is_inline) {
		*ret_ref = (uint16_t)(fxt_put_string_ref_inline(1) |
				      fxt_put_string_ref_length(s->length));
		return 0;
	}
	r = fxt_table_string(&w->provider->strings, s->text, s->length, ret_ref);
	if (r < 0)
		return w->out->error = r;
	if (r == FXT_TABLE_KNOWN)
		return 0;
	p = fxt_draft_reserve(w, 1 + fxt_stream_words(s->length), &r);
	if (!p)
		return r;
	*p = fxt_string_header(*ret_ref, s->length);
	fxt_draft_stream(p + 1, s->text, s->length);
	return 0;
}

static int fxt_draft_resolve_thread(struct fxt_writer *w, const struct fxt_out_thread *t,
				    uint16_t *ret_ref)
{
	fxt_word *p;
	int r;

	*ret_ref = 0;
	if (t->is_inline)
		return 0;
	r = fxt_table_thread(&w->provider->threads, t->pid, t->tid, ret_ref);
	if (r < 0)
		return w->out->error = r;
	if (r == FXT_TABLE_KNOWN)
		return 0;
	p = fxt_draft_reserve(w, 3, &r);
	if (!p)
		return r;
	p[0] = fxt_put_record_type(FXT_RECORD_THREAD) | fxt_put_record_words(3) |
	       fxt_put_thread_index(*ret_ref);
	p[1] = t->pid;
	p[2] = t->tid;
	return 0;
}

static int fxt_draft_resolve(struct fxt_writer *w, struct fxt_draft *d)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < FXT_DRAFT_REFS; i++) {
		if (d->threads[i])
			r = fxt_draft_resolve_thread(w, d->threads[i], &d->thread_refs[i]);
		if (r == 0 && d->strings[i])
			r = fxt_draft_resolve_string(w, d->strings[i], &d->string_refs[i]);
	}
	for (unsigned i = 0; r == 0 && i < d->n_args; i++) {
		r = fxt_draft_resolve_string(w, &d->args[i].name, &d->arg_refs[i][0]);
		if (r == 0 && d->args[i].type == FXT_ARG_STRING)
			r = fxt_draft_resolve_string(w, &d->args[i].text, &d->arg_refs[i][1]);
	}
	return r;
}

fxt_word *fxt_draft_begin(struct fxt_writer *w, struct fxt_draft *d, int *reterr)
{
	int r = fxt_draft_check(w->provider, d) ?: fxt_draft_resolve(w, d);

	if (r < 0) {
		*reterr = r;
		return NULL;
	}
	return fxt_draft_reserve(w, d->n_words, reterr);
}

/* ---- output ---- */

fxt_word *fxt_draft_thread(const struct fxt_draft *d, unsigned i, fxt_word *p)
{
	if (!d->threads[i]->is_inline)
		return p;
	*p++ = d->threads[i]->pid;
	if (!d->process_only)
		*p++ = d->threads[i]->tid;
	return p;
}

static fxt_word *fxt_draft_put_string(fxt_word *p, uint16_t ref, const struct fxt_out_string *s)
{
	return fxt_get_string_ref_inline(ref) ? fxt_draft_stream(p, s->text, s->length) : p;
}

fxt_word *fxt_draft_string(const struct fxt_draft *d, unsigned i, fxt_word *p)
{
	return fxt_draft_put_string(p, d->string_refs[i], d->strings[i]);
}

static fxt_word *fxt_draft_put_arg(fxt_word *header, const struct fxt_out_arg *arg,
				   const uint16_t refs[2])
{
	fxt_word *p = fxt_draft_put_string(header + 1, refs[0], &arg->name), value = 0;

	switch (arg->type) {
	case FXT_ARG_NULL:
		break;
	case FXT_ARG_INT32:
	case FXT_ARG_UINT32:
		value = fxt_put_arg_value32(arg->u32);
		break;
	case FXT_ARG_BOOL:
		value = fxt_put_arg_value32(arg->boolean);
		break;
	case FXT_ARG_STRING:
		value = fxt_put_arg_value_ref(refs[1]);
		p = fxt_draft_put_string(p, refs[1], &arg->text);
		break;
	case FXT_ARG_BLOB:
		value = fxt_put_arg_value32(arg->blob.size);
		p = fxt_draft_stream(p, arg->blob.data, arg->blob.size);
		break;
	default:
		memcpy(p++, &arg->u64, sizeof(arg->u64));
	}
	*header = fxt_put_arg_type(arg->type) | fxt_put_arg_words((fxt_word)(p - header)) |
		  fxt_put_arg_name(refs[0]) | value;
	return p;
}

fxt_word *fxt_draft_args(const struct fxt_draft *d, fxt_word *p)
{
	for (unsigned i = 0; i < d->n_args; i++)
		p = fxt_draft_put_arg(p, &d->args[i], d->arg_refs[i]);
	return p;
}
