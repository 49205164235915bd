/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sessions without the option `ring_bytes` are within the limits of their users, on machines with
 * any number of CPUs. The limits of small machines leave room for default sessions.
 */
#include <bpf/libbpf.h>

#include "base/array.h"
#include "capture/programs/collector.h"
#include "capture/session/session.h"
#include "daemon/sessions/limits.h"
#include "tests/support/unit.h"

#define GIB (UINT64_C(1) << 30)

static uint64_t memory = 64 * GIB;
static int n_cpus;

/* (instead of libbpf's) */
int libbpf_num_possible_cpus(void)
{
	return n_cpus;
}

static enum limit_verdict check(uint64_t used, uint64_t wanted, uid_t uid, bool own)
{
	const struct limit limit = limits_of(LIMITED_RINGS, memory);
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
			.default_rings_max = limits_default_rings(memory),
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
				.default_rings_max = limits_default_rings(memory),
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

/* A default session, also on machines with little memory and many possible CPUs. */
TEST(test_small)
{
	for (memory = GIB / 2; memory <= 16 * GIB; memory += GIB / 2)
		for (n_cpus = 1; n_cpus <= 1024; n_cpus += n_cpus < 32 ? 1 : 16) {
			const struct session_options o = {
				.categories = CATEGORIES_DEFAULT,
				.default_rings_max = limits_default_rings(memory),
			};
			uint64_t bytes = session_ring_memory(&o);

			if (check(0, bytes, 1000, true) != LIMIT_FITS ||
			    check(bytes, bytes, 1000, false) != LIMIT_FITS ||
			    check(bytes, bytes, 0, false) != LIMIT_FITS)
				fail_msg("%u MiB, %d CPUs: %u MiB", (unsigned)(memory >> 20),
					 n_cpus, (unsigned)(bytes >> 20));
			/* (rings of many CPUs cannot be small, but they must not be larger) */
			if (n_cpus <= 8 && (uint64_t)n_cpus * GIB <= 4 * memory)
				assert_true(limits_of(LIMITED_RINGS, memory).all <= 2 * GIB);
			if (limits_of(LIMITED_RINGS, memory).own == bytes)
				assert_int_equal(collector_choose_ring_bytes(&o), RING_BYTES_MIN);
		}
	memory = 64 * GIB;
	n_cpus = 4;
}

/* Two sessions of a user, with the defaults; flight recorders with a sixteenth of the memory. */
TEST(test_two_sessions)
{
	static const struct {
		enum limited what;
		uint64_t by_default;
	} rows[] = {
		{ LIMITED_BLOCKS, MEMORY_BLOCKS_DEFAULT },
		{ LIMITED_TABLES, STACK_TABLES_DEFAULT },
		{ LIMITED_BUFFERS, 32 << 20 },
		{ LIMITED_FLIGHTS, FLIGHT_BYTES_DEFAULT },
	};

	n_cpus = 4;
	for (uint64_t bytes = GIB / 2; bytes <= 16 * GIB; bytes += GIB / 4) {
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			const struct limit is = limits_of(rows[i].what, bytes);

			assert_true(is.user >= 2 * rows[i].by_default);
			assert_true(is.own >= rows[i].by_default);
			assert_true(is.user <= is.all - is.root && is.own <= is.user);
		}
		if (bytes >= 2 * GIB)
			assert_true(limits_of(LIMITED_FLIGHTS, bytes).user >=
				    (bytes < 4 * GIB ? bytes : 4 * GIB) / 16);
	}
}

TEST(test_shares)
{
	static const struct {
		uint64_t memory;
		enum limited what;
		struct limit limit;
	} rows[] = {
		{ UINT64_MAX, LIMITED_RINGS, { 2 * GIB, GIB / 2, GIB, GIB / 2 } },
		{ 15 * GIB, LIMITED_TABLES, { 2 * GIB, GIB / 2, GIB / 2, GIB / 4 } },
		{ 15 * GIB, LIMITED_BLOCKS, { 100000000, 25000000, 50000000, 25000000 } },
		{ 15 * GIB / 2, LIMITED_RINGS, { GIB, GIB / 4, GIB / 2, GIB / 4 } },
		{ 15 * GIB / 2, LIMITED_BLOCKS, { 50000000, 12500000, 25000000, 12500000 } },
		/* (two default sessions) */
		{ 2 * GIB, LIMITED_TABLES, { 4 * GIB / 15, 4 * GIB / 60, GIB / 8, GIB / 16 } },
		{ 15 * GIB / 4, LIMITED_TABLES, { GIB / 2, GIB / 8, GIB / 8, GIB / 16 } },
		{ 15 * GIB, LIMITED_BUFFERS, { GIB, GIB / 4, GIB / 2, GIB / 4 } },
		{ 15 * GIB / 2, LIMITED_BUFFERS, { GIB / 2, GIB / 8, GIB / 4, GIB / 8 } },
		{ 4 * GIB, LIMITED_FLIGHTS, { GIB, GIB / 4, GIB / 4, GIB / 8 } },
		{ 2 * GIB, LIMITED_FLIGHTS, { GIB / 2, GIB / 8, GIB / 8, GIB / 16 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct limit is = limits_of(rows[i].what, rows[i].memory);

		assert_int_equal(is.all, rows[i].limit.all);
		assert_int_equal(is.root, rows[i].limit.root);
		assert_int_equal(is.user, rows[i].limit.user);
		assert_int_equal(is.own, rows[i].limit.own);
	}
	for (enum limited what = LIMITED_RINGS; what <= LIMITED_FLIGHTS; what++) {
		const struct limit is = limits_of(what, 0), two = limits_of(what, 2 * GIB);

		assert_memory_equal(&is, &two, sizeof(is));
		assert_true(is.user <= is.all - is.root && is.own <= is.user);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_all),
		cmocka_unit_test(test_small),    cmocka_unit_test(test_two_sessions),
		cmocka_unit_test(test_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
