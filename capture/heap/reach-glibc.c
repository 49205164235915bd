/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/reach-glibc.h"

#include <string.h>

enum {
	WORD = 8,
	N_BINS = 127,
	BIN_BYTES = 2 * WORD, /* the first and the last chunk of a list */
	N_FAST_BINS = 10,     /* words with the first chunk of a list, before the top */
	/*
	 * The two additional words are the top, and the remainder of the last chunk that was split.
	 */
	BEFORE_BYTES = (N_FAST_BINS + 2) * WORD,
	/* Minimum number of empty lists; most lists are empty, and the last one always is. */
	EMPTY_MIN = 16,
};

/*
 * Returns true if the list at ADDRESS is empty. It then contains, twice, the address of the chunk
 * that would begin 16 bytes before the list.
 */
static bool reach_glibc_is_empty(uint64_t address, const uint8_t *data)
{
	uint64_t bin[2];

	memcpy(bin, data, sizeof(bin));
	return bin[0] == address - BIN_BYTES && bin[1] == bin[0];
}

bool reach_glibc_find_lists(uint64_t address, const uint8_t *data, size_t n_bytes,
			    struct reach_glibc_lists *ret)
{
	const size_t all = BEFORE_BYTES + (size_t)N_BINS * BIN_BYTES;

	if (n_bytes < all || address % WORD)
		return false;
	for (size_t at = BEFORE_BYTES; at + BIN_BYTES <= n_bytes; at += WORD) {
		size_t n_empty = 0, end = at;

		if (!reach_glibc_is_empty(address + at, data + at))
			continue;
		for (size_t i = 0, bin = at; i < N_BINS && bin + BIN_BYTES <= n_bytes;
		     i++, bin += BIN_BYTES)
			if (reach_glibc_is_empty(address + bin, data + bin)) {
				n_empty++;
				end = bin + BIN_BYTES;
			}
		if (n_empty < EMPTY_MIN || end < all)
			continue;
		*ret = (struct reach_glibc_lists){ end - all, end };
		return true;
	}
	return false;
}
