/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What writers have written, word by word.
 */
#pragma once

#include <stdint.h>

#include "base/outbuf.h"

/* Fails the test if all that is in OUT is not the N words at WANT; empties it. */
void assert_words_are(struct outbuf *out, const uint64_t *want, size_t n);
