/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits of requests that can hang, for each user.
 */
#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/proc/hang-limits.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/unit.h"

#define SECOND UINT64_C(1000000000)

enum { ALL = 64, OF_OWNER = 16, OF_OTHERS = 56, MALLORY = 1000, ALICE = 1001 };

static struct hang_limits limits;
static struct hang_request requests[ALL];
static size_t n_requests;

static int setup(void **state)
{
	(void)state;
	limits = (struct hang_limits){ .n_max = ALL, .timeout_ns = 5 * SECOND };
	n_requests = 0;
	return 0;
}

/* Adds a request of OWNER at PLACE, which hangs from HANGS_NS on, at the second 10. */
static int add(uid_t owner, uint64_t place, uint64_t hangs_ns, uint64_t *ret_timeout_ns)
{
	struct hang_request *q = &requests[n_requests];
	uint64_t timeout_ns = 0;
	int r;

	assert_true(n_requests < ALL);
	*q = (struct hang_request){ .owner = owner, .place = place, .hangs_ns = hangs_ns };
	r = hang_limits_add(&limits, q, 10 * SECOND, &timeout_ns);
	if (r == 0)
		n_requests++;
	if (ret_timeout_ns)
		*ret_timeout_ns = timeout_ns;
	return r;
}

TEST(test_time)
{
	uint64_t ns;

	assert_int_equal(add(MALLORY, 1, UINT64_MAX, &ns), 0);
	assert_true(ns == 5 * SECOND);
	assert_int_equal(add(MALLORY, 2, 11 * SECOND, &ns), 0);
	assert_true(ns == 5 * SECOND);
	assert_int_equal(add(MALLORY, 3, 9 * SECOND, &ns), 0);
	assert_true(ns == 5 * SECOND);
	/* One hangs from here on. */
	assert_int_equal(add(MALLORY, 4, 9 * SECOND, &ns), 0);
	assert_true(ns == 5 * SECOND / 2);
	assert_int_equal(add(MALLORY, 5, 9 * SECOND, &ns), 0);
	assert_true(ns == 5 * SECOND / 4);
	assert_int_equal(add(MALLORY, 6, 9 * SECOND, &ns), 0);
	assert_true(ns == 5 * SECOND / 8);
	/* Another user has less time, too, but enough. */
	assert_int_equal(add(ALICE, 7, UINT64_MAX, &ns), 0);
	assert_true(ns == HANG_LIMITS_FLOOR_NS);
	hang_limits_remove(&limits, &requests[3]);
	hang_limits_remove(&limits, &requests[4]);
	hang_limits_remove(&limits, &requests[5]);
	assert_int_equal(add(ALICE, 8, UINT64_MAX, &ns), 0);
	assert_true(ns == 5 * SECOND / 2);
}

TEST(test_place)
{
	assert_int_equal(add(MALLORY, 1, 9 * SECOND, NULL), 0);
	assert_int_equal(add(MALLORY, 1, UINT64_MAX, NULL), -EBUSY);
	assert_int_equal(add(MALLORY, 2, UINT64_MAX, NULL), 0);
	assert_int_equal(add(MALLORY, 2, UINT64_MAX, NULL), 0);
	assert_int_equal(add(ALICE, 1, UINT64_MAX, NULL), 0);
	hang_limits_remove(&limits, &requests[0]);
	assert_int_equal(add(MALLORY, 1, UINT64_MAX, NULL), 0);
}

/* Neither one user nor many take the requests of root. */
TEST(test_number)
{
	for (uint64_t i = 0; i < OF_OWNER; i++)
		assert_int_equal(add(MALLORY, i, 9 * SECOND, NULL), 0);
	assert_int_equal(add(MALLORY, ALL, UINT64_MAX, NULL), -EUSERS);
	assert_int_equal(add(ALICE, ALL, UINT64_MAX, NULL), 0);
	while (n_requests < OF_OTHERS)
		assert_int_equal(add(ALICE + (uid_t)n_requests, 0, 9 * SECOND, NULL), 0);
	assert_int_equal(add(ALICE, ALL, UINT64_MAX, NULL), -EUSERS);
	while (n_requests < ALL - 1)
		assert_int_equal(add(0, n_requests, UINT64_MAX, NULL), 0);
	assert_int_equal(add(0, ALL, UINT64_MAX, NULL), 0);
	assert_int_equal(hang_limits_add(&limits, &(struct hang_request){ 0 }, 0, &(uint64_t){ 0 }),
			 -EUSERS);
}

TEST(test_owner)
{
	put_text(".", "/proc/42/status",
		 "Name:\tsudo\nTgid:\t42\nUid:\t1000\t0\t0\t0\nGid:\t0\t0\t0\t0\n");
	assert_int_equal(hang_limits_owner_of(".", 42), 1000);
	assert_true(hang_limits_owner_of(".", 43) == (uid_t)-1);
	assert_int_equal(hang_limits_owner_of("", (uint32_t)getpid()), getuid());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_time, setup),
		cmocka_unit_test_setup(test_place, setup),
		cmocka_unit_test_setup(test_number, setup),
		cmocka_unit_test_setup_teardown(test_owner, own_directory_set_up,
						own_directory_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
