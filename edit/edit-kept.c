/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-kept.h"

#include <errno.h>
#include <string.h>

#include "reader/fxt/fxt-parse.h"
#include "writer/fxt/fxt-writer.h"

struct edit_viewer {
	struct fxt_provider *provider; /* contains the names; other strings belong to the record */
};

struct edit_kept *edit_kept_new(const struct fxt_provider *from, const uint64_t *words,
				size_t n_words)
{
	struct edit_kept *kept = malloc(sizeof(*kept) + n_words * sizeof(*words));

	if (!kept)
		return NULL;
	kept->from = from;
	kept->n_refs = 1;
	kept->n_words = (uint32_t)n_words;
	memcpy(kept->words, words, n_words * sizeof(*words));
	return kept;
}

struct edit_kept *edit_kept_ref(struct edit_kept *kept)
{
	kept->n_refs++;
	return kept;
}

struct edit_kept *edit_kept_unref(struct edit_kept *kept)
{
	if (kept && --kept->n_refs == 0)
		free(kept);
	return NULL;
}

int edit_viewer_new(struct edit_viewer **ret)
{
	_cleanup_(edit_viewer_freep) struct edit_viewer *v = calloc(1, sizeof(*v));
	int r;

	if (!v)
		return -ENOMEM;
	r = fxt_provider_new(&v->provider, 0);
	for (unsigned i = 1; r == 0 && i <= FXT_NAME_RESERVED; i++)
		if (fxt_name_texts[i])
			r = fxt_provider_set_string(v->provider, i, fxt_name_texts[i],
						    (uint32_t)strlen(fxt_name_texts[i]));
	if (r < 0)
		return r;
	*ret = TAKE_PTR(v);
	return 0;
}

/*
 * Returns the string at INDEX. The first page of the table contains all names and all strings of
 * records.
 */
static struct fxt_string *edit_string_at(struct edit_viewer *v, unsigned index)
{
	static_assert((int)FXT_STRING_FIXED_MAX < (int)FXT_PROVIDER_PAGE, "one page");
	return &v->provider->pages[0][index];
}

struct edit_viewer *edit_viewer_free(struct edit_viewer *v)
{
	if (!v)
		return NULL;
	for (unsigned i = EDIT_KEPT_STRING_FIRST;
	     v->provider && v->provider->pages[0] && i <= FXT_STRING_FIXED_MAX; i++)
		*edit_string_at(v, i) = (struct fxt_string){ 0 };
	fxt_provider_free(v->provider);
	return free_ptr(v);
}

/* Reads a string or thread record that precedes the kept record. */
static int edit_kept_learn(struct edit_viewer *v, const struct fxt_record *record)
{
	if (record->type == FXT_RECORD_THREAD) {
		v->provider->threads[record->thread_record.index] = record->thread;
		return 0;
	}
	if (record->type != FXT_RECORD_STRING || record->string.index < EDIT_KEPT_STRING_FIRST ||
	    record->string.index > FXT_STRING_FIXED_MAX)
		return -EBADMSG;
	/*
	 * The text is borrowed. It is stored without a known name, since names of fxt-names.h are
	 * never copied.
	 */
	*edit_string_at(v, record->string.index) =
		(struct fxt_string){ (char *)record->name.bytes, record->name.length, 0 };
	return 0;
}

int edit_viewer_parse(struct edit_viewer *v, const struct edit_kept *kept, struct fxt_record *ret)
{
	const uint64_t *words = kept->words, *end = kept->words + kept->n_words;
	bool odd;

	ret->offset = 0;
	ret->provider = v->provider;
	while (words < end) {
		uint64_t type = fxt_get_record_type(*words);
		bool before = type == FXT_RECORD_STRING || type == FXT_RECORD_THREAD;
		uint64_t n = before ? fxt_get_record_words(*words) : (uint64_t)(end - words);

		if (n == 0 || n > (uint64_t)(end - words))
			return -EBADMSG;
		ret->words = words;
		ret->n_words = n;
		if (fxt_parse_record(ret, &odd))
			return -EBADMSG;
		if (!before)
			return 0;
		if (edit_kept_learn(v, ret) < 0)
			return -EBADMSG;
		words += n;
	}
	return -EBADMSG;
}
