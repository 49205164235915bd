/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A real map, without programs.
 */
#include "capture/heap/shared-programs.h"

#include <errno.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "tests/support/unit.h"

#define SECOND_NS UINT64_C(1000000000)

enum { ROOM = 8 };

static __u64 n_missed;
static struct shared_programs shared;

FIXTURE(set_up)
{
	n_missed = 0;
	shared = (struct shared_programs){
		.fd = bpf_map_create(BPF_MAP_TYPE_HASH, "shared", sizeof(uint32_t),
				     sizeof(struct memory_program), ROOM, NULL),
		.n_missed = &n_missed,
	};
	*state = (void *)(intptr_t)shared.fd;
	return 0;
}

FIXTURE(tear_down)
{
	if (shared.fd >= 0)
		close(shared.fd);
	return 0;
}

static void put(uint32_t pid, uint64_t start_ns, uint64_t exec_id)
{
	const struct memory_program program = { start_ns, exec_id };

	assert_int_equal(bpf_map_update_elem(shared.fd, &pid, &program, BPF_NOEXIST), 0);
}

static bool is_in_map(uint32_t pid)
{
	struct memory_program program;

	return bpf_map_lookup_elem(shared.fd, &pid, &program) == 0;
}

/* The id of a process that does not exist: the kernel's ids are below PID_MAX_LIMIT, 4 << 20. */
static uint32_t gone_pid(unsigned i)
{
	return (UINT32_C(1) << 23) + i;
}

static bool has(uint32_t pid, uint64_t start_ns, uint64_t exec_id)
{
	return shared_programs_has(&shared, pid, &(struct memory_program){ start_ns, exec_id });
}

/* An entry of an earlier program does not count, and does not stay. */
TEST(test_earlier_program)
{
	static const struct {
		uint64_t start_ns, exec_id;
		bool has;
	} rows[] = { { 100, 2, true }, { 101, 2, false }, { 100, 3, false } };
	const uint32_t pid = (uint32_t)getpid();

	if (shared.fd == -EPERM)
		skip();
	assert_false(shared_programs_may_have(&shared, pid));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		put(pid, 100, 2);
		assert_true(shared_programs_may_have(&shared, pid));
		assert_true(shared_programs_has(&shared, pid, NULL));
		assert_int_equal(has(pid, rows[i].start_ns, rows[i].exec_id), rows[i].has);
		assert_int_equal(is_in_map(pid), rows[i].has);
		bpf_map_delete_elem(shared.fd, &pid);
	}
}

static void put_gone(void)
{
	for (unsigned i = 0; i < ROOM - 1; i++)
		put(gone_pid(i), 100, 2);
}

static unsigned n_gone_in_map(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ROOM - 1; i++)
		n += is_in_map(gone_pid(i));
	return n;
}

/* If the map was full, only programs of that time are doubtful, and ended ones make room. */
TEST(test_full)
{
	const uint32_t pid = (uint32_t)getpid();

	if (shared.fd == -EPERM)
		skip();
	put(pid, 100, 2);
	put_gone();
	assert_false(shared_programs_may_have(&shared, 1));
	n_missed++;
	assert_true(shared_programs_may_have(&shared, 1));
	assert_int_equal(n_gone_in_map(), 0);
	assert_true(is_in_map(pid));
	assert_true(has(1, 100, 2));
	assert_false(has(1, clock_boot_ns(), 2));
	assert_true(has(pid, 100, 2));
}

/* A full map is swept once per second, however many programs do not fit. */
TEST(test_sweep_is_rare)
{
	uint64_t swept_ns;

	if (shared.fd == -EPERM)
		skip();
	n_missed++;
	assert_true(shared_programs_may_have(&shared, 1));
	put_gone();
	/* (as if the next programs did not fit in the same second) */
	swept_ns = shared.swept_ns = clock_boot_ns() + SECOND_NS;
	for (unsigned i = 0; i < 3; i++) {
		n_missed++;
		assert_true(shared_programs_may_have(&shared, 1));
	}
	assert_int_equal(n_gone_in_map(), ROOM - 1);
	assert_int_equal(shared.swept_ns, swept_ns);
	shared.swept_ns = clock_boot_ns() - SECOND_NS;
	n_missed++;
	assert_true(shared_programs_may_have(&shared, 1));
	assert_int_equal(n_gone_in_map(), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_earlier_program),
		CASE(test_full),
		CASE(test_sweep_is_rare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
