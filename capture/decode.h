/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The border between rings and the rest: bytes are checked here, once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"
#include "writer/fxt/fxt-wire.h"

/*
 * The record in the SIZE bytes at DATA (8-byte aligned), if its kind is known, its sizes agree and
 * its strings end; else NULL.
 */
const struct rec_head *decode_record(const void *data, size_t size);

/*
 * How many words the record at the front of a word ring has, N_WORDS of which are readable; 0 if
 * that is not a record which our programs write for CPU.
 */
unsigned decode_ring_words(const uint64_t *words, size_t n_words, unsigned cpu);

/* Whether the record is a mark of loss rather than FXT. */
static inline bool decode_is_lost(const uint64_t *words)
{
	return fxt_get_record_type(words[0]) == RING_RECORD_CONTROL;
}
