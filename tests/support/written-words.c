/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/written-words.h"

#include "tests/support/unit.h"

void assert_words_are(struct outbuf *out, const uint64_t *want, size_t n)
{
	const uint64_t *is = (const uint64_t *)out->data;

	assert_int_equal(out->error, 0);
	for (size_t i = 0; i < n && i < out->size / 8; i++)
		if (is[i] != want[i])
			fail_msg("word %zu is %#018lx and has to be %#018lx", i, is[i], want[i]);
	assert_int_equal(out->size, 8 * n);
	outbuf_reset(out);
}
