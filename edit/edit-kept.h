/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record that is kept for later: a copy that stands for itself, without tables (edit-copy.h,
 * all_inline), and with times in nanoseconds.
 */
#pragma once

#include "base/cleanup.h"
#include "reader/fxt/fxt-reader.h"

struct edit_kept {
	const struct fxt_provider *from; /* the provider of the source that it is of; borrowed */
	uint32_t n_words;
	uint64_t words[];
};

/* A copy of the N_WORDS words of such a record; the caller's, free() it. NULL without memory. */
struct edit_kept *edit_keep(const struct fxt_provider *from, const uint64_t *words, size_t n_words);

/*
 * A view of KEPT, which holds as long as it. Its provider is NOBODY: one that knows no string
 * and no thread, whose ticks are nanoseconds.
 */
void edit_kept_view(const struct edit_kept *kept, const struct fxt_provider *nobody,
		    struct fxt_record *ret);
