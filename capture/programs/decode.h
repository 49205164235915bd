/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks all bytes that come from the rings, once. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"
#include "model/event.h"
#include "writer/fxt/fxt-wire.h"

/*
 * Returns the record in the SIZE bytes at DATA (8-byte aligned), if its kind is known, its sizes
 * agree and its strings end; otherwise NULL.
 */
const struct rec_head *decode_record(const void *data, size_t size);

/*
 * Like decode_record(), but also returns NULL for kinds that never come through a BPF ring buffer.
 */
const struct rec_head *decode_ring_record(const void *data, size_t size);

/*
 * Returns the number of words of the first record in a word ring with N_WORDS readable words; 0 if
 * the first record is not one that kymo's eBPF programs write for CLASS and CPU.
 */
unsigned decode_ring_words(const uint64_t *words, size_t n_words, enum event_class class,
			   unsigned cpu);

/*
 * The layout of records in word rings. The time is the second word of all records, also of a mark
 * of loss. If a record has an end, that is its last word.
 */
enum { WORD_TS = 1 };
enum { SWITCH_OUT = 2, SWITCH_IN = 3, SWITCH_OUT_WEIGHT = 4, SWITCH_IN_WEIGHT = 5 };
enum { WAKEUP_TID = 2, WAKEUP_WEIGHT = 3, WAKEUP_WAKER = 5, WAKEUP_INTERRUPTED = 7 };
enum { INTERVAL_ARGS = 4 }; /* the position of the arguments, or of the name if it is inline */
enum { MIGRATE_PID = 2, MIGRATE_TID = 3, MIGRATE_FROM_CPU = 4 };

/* Returns true if the record is a scheduling record of TYPE. */
static inline bool decode_is_sched(const uint64_t *words, enum fxt_sched_type type)
{
	return fxt_get_record_type(words[0]) == FXT_RECORD_SCHEDULING &&
	       fxt_get_sched_type(words[0]) == type;
}

/* Returns true if the record is a mark of loss rather than FXT. */
static inline bool decode_is_lost(const uint64_t *words)
{
	return fxt_get_record_type(words[0]) == RING_RECORD_CONTROL;
}

/* Returns the time when a record of CLASS was written. An interval is written at its end. */
static inline uint64_t decode_time(const uint64_t *words, unsigned n_words, enum event_class class)
{
	return words[class == CLASS_SCHED || decode_is_lost(words) ? WORD_TS : n_words - 1];
}
