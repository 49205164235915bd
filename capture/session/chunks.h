/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The chunks of a recording: the content of each, and the time of the next one. A recording without
 * splits has one chunk. This module keeps only sums; the writer reports its work and asks.
 *
 * Bytes are counted when they are handed over, before compression, except where noted. Times are
 * CLOCK_BOOTTIME.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/store/flight.h"
#include "capture/options/options.h"
#include "capture/store/output.h"
#include "capture/recorder/recorder.h"

/* The state when a chunk began, and its head. */
struct chunk_begin {
	uint64_t ns;
	uint64_t head_bytes;
	uint64_t body_bytes;     /* bodies of all earlier chunks */
	uint64_t cpu_ns, bpf_ns; /* cost of the recording until then */
	struct recorder_sums sums;
};

/* All zero before the first one. */
struct chunks {
	struct chunk_begin
		begins[FLIGHT_CHUNKS_MAX]; /* the last ones; number N is at N % of them */
	uint64_t n;                        /* chunks that have begun */
	uint64_t bytes;                    /* size of this chunk */
	uint64_t body_bytes;               /* bodies of all chunks */
	uint64_t all_bytes;                /* size of all chunks, with heads and tails */
	uint64_t dropped; /* bytes for which the output had no room when this one began */
	uint64_t due_ns;  /* the time since which the next one is due; 0 = not due */
	bool wanted;      /* the next one was requested */
};

/*
 * Begins the next chunk as in BEGIN (its bytes are filled in), when the output had no room for
 * DROPPED bytes.
 */
void chunks_begin(struct chunks *c, const struct chunk_begin *begin, uint64_t dropped);

/* BYTES of PART are handed over. */
void chunks_add(struct chunks *c, enum store_part part, uint64_t bytes);

/*
 * The current chunk; and number N, from 0, or the current one if N is no longer or not yet known.
 * Only after the first has begun.
 */
const struct chunk_begin *chunks_now(const struct chunks *c);
const struct chunk_begin *chunks_begun(const struct chunks *c, uint64_t n);

/* The sums of all chunks from BEGIN on. */
uint64_t chunks_bytes_since(const struct chunks *c, const struct chunk_begin *begin);

/* Whether the next one is due at AT_NS, by OPTIONS and the status of the output. */
bool chunks_due(const struct chunks *c, const struct session_options *options,
		const struct output_status *status, uint64_t at_ns);
