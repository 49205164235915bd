/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pointers that count: their places in a child process, their values, and chains of them.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/fixtures/reach-child.h"
#include "tests/support/unit.h"
#include "tests/support/valgrind.h"

TEST(test_nothing_points)
{
	begin_child(false);
	expect_reach("llllllll");
	end_child();
}

/* Each place of a process is searched. */
TEST(test_places)
{
	begin_child(false);
	plant(&global, block(0));
	plant(places->stack, block(1));
	plant(places->thread_stack, block(2));
	plant(places->tls, block(3));
	plant(places->mapped + 5, block(4));
	plant(places->shared + 7, block(5));
	plant(heap + HEAP_BYTES - 8, block(6)); /* beside the blocks */
	expect_reach("rrrrrrrl");
	plant(&global, 0);
	expect_reach("lrrrrrrl");
	end_child();
}

/* The C library keeps the stack of an ended thread. Others have no description, or a thread. */
TEST(test_ended_thread)
{
	begin_child(false);
	plant((void *)(uintptr_t)(places->ended - 65536), block(0));
	plant(places->thread_stack, block(1));
	plant((void *)(uintptr_t)(places->ended + 64), block(2)); /* in its description */
	for (unsigned i = 0; i < 4; i++) {
		ended_thread = i == 0   ? places->ended - 64
			       : i == 1 ? (uint64_t)(uintptr_t)places->tls
			       : i == 2 ? block(0) - 64
					: places->ended;
		expect_reach(i < 3 ? "rrrlllll" : "lrrlllll");
	}
	end_child();
}

/* Pages that the program has written, and has then made read-only or unreadable. */
TEST(test_unwritable)
{
	uint64_t word;

	begin_child(false);
	plant_kept(KEPT_READ_ONLY, block(0));
	plant_kept(KEPT_UNREADABLE, block(1));
	plant_kept(KEPT_CHANGED, block(2));
	word = block(3);
	assert_int_equal(pwrite(kept_fd, &word, sizeof(word), 0), sizeof(word));
	expect_reach("rrrlllll");
	plant_kept(KEPT_UNREADABLE, block(1) + 8);
	expect_reach("rprlllll");
	end_child();
}

/* The kernel may have the only address of a block, or of its inside. */
TEST(test_epoll)
{
	begin_child(false);
	plant_in_epoll(block(0));
	plant_in_block(0, block(1));
	plant_in_epoll(block(2) + 8);
	plant_in_epoll(block(3));
	plant(&global, block(3));
	plant_in_epoll(block(4));
	plant(places->mapped, block(4) + 8);
	plant_in_epoll(7); /* a descriptor, the usual value */
	expect_reach("eeerplll");
	end_child();
}

/* An address with other data in its high bits. A negative number is none. */
TEST(test_tagged)
{
	begin_child(false);
	plant(&global, block(0) | UINT64_C(0xabcd) << 48);
	plant_in_block(0, block(1));
	plant_in_block(1, block(2) | UINT64_C(1) << 56);
	plant(places->mapped, (block(3) + 8) | UINT64_C(1) << 63);
	plant(places->mapped + 1, block(4) | UINT64_C(1) << 48);
	plant(places->mapped + 2, block(4) + 8);
	plant_in_epoll(block(5) | UINT64_C(1) << 60);
	plant_in_block(6, block(7) | UINT64_C(1) << 60); /* lost, as is its target */
	expect_reach("ttttptli");
	plant(&global, block(0) | UINT64_C(1) << 47);
	expect_reach("liitptli");
	end_child();
}

/* Entries that were taken from the stacks of jemalloc's thread cache remain there. */
TEST(test_jemalloc_stacks)
{
	const uint64_t before = UINT64_C(0x7a7a7a7a7a7a7a7a), behind = UINT64_C(0xa7a7a7a7a7a7a7a7);

	begin_child(false);
	plant(places->mapped, before);
	plant(places->mapped + 1, block(0));
	plant(places->mapped + 3000, behind);
	plant(places->mapped + 3001, block(1));
	expect_reach("lrllllll");
	plant(places->mapped + 3000, 0);
	expect_reach("rrllllll");
	end_child();
}

/*
 * jemalloc's descriptions of its extents do not count: the rest of these 2 MiB begins with such a
 * pointer.
 */
