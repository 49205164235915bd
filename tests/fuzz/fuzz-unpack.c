/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unpacks the input, and unpacks it again in steps of another size: the results must be the same.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "reader/pack/unpack.h"

/* The limit of the output: a small input can be unpacked to very many bytes. */
enum { OUTPUT_MAX = 8 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct result {
	uint64_t bytes, sum;
	bool ended, damaged;
};

static struct result unpack_in_steps(const uint8_t *data, size_t size, size_t step)
{
	_cleanup_(unpack_freep) struct unpack *u = NULL;
	uint64_t packed = 0, unpacked = 0;
	struct result r = { 0 };
	uint8_t piece[4096];
	ssize_t n = 0;

	if (unpack_new_memory(&u, data, size) != 0)
		return r;
	while (r.bytes < OUTPUT_MAX && (n = unpack_read(u, piece, step)) > 0) {
		assert((size_t)n <= step);
		/* (a loop here would be instrumented, and take most of the time) */
		r.sum = crc32(r.sum, piece, (uInt)n);
		r.bytes += (uint64_t)n;
	}
	assert(n >= 0);
	r.ended = n == 0;
	for (; unpack_damage(u); unpack_pop_damage(u)) {
		const struct unpack_damage *damage = unpack_damage(u);

		assert(damage->packed_offset >= packed);
		packed = damage->packed_offset + damage->packed_bytes;
		assert(packed <= size);
		assert(damage->unpacked_offset >= unpacked);
		unpacked = damage->unpacked_offset;
		assert(unpacked <= r.bytes);
		assert(strlen(damage->what) > 0);
		r.damaged = true;
	}
	if (unpack_method(u) == PACK_NONE)
		assert(!r.damaged && (!r.ended || r.bytes == size));
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct result a = unpack_in_steps(data, size, 4096);
	struct result b = unpack_in_steps(data, size, 1021);

	/* Damage can remove output of the same step. Without damage, the results are the same. */
	assert(a.damaged == b.damaged || !a.ended || !b.ended);
	if (a.ended && b.ended && !a.damaged)
		assert(a.bytes == b.bytes && a.sum == b.sum);
	return 0;
}
