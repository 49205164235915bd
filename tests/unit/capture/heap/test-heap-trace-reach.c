/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of a program that have ended: a process id and a thread pointer can come again.
 */
#include "capture/heap/heap-trace-reach.h"
#include "tests/support/unit.h"

enum { PID = 500, START_NS = 1000, EXEC_ID = 3 };

/* A pause, which gives a process a new instance, changes nothing. */
TEST(test_ended_threads)
{
	static const struct {
		struct memory_ended_thread thread;
		struct memory_thread_end end;
		bool is_of;
	} rows[] = {
		{ { PID, 0, 0x7000 }, { 0, START_NS, EXEC_ID }, true },
		{ { PID, 0, 0x8000 }, { 0x10, START_NS, EXEC_ID }, true },
		{ { PID + 1, 0, 0x7000 }, { 0, START_NS, EXEC_ID }, false },
		{ { PID, 0, 0x7000 }, { 0, START_NS - 1, EXEC_ID }, false },
		{ { PID, 0, 0x7000 }, { 0, START_NS, EXEC_ID - 1 }, false },
	};
	const struct rec_task program = {
		.task = { .start_ns = START_NS, .pid = PID, .tid = PID },
		.exec_id = EXEC_ID,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(heap_trace_reach_is_of(&rows[i].thread, &rows[i].end, &program),
				 rows[i].is_of);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ended_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