TEST(test_jemalloc_base)
{
	const size_t bytes = (size_t)2 << 20;
	uint8_t *room = mmap(NULL, 3 * bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint64_t base = ((uint64_t)(uintptr_t)room + bytes - 1) & ~(uint64_t)(bytes - 1);
	uint64_t *words = (uint64_t *)(uintptr_t)base;

	assert_ptr_not_equal(room, MAP_FAILED);
	begin_child(false);
	plant(words, bytes);
	plant(words + 1, base + bytes);
	plant(words + 3, base + 65536);
	plant(words + 4, bytes - 65536);
	plant(words + 100, block(0));
	plant(words + bytes / 8 - 1, block(1));
	plant(words + bytes / 8, block(2));
	expect_reach("llrlllll");
	plant(words + 4, bytes - 65535);
	expect_reach("rrrlllll");
	end_child();
	munmap(room, 3 * bytes);
}

/* The lists of free chunks in an arena of glibc, and the top of its heap, are no references. */
TEST(test_glibc_lists)
{
	enum { FIRST_BIN = 102, N_BINS = 127 };
	_Atomic uint64_t *bins;

	begin_child(false);
	bins = places->mapped + FIRST_BIN;
	plant(places->mapped + FIRST_BIN - 13, block(6) + BLOCK_BYTES - 8);
	plant(places->mapped + FIRST_BIN - 12, block(4) + BLOCK_BYTES - 8);
	plant(places->mapped + FIRST_BIN - 2, block(0) + BLOCK_BYTES - 8);
	for (unsigned i = 0; i < N_BINS; i++)
		for (unsigned j = 0; j < 2; j++)
			plant(bins + 2 * i + j, (uint64_t)(uintptr_t)(bins + 2 * i) - 16);
	plant(bins, block(1) + BLOCK_BYTES - 8);
	plant(bins + 1, block(2) + BLOCK_BYTES - 8);
	plant(bins + 100, block(3) + BLOCK_BYTES - 8);
	plant(bins + 101, block(3) + BLOCK_BYTES - 8);
	plant(bins + 2 * N_BINS, block(5));
	expect_reach("lllllrpl");
	for (unsigned i = 2; i < 2 * N_BINS; i += 2)
		plant(bins + i, i == 100 ? block(3) + 8 : 0);
	expect_reach("ppppprpl");
	end_child();
}

/* A pointer into a block is not one to its begin. Behind the end is outside. */
TEST(test_interior)
{
	begin_child(false);
	plant(&global, block(0) + 1);
	plant(places->stack, block(1) + BLOCK_BYTES - 1);
	plant(places->tls, block(2) + BLOCK_BYTES);
	plant(places->mapped, block(3) - 1);
	/* The better one counts, in any order. */
	plant(places->mapped + 1, block(4) + 8);
	plant(places->mapped + 2, block(4));
	plant(places->mapped + 3, block(5));
	plant(places->mapped + 4, block(5) + 8);
	expect_reach("ppllrrll");
	end_child();
}

/* Unaligned words are no pointers. */
TEST(test_unaligned)
{
	begin_child(false);
	plant((uint8_t *)(uintptr_t)places->mapped + 4, block(0));
	expect_reach("llllllll");
	end_child();
}

TEST(test_chains)
{
	begin_child(false);
	plant(&global, block(0)); /* 0 -> 1 -> 2 */
	plant_in_block(0, block(1));
	plant_in_block(1, block(2));
	plant(places->mapped, block(3) + 8); /* possible, and so are the blocks that it points to */
	plant_in_block(3, block(4));
	plant_in_block(4, block(5) + 8);
	plant_in_block(6, block(7)); /* lost, with the blocks that it points to */
	expect_reach("rrrpppli");
	plant(&global, block(6));
	expect_reach("liippprr");
	end_child();
}

/*
 * Two that only have each other, one of which is reported as lost; one that only has itself; and
 * one that points to a reachable block.
 */
TEST(test_cycles)
{
	begin_child(false);
	plant_in_block(0, block(1));
	plant_in_block(1, block(0));
	plant_in_block(2, block(2));
	plant(&global, block(3));
	plant_in_block(3, block(4));
	plant_in_block(4, block(3));
	plant_in_block(5, block(3));
	expect_reach("lilrrlll");
	end_child();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_points),  cmocka_unit_test(test_places),
		cmocka_unit_test(test_ended_thread),    cmocka_unit_test(test_unwritable),
		cmocka_unit_test(test_epoll),           cmocka_unit_test(test_tagged),
		cmocka_unit_test(test_jemalloc_stacks), cmocka_unit_test(test_jemalloc_base),
		cmocka_unit_test(test_glibc_lists),     cmocka_unit_test(test_interior),
		cmocka_unit_test(test_unaligned),       cmocka_unit_test(test_chains),
		cmocka_unit_test(test_cycles),
	};

	if (under_valgrind()) {
		printf("skip: valgrind's own threads and memory are not those of the program\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
