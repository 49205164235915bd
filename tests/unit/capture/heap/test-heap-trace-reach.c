/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of a program that have ended: a process id and a thread pointer can come again.
 */
#include <errno.h>
#include <unistd.h>

#include <bpf/bpf.h>

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

/* Without the program, its killed threads are unknown: there must be no result. */
TEST(test_killed_threads)
{
	const struct rec_task program = {
		.task = { .start_ns = START_NS, .pid = PID, .tid = PID },
		.exec_id = EXEC_ID,
	};
	struct memory_search how = {
		.killed_threads_fd = bpf_map_create(BPF_MAP_TYPE_HASH, "killed",
						    sizeof(struct memory_ended_thread),
						    sizeof(struct memory_thread_end), 4, NULL),
	};
	struct outbuf found = { 0 };
	const struct rec_registers *rec;

	(void)state;
	assert_int_equal(heap_trace_reach_list_killed(&how, &found), -ESRCH);
	if (how.killed_threads_fd == -EPERM)
		skip();
	assert_true(how.killed_threads_fd >= 0);
	for (uint32_t i = 0; i < 2; i++) {
		const struct memory_ended_thread thread = { PID + i, 0, 0x7000 + i };
		const struct memory_thread_end end = { 0x10, START_NS, EXEC_ID };

		assert_int_equal(bpf_map_update_elem(how.killed_threads_fd, &thread, &end, 0), 0);
	}
	assert_int_equal(heap_trace_reach_list_killed(&how, &found), -ESRCH);
	how.program = &program;
	assert_int_equal(heap_trace_reach_list_killed(&how, &found), 0);
	assert_int_equal(found.size, sizeof(*rec));
	rec = (const struct rec_registers *)found.data;
	assert_int_equal(rec->head.pid, PID);
	assert_int_equal(rec->tls, 0x7000);
	assert_int_equal(rec->altstack, 0x10);
	outbuf_deinit(&found);
	close(how.killed_threads_fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ended_threads),
		cmocka_unit_test(test_killed_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
