/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Archives of the records in fxt-golden.h and of words that a test puts between them, and what
 * reads them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "reader/fxt/fxt-reader.h"
#include "tests/support/fxt-golden.h"

/* At the end of the archive: the record WHICH, and N words. */
void golden_put(struct outbuf *b, enum golden which);
void golden_put_words(struct outbuf *b, size_t n, const uint64_t *words);

#define PUT_WORDS(b, ...)                                                                          \
	golden_put_words((b), sizeof((uint64_t[]){ __VA_ARGS__ }) / 8, (uint64_t[]){ __VA_ARGS__ })

/* The caller frees it; the archive is borrowed. */
struct fxt_reader *golden_reader(const struct outbuf *b);

/* Reads to record WHICH of an archive that begins with the golden ones. */
const struct fxt_record *golden_read_to(struct fxt_reader *r, enum golden which);

void golden_assert_text(const struct fxt_text *t, const char *expected);

/* All of the records, for cmocka: *state is a struct golden_archive. */
struct golden_archive {
	struct outbuf archive;
	struct fxt_reader *reader;
};

int golden_set_up(void **state);
int golden_tear_down(void **state);
