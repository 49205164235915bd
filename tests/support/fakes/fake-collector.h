/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rings of a collector in plain memory, which a test fills instead of the eBPF programs. Tests
 * link this file instead of capture/programs/collector.c.
 */
#pragma once

#include "capture/programs/collector.h"

struct collector *fake_collector_new(unsigned n_cpus, uint64_t ring_bytes);

/*
 * Writes a record of N words into the word ring of CPU for CLASS, as the eBPF programs do. (Classes
 * whose records go to BPF ring buffers have no word ring.) Returns false, and writes nothing, if
 * there is no room.
 */
bool fake_collector_put_words(struct collector *c, enum event_class class, unsigned cpu,
			      const uint64_t *words, size_t n);

/* Writes the mark of a loss in the schedule likewise: COUNT records were lost while TID was
 * running. */
void fake_collector_put_loss(struct collector *c, unsigned cpu, uint64_t first, uint64_t last,
			     uint64_t count, uint32_t tid);

/* The stack pointer of copied stacks whose walk has to be tried again. */
#define FAKE_NO_TABLE 0x4711

/* Returns how many copied stacks this program has walked, or dropped without a walk. */
uint64_t fake_collector_n_taken_pieces(void);

/* Puts a struct rec_* of SIZE bytes into CPU's ring. */
void fake_collector_put_record(struct collector *c, const void *rec, size_t size);

/* Sets the size of each CPU's ring of struct rec_*, which is 0 at first. Must precede
 * merge_new(). */
void fake_collector_set_records_bytes(struct collector *c, uint64_t bytes);

/* Sets the losses that the eBPF programs have counted on CPU and not marked yet. */
void fake_collector_set_pending(struct collector *c, enum event_class class, unsigned cpu,
				const struct collector_lost *lost);

/* Sets the number of malformed records. */
void fake_collector_set_malformed(struct collector *c, uint64_t n);

/* The number of records that have not been consumed. */
size_t fake_collector_n_records(const struct collector *c);
