/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The chunks that a recording is split into: what has gone into each, and when the next one is to
 * begin. A recording that is not split has one. Only sums: the writer reports what it does, and
 * asks.
 *
 * Bytes are those handed over, before they are packed, unless something else is said. Times are
 * CLOCK_BOOTTIME.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/store/flight.h"
#include "capture/options/options.h"
#include "capture/store/output.h"
#include "capture/pipeline/recorder.h"

/* What there was when a chunk began, and its head. */
struct chunk_begin {
	uint64_t ns;
	uint64_t head_bytes;
	uint64_t body_bytes;     /* of all before */
	uint64_t cpu_ns, bpf_ns; /* that the recording had cost by then */
	struct recorder_sums sums;
};

/* All zero before the first one. */
struct chunks {
	struct chunk_begin
		begins[FLIGHT_CHUNKS_MAX]; /* of the last ones; number N stands at N % of them */
	uint64_t n;                        /* that have begun */
	uint64_t bytes;                    /* of this one */
	uint64_t body_bytes;               /* of all of them */
	uint64_t all_bytes;                /* likewise, with heads and tails */
	uint64_t dropped; /* what the output had had no room for when this one began */
	uint64_t due_ns;  /* since when the next one is wanted; 0 = it is not */
	bool wanted;      /* somebody has asked for the next one */
};

/*
 * The next one begins as BEGIN says (its bytes are filled in), when the output has had no room for
 * DROPPED bytes.
 */
void chunks_begin(struct chunks *c, const struct chunk_begin *begin, uint64_t dropped);

/* BYTES of PART are handed over. */
void chunks_add(struct chunks *c, enum store_part part, uint64_t bytes);

/*
 * This one, and number N, from 0, or this one if that is not known any more, or not yet. Once one
 * has begun.
 */
const struct chunk_begin *chunks_now(const struct chunks *c);
const struct chunk_begin *chunks_begun(const struct chunks *c, uint64_t n);

/* What there is of all chunks from BEGIN on. */
uint64_t chunks_bytes_since(const struct chunks *c, const struct chunk_begin *begin);

/* Whether the next one is due at AT_NS, by OPTIONS and how the output stands. */
bool chunks_due(const struct chunks *c, const struct session_options *options,
		const struct output_status *status, uint64_t at_ns);
