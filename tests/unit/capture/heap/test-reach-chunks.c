/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory of the program between the chunks of glibc, in a made heap of this process. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/heap/reach-chunks.h"
#include "tests/support/unit.h"

enum { HEAP_BYTES = 16384, N_BLOCKS_MAX = 8, BLOCK_BYTES = 40 };

static _Alignas(4096) uint8_t heap[HEAP_BYTES];
static struct block_range blocks[N_BLOCKS_MAX];
static size_t n_blocks;

static uint64_t address_of(unsigned at)
{
	return (uintptr_t)heap + at;
}

static void begin_heap(void)
{
	memset(heap, 0, sizeof(heap));
	n_blocks = 0;
}

/* Makes a free chunk. Returns its end. */
static unsigned add_chunk(unsigned at, uint64_t bytes)
{
	uint64_t size = bytes | 1;

	memcpy(heap + at + 8, &size, sizeof(size));
	return at + (unsigned)bytes;
}

static unsigned add_block(unsigned at)
{
	blocks[n_blocks++] = (struct block_range){ address_of(at + 16), BLOCK_BYTES };
	return add_chunk(at, 48);
}

static unsigned add_fence(unsigned at)
{
	uint64_t first = 16;

	memcpy(heap + at + 8, &first, sizeof(first));
	return add_chunk(at + 16, 16);
}

/* Expects N parts, which begin and end at ENDS in the heap. */
static void expect_foreign(size_t n, const unsigned *ends)
{
	const struct root root = { .from = address_of(0), .to = address_of(HEAP_BYTES) };
	struct outbuf list = { .limit = SIZE_MAX };
	const struct reach_foreign *found;
	struct block_index index;
	struct reach_memory m;

	assert_int_equal(reach_memory_init(&m, getpid(), UINT64_MAX), 0);
	assert_int_equal(block_index_init(&index, blocks, n_blocks), 0);
	assert_int_equal(reach_chunks_find_foreign(&m, &index, &root, &list), 0);
	found = (const struct reach_foreign *)list.data;
	assert_int_equal(list.size / sizeof(*found), n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(found[i].from - address_of(0), ends[2 * i]);
		assert_int_equal(found[i].to - address_of(0), ends[2 * i + 1]);
	}
	outbuf_deinit(&list);
	block_index_deinit(&index);
	free(m.buffer);
	free(m.spans);
	close(m.pagemap_fd);
	close(m.mem_fd);
}

/* Chunks from the beginning to the end: nothing is the program's. */
TEST(test_only_chunks)
{
	unsigned at;

	begin_heap();
	add_chunk(0, HEAP_BYTES);
	expect_foreign(0, NULL);
	begin_heap();
	at = add_block(add_chunk(0, 656));
	at = add_block(add_chunk(at, 4096));
	add_chunk(at, HEAP_BYTES - at);
	expect_foreign(0, NULL);
}

/* A program's memory behind, between and before glibc's. */
TEST(test_moved_break)
{
	unsigned at, ends[4];

	begin_heap();
	ends[0] = add_fence(add_block(add_chunk(0, 656)));
	ends[1] = HEAP_BYTES;
	expect_foreign(1, ends);
	ends[1] = 8192;
	at = add_block(8192);
	add_chunk(at, HEAP_BYTES - at);
	expect_foreign(1, ends);
	/* (also after free chunks only) */
	begin_heap();
	ends[0] = add_fence(add_chunk(0, 656));
	ends[1] = HEAP_BYTES;
	expect_foreign(1, ends);
	begin_heap();
	at = add_fence(add_block(4096));
	ends[0] = 0;
	ends[1] = 4096;
	ends[2] = at;
	ends[3] = HEAP_BYTES;
	expect_foreign(2, ends);
}

/* A block that was freed meanwhile is in a larger chunk. */
TEST(test_freed_block)
{
	unsigned at;

	begin_heap();
	at = add_block(add_chunk(0, 656));
	blocks[n_blocks++] = (struct block_range){ address_of(at + 64), BLOCK_BYTES };
	at = add_block(add_chunk(at, 256));
	add_chunk(at, HEAP_BYTES - at);
	expect_foreign(0, NULL);
}

/* Without sizes that lead to a block, all memory can have pointers. */
TEST(test_other_allocator)
{
	const unsigned ends[] = { 0, HEAP_BYTES };

	begin_heap();
	for (unsigned i = 0; i < 4; i++)
		blocks[n_blocks++] = (struct block_range){ address_of(1024 * (i + 1)), 1024 };
	expect_foreign(1, ends);
	begin_heap();
	expect_foreign(1, ends);
	/* (a size that is too small for the block, and one beyond the end) */
	begin_heap();
	add_block(1024);
	blocks[0].size = BLOCK_BYTES + 1;
	expect_foreign(1, ends);
	begin_heap();
	add_block(1024);
	add_chunk(1024, HEAP_BYTES);
	expect_foreign(1, ends);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_chunks),
		cmocka_unit_test(test_moved_break),
		cmocka_unit_test(test_freed_block),
		cmocka_unit_test(test_other_allocator),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
