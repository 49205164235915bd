/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sessions without the option `ring_bytes` are within the limits of their users, on machines with
 * any number of CPUs.
 */
#include <bpf/libbpf.h>

#include "base/array.h"
#include "capture/programs/collector.h"
#include "capture/session/session.h"
#include "daemon/sessions/daemon-state.h"
#include "tests/support/unit.h"

static const struct limit limit = { LIMIT_RING_BYTES, LIMIT_RING_BYTES_ROOT,
				    LIMIT_RING_BYTES_PER_USER, LIMIT_RING_BYTES_OWN };

static int n_cpus;

/* (instead of libbpf's) */
int libbpf_num_possible_cpus(void)
{
	return n_cpus;
}

static enum limit_verdict check(uint64_t used, uint64_t wanted, uid_t uid, bool own)
{
	const struct limit_use use = { used, used, own ? used : 0 };
	uint64_t most;

	return limit_check(&limit, &use, &(struct limit_request){ wanted, uid, own }, &most);
}

TEST(test_defaults)
{
	static const struct {
		int n_cpus;
		/* A size that is too small would lose events */
		uint64_t ring_bytes, outside; /* in the service, and outside of it */
	} rows[] = {
		{ 1, 4 << 20, 4 << 20 },   { 2, 4 << 20, 4 << 20 },     { 24, 4 << 20, 4 << 20 },
		{ 32, 4 << 20, 4 << 20 },  { 48, 2 << 20, 4 << 20 },    { 64, 2 << 20, 4 << 20 },
		{ 128, 1 << 20, 2 << 20 }, { 256, 256 << 10, 1 << 20 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct session_options outside = { .categories = CATEGORIES_DEFAULT };
		const struct session_options o = {
			.categories = CATEGORIES_DEFAULT,
			.default_rings_max = LIMIT_RING_BYTES_DEFAULT,
		};
		uint64_t bytes;

		n_cpus = rows[i].n_cpus;
		bytes = session_ring_memory(&o);
		print_message("%d CPUs: %u MiB\n", n_cpus, (unsigned)(bytes >> 20));
		assert_int_equal(collector_choose_ring_bytes(&o), rows[i].ring_bytes);
		assert_int_equal(collector_choose_ring_bytes(&outside), rows[i].outside);
		assert_int_equal(check(0, bytes, 1000, true), LIMIT_FITS);
		/* (two of them) */
		assert_int_equal(check(bytes, bytes, 1000, false), LIMIT_FITS);
		assert_int_equal(check(bytes, bytes, 0, false), LIMIT_FITS);
	}
}

/*
 * The default of any number of CPUs: with the default categories, also for own processes; and with
 * more and more categories.
 */
TEST(test_all)
{
	for (n_cpus = 1; n_cpus <= 256; n_cpus++)
		for (uint32_t categories = CATEGORIES_DEFAULT;;
		     categories = categories << 1 | CATEGORIES_DEFAULT) {
			const struct session_options o = {
				.categories = categories,
				.default_rings_max = LIMIT_RING_BYTES_DEFAULT,
			};

			assert_int_equal(check(0, session_ring_memory(&o), 1000, false),
					 LIMIT_FITS);
			if (categories == CATEGORIES_DEFAULT)
				assert_int_equal(check(0, session_ring_memory(&o), 1000, true),
						 LIMIT_FITS);
			if (categories >> 31)
				break;
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
