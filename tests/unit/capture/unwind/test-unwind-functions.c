/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of a file whose code decides about their frames. (test-unwind-table has their rows.) */
#include "capture/unwind/unwind-functions.h"

#include "base/cleanup.h"
#include "tests/support/unit.h"

/* Functions that overlap count as one. If their segments overlap, too, its code is in several. */
TEST(test_bare_in_segments)
{
	static const uint8_t data[] = { 0x53, 0x5b, 0xc3, 0x90, 0x53, 0x5b, 0xc3, 0x90 };
	static const struct {
		struct unwind_function function;
		bool is_bare;
	} rows[] = {
		{ { 0x1000, 0x1003 }, true },  { { 0x1000, 0x1004 }, true },
		{ { 0x1000, 0x1006 }, false }, { { 0x1002, 0x1006 }, true },
		{ { 0x1002, 0x1007 }, false }, { { 0x1002, UINT64_MAX }, false },
		{ { 0x1006, 0x1007 }, false },
	};
	/* (the bytes behind the segments are not of this array) */
	const struct unwind_elf elf = {
		.data = data,
		.segments = { { 4, 4, 0x1002 }, { 0, 4, 0x1000 } },
		.n_segments = 2,
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct unwind_function function = rows[i].function;

		unwind_functions_judge(&elf, &function, 1);
		if (function.is_bare != rows[i].is_bare)
			fail_msg("function %zu", i);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bare_in_segments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
