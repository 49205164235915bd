/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "reader/why/why-requests.h"
#include "tests/support/unit.h"

static void add(struct why_requests *r, const char *disk, uint32_t tid, uint64_t from, uint64_t to,
		bool instant)
{
	const struct event ev = { .kind = EVENT_REQUEST,
				  .ts_ns = instant ? to : from,
				  .request = { .op = "read",
					       .disk = disk,
					       .thread = tid,
					       .issued_ns = instant ? from : 0,
					       .end_ns = to } };

	assert_int_equal(why_requests_add(r, &ev), 0);
}

/* The disk with most time counts; requests of the thread before those of others. */
TEST(test_disks)
{
	struct why_requests r = { 0 };
	struct why_disk disk;

	assert_false(why_requests_find(&r, 1, 0, 1000, &disk));
	add(&r, "sda", 1, 100, 200, false);
	add(&r, "sda", 1, 150, 210, true);
	add(&r, "sdb", 1, 100, 120, false);
	add(&r, "sdc", 2, 100, 900, false);
	add(&r, "", 2, 100, 999, false);
	assert_true(why_requests_find(&r, 1, 90, 300, &disk));
	assert_string_equal(disk.name, "sda");
	assert_int_equal(disk.n, 2);
	assert_int_equal(disk.longest_ns, 100);
	assert_true(disk.own);
	/* Only the part in the interval decides. */
	assert_true(why_requests_find(&r, 1, 90, 110, &disk));
	assert_true(disk.n == 1 && disk.own);
	assert_true(why_requests_find(&r, 1, 500, 600, &disk));
	assert_string_equal(disk.name, "sdc");
	assert_false(disk.own);
	assert_false(why_requests_find(&r, 1, 900, 1000, &disk));
	assert_false(why_requests_find(&r, 1, 0, 100, &disk));
	why_requests_deinit(&r);
}

/* Without all requests, nothing is claimed. */
TEST(test_dropped)
{
	struct why_requests r = { 0 };
	struct why_disk disk;

	add(&r, "sda", 1, 100, 200, false);
	r.n_dropped = 1;
	assert_false(why_requests_find(&r, 1, 0, 1000, &disk));
	why_requests_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disks),
		cmocka_unit_test(test_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
