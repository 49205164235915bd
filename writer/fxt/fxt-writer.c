/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The frame of an archive: providers, their metadata, and strings at fixed indices.
 */
#include "writer/fxt/fxt-writer.h"

#include <errno.h>

#include "base/cleanup.h"

enum { NANOSECOND_TICKS = 1000000000 };

const char *const fxt_name_texts[FXT_NAME_RESERVED + 1] = {
#define X(id, index, text) [index] = text,
	FXT_NAMES(X)
#undef X
};

int fxt_out_provider_init(struct fxt_out_provider *p, uint32_t id)
{
	int r;

	*p = (struct fxt_out_provider){ .id = id };
	r = fxt_table_init(&p->strings, FXT_STRING_FIXED_MAX + 1, FXT_STRING_INDEX_MAX)
		    ?: fxt_table_init(&p->threads, 1, FXT_THREAD_INDEX_MAX);
	if (r < 0)
		fxt_out_provider_deinit(p);
	return r;
}

void fxt_out_provider_deinit(struct fxt_out_provider *p)
{
	fxt_table_deinit(&p->strings);
	fxt_table_deinit(&p->threads);
}

int fxt_out_provider_forget(struct fxt_out_provider *p)
{
	struct fxt_out_provider fresh;
	int r;

	if (p->strings.n_used == 0 && p->threads.n_used == 0)
		return 0;
	r = fxt_out_provider_init(&fresh, p->id);
	if (r < 0)
		return r;
	fxt_table_deinit(&p->strings);
	fxt_table_deinit(&p->threads);
	p->strings = fresh.strings;
	p->threads = fresh.threads;
	return 0;
}

static fxt_word *fxt_writer_reserve(struct fxt_writer *w, size_t words, int *reterr)
{
	fxt_word *p = outbuf_reserve(w->out, words * FXT_WORD_BYTES);

	if (!p)
		*reterr = w->out->error;
	return p;
}

static int fxt_write_word(struct fxt_writer *w, fxt_word word)
{
	return outbuf_append(w->out, &word, sizeof(word));
}

/* ---- metadata ---- */

int fxt_write_magic(struct fxt_writer *w)
{
	return fxt_write_word(w, FXT_MAGIC);
}

int fxt_write_provider_info(struct fxt_writer *w, struct fxt_out_provider *p, const char *name)
{
	size_t n = strlen(name), words = 1 + fxt_stream_words(n);
	fxt_word *record;
	int r;

	if (n > FXT_PROVIDER_NAME_MAX)
		return -EMSGSIZE;
	/* If a provider is introduced again, readers discard its tables, so P's are emptied,
	 * too. */
	r = fxt_out_provider_forget(p);
	if (r < 0)
		return w->out->error = r;
	memset(p->registered, 0, sizeof(p->registered));
	record = fxt_writer_reserve(w, words, &r);
	if (!record)
		return r;
	*record = fxt_put_record_type(FXT_RECORD_METADATA) | fxt_put_record_words(words) |
		  fxt_put_metadata_type(FXT_METADATA_PROVIDER_INFO) | fxt_put_provider_id(p->id) |
		  fxt_put_provider_name_length(n);
	memcpy(record + 1, name, n);
	p->introduced = true;
	w->provider = p;
	return 0;
}

int fxt_write_section(struct fxt_writer *w, struct fxt_out_provider *p)
{
	int r;

	if (!p->introduced)
		return -EINVAL;
	r = fxt_write_word(w, fxt_put_record_type(FXT_RECORD_METADATA) | fxt_put_record_words(1) |
				      fxt_put_metadata_type(FXT_METADATA_PROVIDER_SECTION) |
				      fxt_put_provider_id(p->id));
	if (r == 0)
		w->provider = p;
	return r;
}

int fxt_write_provider_event(struct fxt_writer *w, unsigned event_id)
{
	if (!w->provider || event_id > FXT_PROVIDER_EVENT_MAX)
		return -EINVAL;
	return fxt_write_word(w, fxt_put_record_type(FXT_RECORD_METADATA) |
					 fxt_put_record_words(1) |
					 fxt_put_metadata_type(FXT_METADATA_PROVIDER_EVENT) |
					 fxt_put_provider_id(w->provider->id) |
					 fxt_put_provider_event_id(event_id));
}

int fxt_write_initialization(struct fxt_writer *w, uint64_t ticks_per_second)
{
	fxt_word *p;
	int r;

	if (ticks_per_second == 0)
		return -EINVAL;
	p = fxt_writer_reserve(w, 2, &r);
	if (!p)
		return r;
	p[0] = fxt_put_record_type(FXT_RECORD_INITIALIZATION) | fxt_put_record_words(2);
	p[1] = ticks_per_second;
	return 0;
}

/* ---- strings at fixed indices ---- */

int fxt_write_string(struct fxt_writer *w, unsigned index, const char *text, size_t n)
{
	fxt_word *p;
	int r;

	if (!w->provider || index == 0 || index > FXT_STRING_FIXED_MAX)
		return -EINVAL;
	if (n > FXT_STRING_BYTES_MAX)
		return -EMSGSIZE;
	p = fxt_writer_reserve(w, 1 + fxt_stream_words(n), &r);
	if (!p)
		return r;
	*p = fxt_string_header(index, n);
	if (n > 0)
		memcpy(p + 1, text, n);
	w->provider->registered[index / 64] |= UINT64_C(1) << index % 64;
	return 0;
}

int fxt_write_names(struct fxt_writer *w)
{
	int r = 0;

	for (unsigned i = 1; r == 0 && i <= FXT_NAME_RESERVED; i++)
		if (fxt_name_texts[i])
			r = fxt_write_string(w, i, fxt_name_texts[i], strlen(fxt_name_texts[i]));
	return r;
}

int fxt_write_head(struct fxt_writer *w, struct fxt_out_provider *p, const char *name)
{
	if (strlen(name) > FXT_PROVIDER_NAME_MAX)
		return -EMSGSIZE;
	return fxt_write_magic(w)
		       ?: fxt_write_provider_info(w, p, name)
		       ?: fxt_write_section(w, p)
		       ?: fxt_write_initialization(w, NANOSECOND_TICKS)
		       ?: fxt_write_names(w);
}

/* ---- whole records ---- */

size_t fxt_whole_records(const uint8_t *data, size_t n)
{
	size_t whole = 0;
	uint64_t words;
	fxt_word header;

	while (n - whole >= sizeof(header)) {
		memcpy(&header, data + whole, sizeof(header));
		words = fxt_get_record_type(header) == FXT_RECORD_LARGE
				? fxt_get_large_words(header)
				: fxt_get_record_words(header);
		/* A header with a size of 0 words is damage: stop counting there. */
		if (words == 0 || words > (n - whole) / FXT_WORD_BYTES)
			break;
		whole += words * FXT_WORD_BYTES;
	}
	return whole;
}
