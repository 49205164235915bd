/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Points in memory are the same as in the file, and pointers have the sizes of the buffers at that
 * time.
 */
#include <stdlib.h>
#include <string.h>

#include "reader/tracedb/tracedb-store.h"
#include "tests/support/unit.h"
#include "writer/tracedb/tracedb-writer.h"

static const char *const names[] = { "int", "p", "text" };
static const struct tracedb_type types[] = {
	{ 0, TRACEDB_SIGNED, 4 },
	{ 1, TRACEDB_POINTER, 8 },
	{ 2, TRACEDB_BLOB, 0 },
};
static const struct tracedb_dictionary dictionary = { names, 3, types, 3 };

enum { MAP_STEPS = 20000, MAP_PLACES = 512, POINTS = 1000 };

/* The size of the last buffer that begins at AT or before, by a linear search. */
static uint64_t size_by_search(const uint64_t *sizes, uint64_t at)
{
	for (uint64_t start = at + 1; start-- > 0;)
		if (sizes[start] > 0)
			return at - start <= sizes[start] ? sizes[start] - (at - start)
							  : TRACEDB_NO_SIZE;
	return TRACEDB_NO_SIZE;
}

static void test_map_as_by_search(void **state)
{
	static uint64_t sizes[MAP_PLACES];
	struct tracedb_map m = { 0 };

	(void)state;
	srand(1);
	for (int i = 0; i < MAP_STEPS; i++) {
		uint64_t at = (uint64_t)rand() % MAP_PLACES;
		uint64_t size = rand() % 3 ? (uint64_t)rand() % 20 : 0;
		uint64_t asked = (uint64_t)rand() % MAP_PLACES;

		assert_int_equal(tracedb_map_set(&m, at, size), 0);
		sizes[at] = size;
		assert_int_equal(tracedb_map_size(&m, asked), size_by_search(sizes, asked));
	}
	assert_true(m.n_regions <= MAP_PLACES + 1);
	tracedb_map_deinit(&m);
}

static void test_map_ends(void **state)
{
	struct tracedb_map m = { 0 };

	(void)state;
	assert_int_equal(tracedb_map_size(&m, 0), TRACEDB_NO_SIZE);
	assert_int_equal(tracedb_map_set(&m, 100, 16), 0);
	assert_int_equal(tracedb_map_size(&m, 99), TRACEDB_NO_SIZE);
	assert_int_equal(tracedb_map_size(&m, 100), 16);
	assert_int_equal(tracedb_map_size(&m, 116), 0);
	assert_int_equal(tracedb_map_size(&m, 117), TRACEDB_NO_SIZE);
	assert_int_equal(tracedb_map_size(&m, UINT64_MAX), TRACEDB_NO_SIZE);
	tracedb_map_deinit(&m);
}

/* The I-th point: every third one has a blob, and the pointer's buffer exists at even ones. */
static void write_point(struct tracedb_writer *w, int i)
{
	char text[] = "abcdefg";
	struct tracedb_entry e[] = {
		{ .tag = TRACEDB_STATEMENT, .statement = (uint64_t)i + 1 },
		{ .tag = TRACEDB_AUXILIARY, .auxiliary = (uint64_t)i * 3 },
		{ .tag = TRACEDB_BUFFER, .buffer = { 4096, i % 2 ? 0 : 64 } },
		{ .tag = TRACEDB_VARIABLE, .variable = { 1, 1, 8, { 4096 + 8 } } },
		{ .tag = TRACEDB_VARIABLE, .variable = { .type = 0, .size = 4, .s = -i } },
		{ .tag = TRACEDB_VARIABLE,
		  .variable = { .name = 2,
				.type = 2,
				.size = (uint32_t)i % 8,
				.bytes = (const uint8_t *)text } },
	};
	struct tracedb_point point = { e, i % 3 ? 5 : 6 };

	assert_int_equal(tracedb_writer_point(w, &point), 0);
}

static void check_point(const struct tracedb_stored_point *p, int i)
{
	assert_int_equal(p->statement, i + 1);
	assert_int_equal(p->n_auxiliary, 1);
	assert_int_equal(p->auxiliary[0], i * 3);
	assert_int_equal(p->n_variables, i % 3 ? 2 : 3);
	assert_int_equal(p->variables[0].value.u, 4096 + 8);
	assert_true(p->variables[0].buffer_size == (i % 2 ? TRACEDB_NO_SIZE : 64 - 8));
	assert_int_equal(p->variables[1].value.s, -i);
	assert_true(p->variables[1].buffer_size == TRACEDB_NO_SIZE);
	if (i % 3)
		return;
	assert_int_equal(p->variables[2].value.name, 2);
	assert_int_equal(p->variables[2].value.size, i % 8);
	assert_memory_equal(p->variables[2].value.bytes, "abcdefg", (size_t)i % 8);
}

/* Loads POINTS points in LAYOUT, without the last CUT bytes. */
static void check_store(enum tracedb_layout layout, size_t cut)
{
	_cleanup_(tracedb_reader_freep) struct tracedb_reader *r = NULL;
	_cleanup_(tracedb_store_freep) struct tracedb_store *s = NULL;
	_cleanup_(tracedb_cursor_deinit) struct tracedb_cursor c = { 0 };
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	struct tracedb_stored_point p;
	struct tracedb_writer w;
	int expected = cut > 0 ? POINTS - 1 : POINTS;

	assert_int_equal(tracedb_writer_begin(&w, &b, layout, &dictionary), 0);
	for (int i = 0; i < POINTS; i++)
		write_point(&w, i);
	assert_int_equal(tracedb_reader_new_memory(&r, b.data, b.size - cut), 0);
	assert_int_equal(tracedb_store_load(&s, r), cut > 0 ? TRACEDB_DAMAGE : TRACEDB_TRACE_END);
	assert_int_equal(tracedb_store_points(s), expected);
	for (int i = 0; i < expected; i++) {
		assert_int_equal(tracedb_store_next(s, &c, &p), 1);
		check_point(&p, i);
	}
	assert_int_equal(tracedb_store_next(s, &c, &p), 0);
}

static void test_store_has_the_points(void **state)
{
	(void)state;
	check_store(TRACEDB_W64, 0);
	check_store(TRACEDB_W16, 0);
}

static void test_store_keeps_points_before_damage(void **state)
{
	(void)state;
	check_store(TRACEDB_W64, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map_as_by_search),
		cmocka_unit_test(test_map_ends),
		cmocka_unit_test(test_store_has_the_points),
		cmocka_unit_test(test_store_keeps_points_before_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
