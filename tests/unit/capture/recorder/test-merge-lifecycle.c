/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records that wait in queues of a merge, such as those of lifecycles (merge-rounds.h).
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "capture/proc/proc-records.h"
#include "tests/support/fakes/fake-collector.h"
#include "tests/support/fixtures/merge-rounds.h"
#include "tests/support/unit.h"

/* Waiting records are kept in the order of their CPU, whatever their sizes. */
TEST(test_lifecycle_queue)
{
	struct merge_rounds *f = *state;
	struct rec_exec exec = { .head = { .size = sizeof(exec), .kind = REC_EXEC, .cpu = 2 } };

	for (uint64_t ts = 1; ts <= 1000; ts++) {
		char want[32];

		exec.head.ts_ns = 2 * ts;
		fake_collector_put_record(f->collector, &exec, sizeof(exec));
		merge_put_exit(f, 2, 2 * ts + 1);
		snprintf(want, sizeof(want), "2:%lul ", ts);
		assert_merge_round(f, ts, ts == 1 ? "" : want);
		assert_int_equal(fake_collector_n_records(f->collector), 0);
	}
}

/* Each ring has its own queue: if one is drained after another, its records are newer. */
TEST(test_lifecycle_before_later_rings)
{
	struct merge_rounds *f = *state;

	for (uint16_t kind = 0; kind < REC_KINDS; kind++) {
		const struct rec_head rec = {
			.ts_ns = 20, .size = sizeof(rec), .kind = kind, .cpu = 2
		};

		if (rec_kind_ring(kind) == REC_RING_LIFECYCLE)
			continue;
		merge_put_exit(f, 2, 5);
		fake_collector_put_record(f->collector, &rec, sizeof(rec));
		assert_merge_round(f, 4, "");
		merge_put_exit(f, 2, 10);
		assert_merge_round(f, 20, "2:5l 2:10l 2:20l ");
	}
}

/* All rings are read up to the horizon before the first record is passed on. */
TEST(test_full_rings)
{
	enum { CALLS = 500, CALL_BYTES = 64 << 10 };
	struct merge_rounds *f = *state;
	_cleanup_free_ struct rec_head *call = calloc(1, CALL_BYTES);

	assert_non_null(call);
	merge_free(f->merge);
	fake_collector_set_records_bytes(f->collector, (uint64_t)CALLS * CALL_BYTES);
	assert_int_equal(merge_new(f->collector, &f->merge), 0);
	*call = (struct rec_head){ .size = CALL_BYTES, .kind = REC_CALL };
	for (uint64_t ts = 1; ts <= CALLS; ts++) {
		call->ts_ns = 10 * ts;
		fake_collector_put_record(f->collector, call, CALL_BYTES);
	}
	merge_put_exit(f, 2, 15);
	assert_merge_round(f, 25, "0:10l 2:15l 0:20l ");
	assert_int_equal(fake_collector_n_records(f->collector),
			 CALLS - MERGE_SPARE_BYTES / CALL_BYTES);
	assert_int_equal(merge_rounds_do(f, 10 * CALLS), 0);
	assert_int_equal(f->n, CALLS - 2);
}

/* Bytes on the heap. With a sanitizer, its allocator is asked. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t heap_bytes(void)
{
	return __sanitizer_get_current_allocated_bytes ? __sanitizer_get_current_allocated_bytes()
						       : mallinfo2().uordblks;
}

/* A queue that is never empty does not grow with time. */
TEST(test_lifecycle_queue_bounded)
{
	struct merge_rounds *f = *state;
	size_t before = 0;

	for (uint64_t ts = 1; ts <= 20000; ts++) {
		merge_put_exit(f, 2, ts);
		f->used = 0;
		assert_int_equal(merge_rounds_do(f, ts - 1), 0);
		if (ts == 1000)
			before = heap_bytes();
	}
	assert_true(heap_bytes() < before + 65536);
}

#define CASE(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, merge_rounds_set_up, merge_rounds_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_lifecycle_queue),
		CASE(test_lifecycle_before_later_rings),
		CASE(test_full_rings),
		CASE(test_lifecycle_queue_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
