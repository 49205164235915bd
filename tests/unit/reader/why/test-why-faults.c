/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "reader/why/why-faults.h"
#include "tests/support/unit.h"

static void add_named(struct why_faults *f, const char *name, uint32_t tid, uint64_t at_ns,
		      bool major, bool mapped, const char *file)
{
	const struct call_value args[] = {
		{ .name = "address", .form = CALL_VALUE_UINT, .u64 = 4096 },
		{ .name = "file", .form = CALL_VALUE_TEXT, .text = file },
		{ .name = "major", .form = CALL_VALUE_BOOL, .yes = major },
		{ .name = "mapped", .form = CALL_VALUE_BOOL, .yes = mapped },
	};
	const struct event ev = {
		.kind = EVENT_TRACEPOINT,
		.ts_ns = at_ns,
		.tid = tid,
		.tracepoint = { .name = name, .args = args, .n_args = ARRAY_SIZE(args) },
	};

	assert_int_equal(why_faults_add(f, &ev), 0);
}

static void add(struct why_faults *f, uint32_t tid, uint64_t at_ns, const char *file)
{
	add_named(f, "kymo:page_fault", tid, at_ns, true, true, file);
}

/* The file with most faults counts. Minor faults and other events do not. */
TEST(test_files)
{
	struct why_faults f = { 0 };
	struct why_faults_sum sum;

	assert_false(why_faults_find(&f, 1, 0, 1000, 9, &sum));
	add(&f, 2, 100, "/c");
	add(&f, 1, 300, "/b");
	add(&f, 1, 100, "/a");
	add(&f, 1, 400, "/b");
	add_named(&f, "kymo:page_fault", 1, 200, false, true, "/a");
	add_named(&f, "exceptions:page_fault_user", 1, 210, true, true, "/a");
	why_faults_finish(&f);
	assert_true(why_faults_find(&f, 1, 100, 400, 9, &sum));
	assert_int_equal(sum.n, 3);
	assert_int_equal(sum.n_file, 2);
	assert_string_equal(sum.file, "/b");
	assert_true(why_faults_find(&f, 1, 100, 400, 1, &sum));
	assert_true(sum.n == 1 && sum.n_file == 1);
	assert_string_equal(sum.file, "/a");
	assert_false(why_faults_find(&f, 1, 101, 299, 9, &sum));
	assert_false(why_faults_find(&f, 3, 0, 1000, 9, &sum));
	why_faults_deinit(&f);
}

/* Memory without a file differs from an unknown mapping. */
TEST(test_without_file)
{
	struct why_faults f = { 0 };
	struct why_faults_sum sum;

	add(&f, 1, 100, "");
	add_named(&f, "kymo:page_fault", 1, 200, true, false, "");
	why_faults_finish(&f);
	assert_true(why_faults_find(&f, 1, 100, 100, 9, &sum));
	assert_string_equal(sum.file, "");
	assert_true(why_faults_find(&f, 1, 200, 200, 9, &sum));
	assert_null(sum.file);
	assert_true(why_faults_find(&f, 1, 100, 200, 9, &sum));
	assert_true(sum.n == 2 && sum.n_file == 1);
	why_faults_deinit(&f);
}

/* Without all faults, nothing is claimed. Of too many files, the first ones are compared. */
TEST(test_limits)
{
	struct why_faults f = { 0 };
	struct why_faults_sum sum;
	char name[16];

	for (unsigned i = 0; i < WHY_FAULTS_FILES_MAX + 3; i++) {
		snprintf(name, sizeof(name), "/%u", i);
		add(&f, 1, i, name);
	}
	add(&f, 1, 500, "/7");
	why_faults_finish(&f);
	assert_true(why_faults_find(&f, 1, 0, 1000, UINT64_MAX, &sum));
	assert_int_equal(sum.n, WHY_FAULTS_FILES_MAX + 4);
	assert_int_equal(sum.n_file, 2);
	assert_string_equal(sum.file, "/7");
	f.n_dropped = 1;
	assert_false(why_faults_find(&f, 1, 0, 1000, UINT64_MAX, &sum));
	why_faults_deinit(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_without_file),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
