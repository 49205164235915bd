/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A real map, without programs. The process ids are those of this process, and of a child that has
 * ended.
 */
#include "capture/heap/shared-programs.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "tests/support/unit.h"

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

/* The id of a process that has ended. */
static uint32_t ended_pid(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return (uint32_t)pid;
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

/* If the map was full, only programs of that time are doubtful, and ended ones make room. */
TEST(test_full)
{
	const uint32_t pid = (uint32_t)getpid();
	uint32_t ended[ROOM - 1];

	if (shared.fd == -EPERM)
		skip();
	put(pid, 100, 2);
	for (unsigned i = 0; i < ROOM - 1; i++) {
		ended[i] = ended_pid();
		put(ended[i], 100, 2);
	}
	assert_false(shared_programs_may_have(&shared, 1));
	n_missed++;
	assert_true(shared_programs_may_have(&shared, 1));
	for (unsigned i = 0; i < ROOM - 1; i++)
		assert_false(is_in_map(ended[i]));
	assert_true(is_in_map(pid));
	assert_true(has(1, 100, 2));
	assert_false(has(1, clock_boot_ns(), 2));
	assert_true(has(pid, 100, 2));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_earlier_program),
		CASE(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
