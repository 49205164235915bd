/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "reader/symbols/symbol-list.h"
#include "tests/support/unit.h"

/* ---- ranges ---- */

TEST(test_range_list_find)
{
	static const struct {
		uint64_t start, end;
	} rows[] = { { 100, 200 }, { 120, 150 }, { 130, 140 },       { 300, 400 },
		     { 300, 310 }, { 500, 500 }, { 600, UINT64_MAX } };
	static const struct {
		uint64_t address;
		int row; /* -1 = none */
	} questions[] = { { 0, -1 },         { 99, -1 },  { 100, 0 },
			  { 119, 0 },        { 120, 1 },  { 130, 2 },
			  { 139, 2 },        { 140, 1 },  { 150, 0 },
			  { 199, 0 },        { 200, -1 }, { 300, 4 },
			  { 310, 3 },        { 399, 3 },  { 400, -1 },
			  { 500, -1 },       { 600, 6 },  { UINT64_MAX - 1, 6 },
			  { UINT64_MAX, -1 } };
	struct range_list list = { 0 };

	assert_null(range_list_find(&list, 1));
	for (size_t i = ARRAY_SIZE(rows); i > 0; i--)
		assert_int_equal(range_list_add(&list, rows[i - 1].start, rows[i - 1].end,
						(uint32_t)(i - 1), 0),
				 0);
	assert_int_equal(range_list_sort(&list), 0);
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		const struct range *range = range_list_find(&list, questions[i].address);

		assert_int_equal(range ? (int)range->value : -1, questions[i].row);
	}
	range_list_deinit(&list);
}

/* One range contains all others, and its earlier begin must not matter. */
TEST(test_range_list_many)
{
	struct range_list list = { 0 };
	enum { N = 100 * 1000 };

	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(range_list_add(&list, i, i == 0 ? UINT64_MAX : i + 1, i, 0), 0);
	assert_int_equal(range_list_sort(&list), 0);
	assert_int_equal(range_list_find(&list, 777)->value, 777);
	assert_int_equal(range_list_find(&list, 0)->value, 0);
	assert_int_equal(range_list_find(&list, N + 5)->value, 0);
	range_list_deinit(&list);
}

/* With any nesting, the result is that of a linear search. */
TEST(test_range_list_random)
{
	enum { N = 40, END = 200 };

	srand(1);
	for (unsigned int round = 0; round < 500; round++) {
		struct range_list list = { 0 };

		for (uint32_t i = 0; i < N; i++) {
			uint64_t start = (uint64_t)rand() % END;

			assert_int_equal(range_list_add(&list, start,
							start + (uint64_t)rand() % (END / 2), i,
							(uint32_t)rand() % 3),
					 0);
		}
		assert_int_equal(range_list_sort(&list), 0);
		for (uint64_t address = 0; address < 2 * END; address++) {
			const struct range *found = range_list_find(&list, address), *best = NULL;

			for (size_t i = 0; i < N; i++)
				if (list.items[i].start <= address && list.items[i].end > address)
					best = &list.items[i];
			assert_ptr_equal(found, best);
		}
		range_list_deinit(&list);
	}
}

/* ---- symbols ---- */

static void add(struct symbol_list *list, const char *name, struct symbol symbol)
{
	assert_int_equal(symbol_list_add_names(list, name, strlen(name), &symbol.name), 0);
	assert_int_equal(symbol_list_add(list, &symbol), 0);
}

static void assert_found(const struct symbol_list *list, uint64_t address, const char *name,
			 uint64_t offset)
{
	struct symbol_found found;

	assert_true(symbol_list_find(list, address, &found));
	assert_int_equal(found.n, strlen(name));
	assert_memory_equal(found.name, name, found.n);
	assert_int_equal(found.offset, offset);
}

TEST(test_symbol_list_aliases)
{
	/* Each pair has the same address, and the first one is found. */
	static const struct {
		const char *name[2];
		struct symbol symbol[2];
	} rows[] = {
		{ { "sized", "unsized" }, { { .size = 8 }, { .function = true } } },
		{ { "function", "mark" }, { { .size = 8, .function = true }, { .size = 8 } } },
		{ { "__outside", "inside" },
		  { { .size = 8, .weak = true }, { .size = 8, .local = true } } },
		{ { "write", "__write" }, { { .size = 8, .weak = true }, { .size = 8 } } },
		{ { "global", "weak" }, { { .size = 8 }, { .size = 8, .weak = true } } },
		{ { "short", "not_so_short" }, { { .size = 8 }, { .size = 8 } } },
		{ { "_ZN1aC1Ev", "___b" }, { { .size = 8 }, { .size = 8 } } },
		{ { "itself", "stub" },
		  { { .size = 8, .local = true }, { .size = 8, .plt = true } } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (size_t swapped = 0; swapped < 2; swapped++) {
			struct symbol_list list = { 0 };

			for (size_t k = 0; k < 2; k++) {
				struct symbol symbol = rows[i].symbol[k ^ swapped];

				symbol.start = 0x1000;
				symbol.bound = 0x2000;
				add(&list, rows[i].name[k ^ swapped], symbol);
			}
			assert_int_equal(symbol_list_finish(&list), 0);
			assert_found(&list, 0x1004, rows[i].name[0], 4);
			symbol_list_deinit(&list);
		}
}

TEST(test_symbol_list_sizes)
{
	struct symbol_list list = { 0 };
	struct symbol_found found;

	assert_false(symbol_list_find(&list, 0, &found));
	add(&list, "start", (struct symbol){ .start = 0x100, .bound = 0x200 });
	add(&list, "next", (struct symbol){ .start = 0x140, .bound = 0x200 });
	add(&list, "function", (struct symbol){ .start = 0x200, .size = 0x80, .function = true });
	add(&list, "mark", (struct symbol){ .start = 0x210, .bound = 0x400 });
	add(&list, "inner", (struct symbol){ .start = 0x220, .size = 0x10, .function = true });
	add(&list, "memcpy@@GLIBC_2.14", (struct symbol){ .start = 0x300, .size = 0x10 });
	add(&list, "@odd", (struct symbol){ .start = 0x310, .size = 0x10 });
	add(&list, "wraps", (struct symbol){ .start = 0x400, .size = UINT64_MAX });
	assert_int_equal(symbol_list_finish(&list), 0);
	assert_found(&list, 0x100, "start", 0);
	assert_found(&list, 0x13f, "start", 0x3f);
	assert_found(&list, 0x1ff, "next", 0xbf);
	assert_found(&list, 0x210, "function", 0x10);
	assert_found(&list, 0x22f, "inner", 0xf);
	assert_found(&list, 0x230, "function", 0x30);
	assert_false(symbol_list_find(&list, 0x280, &found));
	assert_found(&list, 0x305, "memcpy", 5);
	assert_found(&list, 0x315, "@odd", 5);
	assert_false(symbol_list_find(&list, 0x400, &found));
	symbol_list_deinit(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_range_list_find),
		cmocka_unit_test(test_range_list_many),
		cmocka_unit_test(test_range_list_random),
		cmocka_unit_test(test_symbol_list_aliases),
		cmocka_unit_test(test_symbol_list_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
