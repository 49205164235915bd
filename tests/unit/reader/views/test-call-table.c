/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums of calls by process and function.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "reader/views/call-table.h"
#include "tests/support/unit.h"

static void add(struct call_table *t, uint32_t pid, const char *function, uint64_t ns,
		const char *error, const char *left_by)
{
	const struct event ev = {
		.kind = EVENT_CALL,
		.ts_ns = 100,
		.pid = pid,
		.tid = pid + 1,
		.call = { .function = function,
			  .end_ns = 100 + ns,
			  .left_by = left_by,
			  .result = { .form = error ? CALL_VALUE_TEXT : CALL_VALUE_NONE,
				      .text = error } },
	};

	assert_int_equal(call_table_add(t, &ev), 0);
}

TEST(test_rows)
{
	static const struct {
		uint32_t pid;
		const char *function;
		uint64_t n, failed, unreturned, total_ns, max_ns;
	} rows[] = {
		{ 7, "read", 2, 0, 0, 50, 30 }, { 7, "open", 1, 1, 1, 10, 10 },
		{ 7, "write", 0, 0, 2, 0, 0 },  { 3, "open", 2, 1, 0, 30, 25 },
		{ 4, "exit", 0, 0, 1, 0, 0 },   { 5, "exit", 0, 0, 1, 0, 0 },
	};
	_cleanup_free_ struct call_table_row **all = NULL;
	struct call_table t = { 0 };
	size_t n;

	add(&t, 3, "open", 25, "EPERM", "");
	add(&t, 3, "open", 5, "EOPEN", "");
	add(&t, 5, "exit", 9, NULL, "open");
	add(&t, 4, "exit", 90, NULL, "unwound");
	add(&t, 7, "read", 20, NULL, "");
	add(&t, 7, "read", 30, NULL, "");
	add(&t, 7, "open", 10, "ENOENT", "");
	add(&t, 7, "open", 900, "ENOENT", "cut");
	add(&t, 7, "write", 900, NULL, "open");
	add(&t, 7, "write", 900, NULL, "unwound");
	assert_int_equal(call_table_rows(&t, &all, &n), 0);
	assert_int_equal(n, ARRAY_SIZE(rows));
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(all[i]->process->pid, rows[i].pid);
		assert_string_equal(all[i]->function, rows[i].function);
		assert_int_equal(all[i]->took.n, rows[i].n);
		assert_int_equal(all[i]->failed, rows[i].failed);
		assert_int_equal(all[i]->unreturned, rows[i].unreturned);
		assert_int_equal(all[i]->took.sum_ns, rows[i].total_ns);
		assert_int_equal(all[i]->took.max_ns, rows[i].max_ns);
	}
	assert_int_equal(all[0]->process->n, 3);
	assert_int_equal(all[0]->process->failed, 1);
	assert_int_equal(all[0]->process->total_ns, 60);
	call_table_deinit(&t);
}

TEST(test_left_out)
{
	static const char *const functions[] = { "write", "read", "write" };
	_cleanup_free_ struct call_table_left_out **all = NULL;
	_cleanup_free_ struct call_table_row **rows = NULL;
	struct call_table t = { 0 };
	size_t n;

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		const struct event ev = { .kind = EVENT_LEFT_OUT,
					  .left_out = { .function = functions[i],
							.count = 10 * (i + 1) } };

		assert_int_equal(call_table_add(&t, &ev), 0);
	}
	assert_int_equal(call_table_all_left_out(&t, &all, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(all[0]->function, "read");
	assert_int_equal(all[0]->n, 20);
	assert_string_equal(all[1]->function, "write");
	assert_int_equal(all[1]->n, 40);
	assert_int_equal(call_table_rows(&t, &rows, &n), 0);
	assert_int_equal(n, 0);
	call_table_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
