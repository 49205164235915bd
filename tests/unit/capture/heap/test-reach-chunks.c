/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory of the program between the chunks of glibc, in a made heap of this process. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/heap/reach-chunks.h"
#include "tests/support/unit.h"

enum { HEAP_BYTES = 16384, N_BLOCKS_MAX = 8, BLOCK_BYTES = 40 };

static _Alignas(4096) uint8_t heap[HEAP_BYTES];
static struct block_range blocks[N_BLOCKS_MAX];
static size_t n_blocks;
static uint64_t free_bytes; /* of the last chunk, if it is free */

static uint64_t address_of(unsigned at)
{
	return (uintptr_t)heap + at;
}

static void begin_heap(void)
{
	memset(heap, 0, sizeof(heap));
	n_blocks = 0;
	free_bytes = 0;
}

static void put_word(unsigned at, uint64_t word)
{
	memcpy(heap + at, &word, sizeof(word));
}

/* Makes a chunk that counts as used. Returns its end. */
static unsigned add_chunk(unsigned at, uint64_t bytes)
{
	put_word(at + 8, bytes | (free_bytes ? 0 : 1));
	if (free_bytes)
		put_word(at, free_bytes);
	free_bytes = 0;
	return at + (unsigned)bytes;
}

static unsigned add_free(unsigned at, uint64_t bytes)
{
	at = add_chunk(at, bytes);
	free_bytes = bytes;
	return at;
}

static unsigned add_block(unsigned at)
{
	blocks[n_blocks++] = (struct block_range){ address_of(at + 16), BLOCK_BYTES };
	return add_chunk(at, 48);
}

static unsigned add_fence(unsigned at)
{
	return add_chunk(add_chunk(at, 16), 16);
}

static int find_foreign(uint64_t deadline_ns, struct outbuf *ret)
{
	const struct root root = { .from = address_of(0), .to = address_of(HEAP_BYTES) };
	struct block_index index;
	struct reach_memory m;
	int r;

	assert_int_equal(reach_memory_init(&m, getpid(), deadline_ns), 0);
	assert_int_equal(block_index_init(&index, blocks, n_blocks), 0);
	r = reach_chunks_find_foreign(&m, &index, &root, ret);
	block_index_deinit(&index);
	free(m.buffer);
	free(m.spans);
	close(m.pagemap_fd);
	close(m.mem_fd);
	return r;
}

/* Expects N parts, which begin and end at ENDS in the heap. */
static void expect_foreign(size_t n, const unsigned *ends)
{
	struct outbuf list = { .limit = SIZE_MAX };
	const struct reach_foreign *found;

	assert_int_equal(find_foreign(UINT64_MAX, &list), 0);
	found = (const struct reach_foreign *)list.data;
	assert_int_equal(list.size / sizeof(*found), n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(found[i].from - address_of(0), ends[2 * i]);
		assert_int_equal(found[i].to - address_of(0), ends[2 * i + 1]);
	}
	outbuf_deinit(&list);
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
	at = add_block(add_free(at, 4096));
	at = add_block(add_chunk(at, 1040));
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
	ends[0] = add_fence(add_free(0, 656));
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

/*
 * A program's memory whose second word leads to the end, or to a block: behind the last chunk,
 * which has not grown since, and at the beginning.
 */
TEST(test_word_like_a_size)
{
	static const uint64_t marks[] = { 0, 1 };
	unsigned at, ends[4];

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		begin_heap();
		ends[0] = add_chunk(0, 656);
		at = add_free(add_block(ends[0]), 4096);
		put_word(at + 8, (HEAP_BYTES - at) | marks[i]);
		ends[1] = HEAP_BYTES;
		expect_foreign(1, ends);

		begin_heap();
		put_word(8, 4096 | marks[i]);
		at = add_chunk(4096, 656);
		ends[0] = 0;
		ends[1] = at;
		at = add_block(at);
		add_chunk(at, HEAP_BYTES - at);
		expect_foreign(1, ends);
	}
	/* behind the two empty chunks, where glibc begins again with a used one */
	begin_heap();
	at = add_fence(add_free(add_block(add_chunk(0, 656)), 4096));
	ends[0] = at;
	ends[1] = HEAP_BYTES;
	expect_foreign(1, ends);
	put_word(at + 8, HEAP_BYTES - at);
	blocks[n_blocks++] = (struct block_range){ address_of(at + 16), BLOCK_BYTES };
	expect_foreign(1, ends);
	put_word(at + 8, (HEAP_BYTES - at) | 1);
	expect_foreign(0, NULL);
}

/* glibc has no blocks at such addresses. The limit of time applies between blocks, too. */
TEST(test_unaligned_blocks)
{
	const unsigned ends[] = { 0, HEAP_BYTES };
	struct outbuf list = { .limit = SIZE_MAX };

	for (unsigned offset = 1; offset < 16; offset++) {
		begin_heap();
		for (unsigned i = 0; i < 4; i++)
			blocks[n_blocks++] =
				(struct block_range){ address_of(1024 * (i + 1) + offset), 1000 };
		expect_foreign(1, ends);
	}
	assert_int_equal(find_foreign(1, &list), -ETIME);
	outbuf_deinit(&list);
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
		cmocka_unit_test(test_only_chunks),      cmocka_unit_test(test_moved_break),
		cmocka_unit_test(test_word_like_a_size), cmocka_unit_test(test_unaligned_blocks),
		cmocka_unit_test(test_freed_block),      cmocka_unit_test(test_other_allocator),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
