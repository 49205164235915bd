/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rings of a collector in plain memory, which a test fills instead of the programs. Linked
 * instead of capture/programs/collector.c.
 */
#pragma once

#include "capture/programs/collector.h"

struct collector *fake_collector_new(unsigned n_cpus, uint64_t ring_bytes);

/*
 * Writes a record of N words into the word ring of CPU for CLASS (all but those of BPF ring buffers
 * have one), as the programs do. Returns false, and writes nothing, if there is no room.
 */
bool fake_collector_put_words(struct collector *c, enum event_class class, unsigned cpu,
			      const uint64_t *words, size_t n);

/* The same for the mark of a loss in the schedule: COUNT records, while TID was running. */
void fake_collector_put_loss(struct collector *c, unsigned cpu, uint64_t first, uint64_t last,
			     uint64_t count, uint32_t tid);

/* The stack pointer of copied stacks whose walk has to be tried again. */
#define FAKE_NO_TABLE 0x4711

/* The number of copied stacks that were walked, or dropped without a walk, in this program. */
uint64_t fake_collector_n_taken_pieces(void);

/* Puts a struct rec_* of SIZE bytes into CPU's ring. */
void fake_collector_put_record(struct collector *c, const void *rec, size_t size);

/* Sets the size of all CPUs' rings of such records; at first, 0. Before merge_new(). */
void fake_collector_set_records_bytes(struct collector *c, uint64_t bytes);

/* Sets the losses that the programs have counted on CPU and not marked yet. */
void fake_collector_set_pending(struct collector *c, enum event_class class, unsigned cpu,
				const struct collector_lost *lost);

/* Sets the number of malformed records. */
void fake_collector_set_malformed(struct collector *c, uint64_t n);

/* The number of records that have not been consumed. */
size_t fake_collector_n_records(const struct collector *c);
