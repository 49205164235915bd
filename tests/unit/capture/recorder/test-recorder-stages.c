/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of kinds (bpf/record-kinds.h) and the stages: each kind in the table has a stage that
 * handles it.
 */
#include "capture/recorder/recorder-parts.h"
#include "tests/support/unit.h"

static void check_is_taken(unsigned kind, const char *name)
{
	/* (from an iterator, for the worker) */
	if (rec_kind_ring(kind) == REC_RING_NONE)
		return;
	for (size_t i = 0; i < RECORDER_STAGES; i++)
		if (recorder_stages[i].ops->handles & STAGE_HANDLES(kind))
			return;
	fail_msg("no stage takes REC_%s", name);
}

TEST(test_each_kind_is_taken)
{
#define KIND_IS_TAKEN(KIND, ...) check_is_taken(REC_##KIND, #KIND);
	REC_PROGRAM_KINDS(KIND_IS_TAKEN)
	REC_USER_KINDS(KIND_IS_TAKEN)
#undef KIND_IS_TAKEN
}

/* No stage handles unknown kinds. */
TEST(test_no_other_kind_is_taken)
{
	uint64_t rows = 0, taken = 0;

#define KIND_ROW(KIND, number, ...) rows |= STAGE_HANDLES(number);
	REC_PROGRAM_KINDS(KIND_ROW)
	REC_USER_KINDS(KIND_ROW)
#undef KIND_ROW
	for (size_t i = 0; i < RECORDER_STAGES; i++)
		taken |= recorder_stages[i].ops->handles;
	assert_int_equal(taken & ~rows, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_kind_is_taken),
		cmocka_unit_test(test_no_other_kind_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
