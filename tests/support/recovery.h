/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much of a damaged archive does the reader give back? Damages it (damage.h), reads what came
 * of it, and counts the records whose bytes were not touched.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "reader/fxt/fxt-reader.h"

struct recovery {
	uint64_t intact; /* records that are in the variant, whole, byte by byte */
	/* Those of them that the reader gave, at their place, with their words */
	uint64_t recovered;
	uint64_t damages; /* that it reported */
	double seconds;
	char what[64];
};

/* Reads N bytes as they are. Returns how many seconds it took; *RET_RECORDS is what came. */
double recovery_read(const uint8_t *data, size_t n, uint64_t *ret_records);

/* Aborts if the reader does not end, or fails. */
void recovery_try(const uint8_t *data, size_t n, uint64_t seed, struct recovery *ret);

/*
 * Tries seeds 1..N_SEEDS, says how it went, and returns how many were worse than PER_MILLE of what
 * was intact or took much longer than the original.
 */
unsigned recovery_try_all(const uint8_t *data, size_t n, unsigned n_seeds, unsigned per_mille);
