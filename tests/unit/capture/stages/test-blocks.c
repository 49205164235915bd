/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "capture/stages/blocks.h"
#include "tests/support/unit.h"

enum { REQUESTS = 2000 };

struct request {
	uint64_t begin_ns, end_ns;
	int lane;
};

static int compare_ends(const void *a, const void *b)
{
	const struct request *x = a, *y = b;

	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

/* The largest number of requests at once. */
static int depth_of(const struct request *list, size_t n)
{
	int most = 0;

	for (size_t i = 0; i < n; i++) {
		int depth = 0;

		for (size_t k = 0; k < n; k++)
			depth += list[k].begin_ns <= list[i].begin_ns &&
				 list[k].end_ns > list[i].begin_ns;
		most = depth > most ? depth : most;
	}
	return most;
}

/* Makes requests of up to LONGEST_NS, gives them lanes, and returns the number without a lane. */
static int fill(struct request *list, uint64_t longest_ns)
{
	struct blocks b = { 0 };
	int n_without = 0;

	for (size_t i = 0; i < REQUESTS; i++) {
		list[i].begin_ns = 1 + (uint64_t)rand() % 100000;
		list[i].end_ns = list[i].begin_ns + 1 + (uint64_t)rand() % longest_ns;
	}
	qsort(list, REQUESTS, sizeof(*list), compare_ends);
	for (size_t i = 0; i < REQUESTS; i++) {
		list[i].lane = blocks_find_lane(&b, list[i].begin_ns, list[i].end_ns);
		n_without += list[i].lane < 0;
		assert_in_range(list[i].lane + 1, 0, FXT_BLOCK_LANES);
	}
	/* Requests in one lane do not overlap. */
	for (size_t i = 0; i < REQUESTS; i++)
		for (size_t k = 0; k < i; k++)
			if (list[i].lane >= 0 && list[i].lane == list[k].lane)
				assert_true(list[k].end_ns <= list[i].begin_ns);
	return n_without;
}

/* As many lanes are used as there are requests at once. */
TEST(test_lanes)
{
	static struct request list[REQUESTS];

	for (unsigned seed = 1; seed <= 10; seed++) {
		bool used[FXT_BLOCK_LANES] = { false };
		int n_used = 0;

		srand(seed);
		assert_int_equal(fill(list, 100 * seed), 0);
		for (size_t i = 0; i < REQUESTS; i++) {
			n_used += !used[list[i].lane];
			used[list[i].lane] = true;
		}
		assert_int_equal(n_used, depth_of(list, REQUESTS));
	}
}

/* Requests beyond the lanes have none, and others keep theirs. */
TEST(test_all_occupied)
{
	static struct request list[REQUESTS];
	int n_without;

	srand(1);
	n_without = fill(list, 50000);
	assert_true(depth_of(list, REQUESTS) > FXT_BLOCK_LANES);
	assert_in_range(n_without, 1, REQUESTS - FXT_BLOCK_LANES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_all_occupied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
