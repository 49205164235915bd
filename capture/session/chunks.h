/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The chunks of a recording: what each contains, and when the next one begins. A recording without
 * splits has one chunk. This module keeps only sums. The writer reports what it has written, and
 * asks this module whether the next chunk is due.
 *
 * Bytes are counted when they are passed to the output, before compression, except where noted.
 * Times are CLOCK_BOOTTIME.
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
	uint64_t body_bytes;     /* bytes in the bodies of all earlier chunks */
	uint64_t cpu_ns, bpf_ns; /* cost of the recording until this chunk */
	struct recorder_sums sums;
};

/* All zero before the first chunk. */
struct chunks {
	struct chunk_begin
		/* The last chunks; chunk number N is at index N % FLIGHT_CHUNKS_MAX. */
		begins[FLIGHT_CHUNKS_MAX];
	uint64_t n;          /* number of chunks that have begun */
	uint64_t bytes;      /* size of this chunk */
	uint64_t body_bytes; /* bytes in the bodies of all chunks */
	uint64_t all_bytes;  /* size of all chunks, with heads and tails */
	uint64_t dropped;    /* bytes for which the output had no room when this chunk began */
	uint64_t due_ns;     /* the time since which the next chunk is due; 0 = not due */
	bool wanted;         /* the next chunk was requested */
};

/*
 * Begins the next chunk with BEGIN, whose bytes are filled in. So far, the output had no room for
 * DROPPED bytes.
 */
void chunks_begin(struct chunks *c, const struct chunk_begin *begin, uint64_t dropped);

/* Counts BYTES of PART that are passed to the output. */
void chunks_add(struct chunks *c, enum store_part part, uint64_t bytes);

/*
 * The first function returns the current chunk. The second one returns chunk number N, counted from
 * 0, or the current chunk if N is no longer or not yet known. To be called only after the first
 * chunk has begun.
 */
const struct chunk_begin *chunks_now(const struct chunks *c);
const struct chunk_begin *chunks_begun(const struct chunks *c, uint64_t n);

/* Returns the number of bytes in all chunks from BEGIN on. */
uint64_t chunks_bytes_since(const struct chunks *c, const struct chunk_begin *begin);

/*
 * Returns true if the next chunk is due at AT_NS. This depends on OPTIONS and the status of the
 * output.
 */
bool chunks_due(const struct chunks *c, const struct session_options *options,
		const struct output_status *status, uint64_t at_ns);
