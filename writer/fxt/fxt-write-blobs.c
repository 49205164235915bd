/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bulk data: BLOB and large BLOB records.
 */
#include <errno.h>

#include "writer/fxt/fxt-draft.h"

int fxt_write_blob(struct fxt_writer *w, const struct fxt_blob *blob)
{
	struct fxt_draft d = { .strings = { &blob->name }, .n_words = 1 };
	fxt_word *p;
	int r;

	if (blob->size > FXT_BLOB_BYTES_MAX)
		return -EMSGSIZE;
	if ((unsigned)blob->type > FXT_BLOB_TYPE_MAX)
		return -EINVAL;
	fxt_draft_add_stream(&d, blob->size);
	p = fxt_draft_begin(w, &d, &r);
	if (!p)
		return r;
	*p++ = fxt_put_record_type(FXT_RECORD_BLOB) | fxt_put_record_words(d.n_words) |
	       fxt_put_blob_name(d.string_refs[0]) | fxt_put_blob_length(blob->size) |
	       fxt_put_blob_type(blob->type);
	p = fxt_draft_string(&d, 0, p);
	fxt_draft_stream(p, blob->data, blob->size);
	return 0;
}

static fxt_word *put_metadata(fxt_word *p, const struct fxt_large_blob *blob,
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
		p = put_metadata(p, blob, &d);
	*p++ = blob->size;
	fxt_draft_stream(p, blob->data, blob->size);
	return 0;
}
