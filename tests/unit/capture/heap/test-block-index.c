/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "capture/heap/block-index.h"
#include "tests/support/unit.h"

static size_t find_slowly(const struct block_range *blocks, size_t n, uint64_t address)
{
	for (size_t i = 0; i < n; i++) {
		if (address >= blocks[i].address && address < block_end(&blocks[i]))
			return i;
	}
	return BLOCK_NONE;
}

static void check(const struct block_range *blocks, size_t n, uint64_t address)
{
	struct block_index x;

	assert_int_equal(block_index_init(&x, blocks, n), 0);
	assert_int_equal(block_index_find(&x, address), find_slowly(blocks, n, address));
	block_index_deinit(&x);
}

TEST(test_edges)
{
	static const struct block_range blocks[] = {
		{ 0x1000, 16 },           { 0x1010, 0 },         { 0x1ff8, 8 },
		{ 0x2000, 0x5000 },       { 0x7ffc, 8 },         { 0x20000, 1 },
		{ 0x7f0000000000, 4096 }, { ~UINT64_C(31), 16 },
	};

	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
		for (int64_t by = -17; by <= 17; by++) {
			check(blocks, 8, blocks[i].address + (uint64_t)by);
			check(blocks, 8, block_end(&blocks[i]) + (uint64_t)by);
		}
	}
	check(blocks, 8, 0);
	check(blocks, 8, UINT64_MAX);
	check(blocks, 1, 0x1008);
	check(NULL, 0, 0x1000);
}

/* Blocks of all sizes, with gaps of all sizes. */
TEST(test_random)
{
	struct block_range blocks[200];
	struct block_index x;
	uint64_t at = 4096;

	srandom(5);
	for (size_t i = 0; i < 200; i++) {
		blocks[i].address = at + (uint64_t)random() % (1 << random() % 18);
		blocks[i].size = (uint64_t)random() % (1 << random() % 16);
		at = block_end(&blocks[i]);
	}
	assert_int_equal(block_index_init(&x, blocks, 200), 0);
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t address = (uint64_t)random() % (at + 8192);

		assert_int_equal(block_index_find(&x, address), find_slowly(blocks, 200, address));
	}
	for (size_t i = 0; i < 200; i++) {
		assert_int_equal(block_index_find(&x, blocks[i].address), i);
		assert_int_equal(block_index_from(&x, blocks[i].address), i);
	}
	block_index_deinit(&x);
}

TEST(test_refused)
{
	static const struct block_range overlapping[] = { { 16, 17 }, { 32, 1 } },
					unsorted[] = { { 32, 1 }, { 16, 1 } },
					endless[] = { { 16, UINT64_MAX } };
	struct block_index x;

	assert_int_equal(block_index_init(&x, overlapping, 2), -EINVAL);
	assert_int_equal(block_index_init(&x, unsorted, 2), -EINVAL);
	assert_int_equal(block_index_init(&x, endless, 1), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
