/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/heap/ranges.h"
#include "tests/support/unit.h"

#define P UINT64_C(0x1000)

/* The sum of all reported additions and removals. */
struct told {
	uint64_t n, bytes;
};

static void count(const struct range *range, bool made, void *userdata)
{
	struct told *told = userdata;
	uint64_t bytes = range->end - range->start;

	told->n += made ? 1 : UINT64_MAX;
	told->bytes += made ? bytes : -bytes;
}

static void add(struct ranges *r, uint64_t start, uint64_t end, uint64_t since_ns,
		const struct ranges_sink *sink)
{
	const struct range range = {
		.start = start,
		.end = end,
		.origin = { .since_ns = since_ns, .stack = since_ns },
	};

	assert_int_equal(ranges_add(r, &range, sink), 0);
}

static void assert_range(const struct ranges *r, size_t i, uint64_t start, uint64_t end,
			 uint64_t since_ns)
{
	assert_true(i < r->n);
	assert_int_equal(r->list[i].start, start);
	assert_int_equal(r->list[i].end, end);
	assert_int_equal(r->list[i].origin.since_ns, since_ns);
}

/* ---- single operations ---- */

TEST(test_ranges_remove_part)
{
	struct ranges r = { 0 };
	struct told told = { 0 };
	const struct ranges_sink sink = { count, &told };

	add(&r, 16 * P, 32 * P, 1, &sink);
	assert_int_equal(ranges_remove(&r, 16 * P, 17 * P, UINT64_MAX, &sink), 0);
	assert_int_equal(ranges_remove(&r, 20 * P, 22 * P, UINT64_MAX, &sink), 0);
	assert_int_equal(ranges_remove(&r, 31 * P, 40 * P, UINT64_MAX, &sink), 0);
	assert_int_equal(ranges_remove(&r, 0, 16 * P, UINT64_MAX, &sink), 0);
	assert_int_equal(r.n, 2);
	assert_range(&r, 0, 17 * P, 20 * P, 1);
	assert_range(&r, 1, 22 * P, 31 * P, 1);
	assert_int_equal(told.n, 2);
	assert_int_equal(told.bytes, 12 * P);
	ranges_deinit(&r);
}

TEST(test_ranges_remove_until)
{
	struct ranges r = { 0 };

	add(&r, 1 * P, 2 * P, 10, NULL);
	add(&r, 2 * P, 3 * P, 30, NULL);
	add(&r, 3 * P, 4 * P, 20, NULL);
	assert_int_equal(ranges_remove(&r, 0, UINT64_MAX, 20, NULL), 0);
	assert_int_equal(r.n, 1);
	assert_range(&r, 0, 2 * P, 3 * P, 30);
	ranges_deinit(&r);
}

TEST(test_ranges_add_over)
{
	struct ranges r = { 0 };

	add(&r, 10 * P, 20 * P, 1, NULL);
	add(&r, 12 * P, 14 * P, 2, NULL);
	add(&r, 19 * P, 25 * P, 3, NULL);
	assert_int_equal(r.n, 4);
	assert_range(&r, 0, 10 * P, 12 * P, 1);
	assert_range(&r, 1, 12 * P, 14 * P, 2);
	assert_range(&r, 2, 14 * P, 19 * P, 1);
	assert_range(&r, 3, 19 * P, 25 * P, 3);
	ranges_deinit(&r);
}

