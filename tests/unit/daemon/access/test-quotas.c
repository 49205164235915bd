/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "base/cleanup.h"
#include "daemon/access/quotas.h"
#include "tests/support/unit.h"

TEST(test_limit_check_table)
{
	static const struct limit l = { .all = 100, .root = 25, .user = 50, .own = 10 };
	static const struct {
		struct limit_use has;
		struct limit_request wish;
		enum limit_verdict verdict;
		uint64_t limit;
	} rows[] = {
		{ { 0, 0, 0 }, { 100, 0, false }, LIMIT_FITS, 0 },
		{ { 1, 0, 0 }, { 100, 0, false }, LIMIT_EXCEEDS_ALL, 100 },
		{ { 75, 0, 0 }, { 25, 0, false }, LIMIT_FITS, 0 },
		{ { 75, 0, 0 }, { 1, 1000, false }, LIMIT_EXCEEDS_ALL, 75 },
		{ { 74, 0, 0 }, { 1, 1000, false }, LIMIT_FITS, 0 },
		{ { 50, 50, 0 }, { 1, 1000, false }, LIMIT_EXCEEDS_USER, 50 },
		{ { 50, 49, 0 }, { 1, 1000, false }, LIMIT_FITS, 0 },
		{ { 10, 10, 10 }, { 1, 1000, true }, LIMIT_EXCEEDS_OWN, 10 },
		{ { 10, 10, 10 }, { 1, 1000, false }, LIMIT_FITS, 0 },
		{ { 50, 50, 9 }, { 1, 1000, true }, LIMIT_EXCEEDS_USER, 50 },
		{ { 49, 49, 9 }, { 1, 1000, true }, LIMIT_FITS, 0 },
		/* root can have taken more than others may; and sums do not wrap */
		{ { 90, 0, 0 }, { 1, 1000, false }, LIMIT_EXCEEDS_ALL, 75 },
		{ { 1, 1, 0 }, { UINT64_MAX, 1000, false }, LIMIT_EXCEEDS_ALL, 75 },
		{ { 1, 1, 0 }, { UINT64_MAX, 0, false }, LIMIT_EXCEEDS_ALL, 100 },
		{ { 1000, 1000, 0 }, { 0, 1000, false }, LIMIT_EXCEEDS_ALL, 75 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t limit = 0;

		assert_int_equal(limit_check(&l, &rows[i].has, &rows[i].wish, &limit),
				 rows[i].verdict);
		if (rows[i].verdict != LIMIT_FITS)
			assert_int_equal(limit, rows[i].limit);
	}
}

TEST(test_rate_limit_burst)
{
	static struct rate_limit e;
	uint64_t now = 1000, wait = 0;

	for (int i = 0; i < RATE_LIMIT_BURST; i++)
		assert_int_equal(rate_limit_acquire(&e, 1000, now, &wait), 0);
	assert_int_equal(rate_limit_acquire(&e, 1000, now, &wait), -EDQUOT);
	assert_int_equal(wait, RATE_LIMIT_NS);
	assert_int_equal(rate_limit_acquire(&e, 1000, now + RATE_LIMIT_NS / 4, &wait), -EDQUOT);
	assert_int_equal(wait, RATE_LIMIT_NS - RATE_LIMIT_NS / 4);
	/* other users and root are not affected */
	assert_int_equal(rate_limit_acquire(&e, 1001, now, &wait), 0);
	for (int i = 0; i < 10 * RATE_LIMIT_BURST; i++)
		assert_int_equal(rate_limit_acquire(&e, 0, now, &wait), 0);
	/* one per interval, and all of them after a while */
	now += RATE_LIMIT_NS;
	assert_int_equal(rate_limit_acquire(&e, 1000, now, &wait), 0);
	assert_int_equal(rate_limit_acquire(&e, 1000, now, &wait), -EDQUOT);
	now += RATE_LIMIT_BURST * RATE_LIMIT_NS;
	for (int i = 0; i < RATE_LIMIT_BURST; i++)
		assert_int_equal(rate_limit_acquire(&e, 1000, now, &wait), 0);
	assert_int_equal(rate_limit_acquire(&e, 1000, now, &wait), -EDQUOT);
}

/*
 * Many users take no more memory. When all places are in use, another user waits until one is free.
 */
TEST(test_rate_limit_users)
{
	static struct rate_limit e;
	uint64_t wait = 0;

	for (uid_t uid = 1; uid <= RATE_LIMIT_USERS; uid++)
		assert_int_equal(rate_limit_acquire(&e, uid, 1, &wait), 0);
	assert_int_equal(rate_limit_acquire(&e, 5000, 1, &wait), -EDQUOT);
	assert_int_equal(rate_limit_acquire(&e, 7, 1, &wait), 0);
	assert_int_equal(rate_limit_acquire(&e, 5000, 1 + RATE_LIMIT_NS, &wait), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit_check_table),
		cmocka_unit_test(test_rate_limit_burst),
		cmocka_unit_test(test_rate_limit_users),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
