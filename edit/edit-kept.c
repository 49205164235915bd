/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-kept.h"

#include <string.h>

#include "reader/fxt/fxt-parse.h"

struct edit_kept *edit_keep(const struct fxt_provider *from, const uint64_t *words, size_t n_words)
{
	struct edit_kept *kept = malloc(sizeof(*kept) + n_words * sizeof(*words));

	if (!kept)
		return NULL;
	kept->from = from;
	kept->n_words = (uint32_t)n_words;
	memcpy(kept->words, words, n_words * sizeof(*words));
	return kept;
}

void edit_kept_view(const struct edit_kept *kept, const struct fxt_provider *nobody,
		    struct fxt_record *ret)
{
	ret->words = kept->words;
	ret->n_words = kept->n_words;
	ret->offset = 0;
	ret->provider = nobody;
	/* Our own writer has made it: it can be taken apart. */
	bool odd;

	if (fxt_parse_record(ret, &odd))
		abort();
}