TEST(test_ranges_move)
{
	static const struct {
		struct ranges_move move;
		size_t n;
		struct {
			uint64_t start, end, since_ns;
		} expected[3];
	} rows[] = {
		/* elsewhere, and grown: with the origin of the last one */
		{ { 10 * P, 4 * P, 50 * P, 6 * P, 9, false },
		  2,
		  { { 50 * P, 52 * P, 1 }, { 52 * P, 56 * P, 2 } } },
		/* grown in place, over a neighbour whose end was missed */
		{ { 10 * P, 4 * P, 10 * P, 7 * P, 9, false },
		  2,
		  { { 10 * P, 12 * P, 1 }, { 12 * P, 17 * P, 2 } } },
		/* shrunk */
		{ { 10 * P, 4 * P, 10 * P, 1 * P, 9, false }, 1, { { 10 * P, 11 * P, 1 } } },
		/* the second half */
		{ { 12 * P, 2 * P, 50 * P, 2 * P, 9, false },
		  2,
		  { { 10 * P, 12 * P, 1 }, { 50 * P, 52 * P, 2 } } },
		/* the old pages stay */
		{ { 12 * P, 2 * P, 50 * P, 2 * P, 9, true },
		  3,
		  { { 10 * P, 12 * P, 1 }, { 12 * P, 14 * P, 2 }, { 50 * P, 52 * P, 2 } } },
		/* another view of the same memory */
		{ { 12 * P, 0, 50 * P, 2 * P, 9, false },
		  3,
		  { { 10 * P, 12 * P, 1 }, { 12 * P, 14 * P, 2 }, { 50 * P, 52 * P, 2 } } },
		/* the present mapping was made after the move had begun */
		{ { 12 * P, 2 * P, 50 * P, 2 * P, 1, false },
		  2,
		  { { 10 * P, 12 * P, 1 }, { 12 * P, 14 * P, 2 } } },
		/* unknown memory */
		{ { 80 * P, 2 * P, 50 * P, 2 * P, 9, false },
		  2,
		  { { 10 * P, 12 * P, 1 }, { 12 * P, 14 * P, 2 } } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ranges r = { 0 };

		add(&r, 10 * P, 12 * P, 1, NULL);
		add(&r, 12 * P, 14 * P, 2, NULL);
		assert_int_equal(ranges_move(&r, &rows[i].move, NULL), 0);
		assert_int_equal(r.n, rows[i].n);
		for (size_t j = 0; j < r.n; j++)
			assert_range(&r, j, rows[i].expected[j].start, rows[i].expected[j].end,
				     rows[i].expected[j].since_ns);
		ranges_deinit(&r);
	}
}

TEST(test_ranges_full)
{
	struct ranges r = { .n_max = 2 };

	add(&r, 1 * P, 4 * P, 1, NULL);
	add(&r, 5 * P, 6 * P, 2, NULL);
	add(&r, 7 * P, 8 * P, 3, NULL);
	assert_int_equal(r.n, 2);
	assert_int_equal(r.n_full, 1);
	/* There is no room for one half of it. */
	assert_int_equal(ranges_remove(&r, 2 * P, 3 * P, UINT64_MAX, NULL), 0);
	assert_int_equal(r.n, 2);
	assert_int_equal(r.n_full, 2);
	assert_range(&r, 0, 1 * P, 2 * P, 1);
	ranges_deinit(&r);
}

/* ---- against a model of pages ---- */

enum { PAGES = 96, STEPS = 400, ROUNDS = 200 };

static uint64_t model[PAGES]; /* the maker of each page; 0 = none */

static void model_set(uint64_t from, uint64_t n, uint64_t value)
{
	for (uint64_t i = 0; i < n; i++)
		model[from + i] = value;
}

static void model_move(const struct ranges_move *move)
{
	uint64_t from = move->from / P, n = move->bytes / P, to = move->to / P;
	uint64_t n_new = move->new_bytes / P, was[PAGES];

	memcpy(was, model, sizeof(was));
	if (n && !move->keep)
		model_set(from, n, 0);
	model_set(to, n_new, 0);
	for (uint64_t i = 0; i < n_new; i++)
		model[to + i] = i < n || n == 0 ? was[from + i] : was[from + n - 1];
}

static void assert_as_model(const struct ranges *r)
{
	uint64_t pages[PAGES] = { 0 }, end = 0;

	for (size_t i = 0; i < r->n; i++) {
		assert_true(r->list[i].start >= end && r->list[i].start < r->list[i].end);
		end = r->list[i].end;
		assert_true(end <= PAGES * P);
		for (uint64_t page = r->list[i].start / P; page < end / P; page++)
			pages[page] = r->list[i].origin.since_ns;
	}
	assert_memory_equal(pages, model, sizeof(model));
}

static uint64_t below(uint64_t n)
{
	return (uint64_t)random() % n;
}

static void step(struct ranges *r, uint64_t now_ns, const struct ranges_sink *sink)
{
	uint64_t n = 1 + below(12), from = below(PAGES - 12), n_new = 1 + below(12);
	struct ranges_move move = { .from = from * P, .bytes = n * P, .begun_ns = now_ns };

	switch (below(4)) {
	case 0:
	case 1:
		add(r, from * P, (from + n) * P, now_ns, sink);
		model_set(from, n, now_ns);
		break;
	case 2:
		assert_int_equal(ranges_remove(r, from * P, (from + n) * P, UINT64_MAX, sink), 0);
		model_set(from, n, 0);
		break;
	default:
		move.to = below(PAGES - 12) * P;
		move.new_bytes = n_new * P;
		move.keep = below(4) == 0;
		if (below(8) == 0)
			move.bytes = 0;
		/* Like the kernel: either in place, or without overlap. */
		if (move.to < move.from + (n + n_new) * P && move.from < move.to + n_new * P) {
			move.to = move.from;
			move.keep = false;
			move.bytes = n * P;
		}
		assert_int_equal(ranges_move(r, &move, sink), 0);
		model_move(&move);
	}
}

TEST(test_ranges_random)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct ranges r = { 0 };
		struct told told = { 0 };
		const struct ranges_sink sink = { count, &told };
		uint64_t bytes = 0;

		srandom(round);
		memset(model, 0, sizeof(model));
		for (uint64_t now_ns = 1; now_ns <= STEPS; now_ns++) {
			step(&r, now_ns, &sink);
			assert_as_model(&r);
		}
		for (size_t i = 0; i < r.n; i++)
			bytes += r.list[i].end - r.list[i].start;
		assert_int_equal(told.n, r.n);
		assert_int_equal(told.bytes, bytes);
		ranges_deinit(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges_remove_part),
		cmocka_unit_test(test_ranges_remove_until),
		cmocka_unit_test(test_ranges_add_over),
		cmocka_unit_test(test_ranges_move),
		cmocka_unit_test(test_ranges_full),
		cmocka_unit_test(test_ranges_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
