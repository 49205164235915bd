/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page faults for which no program runs are counted, also if their CPU goes offline. (It only seems
 * so here.) The program of this test counts none of its runs, so all faults count as skipped.
 */
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "capture/programs/cpus.h"
#include "capture/programs/fault-events.h"
#include "tests/support/unit.h"

enum { FAULTS = 100, PAGE = 4096, CPUS_MAX = 4096 };

static int prog_fd, runs_fd, n_cpus;

/* Causes FAULTS page faults at least. */
static void cause_faults(void)
{
	char *at = mmap(NULL, FAULTS * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	assert_true(at != MAP_FAILED);
	assert_int_equal(madvise(at, FAULTS * PAGE, MADV_NOHUGEPAGE), 0);
	for (size_t i = 0; i < FAULTS; i++)
		*(volatile char *)(at + i * PAGE) = 1;
	assert_int_equal(munmap(at, FAULTS * PAGE), 0);
}

/* The faults of a CPU before it went offline are counted. */
TEST(test_offline)
{
	_cleanup_(fault_events_freep) struct fault_events *f = NULL;
	static const bool none[CPUS_MAX];
	uint64_t n;

	assert_int_equal(fault_events_new(prog_fd, runs_fd, (unsigned)n_cpus, &f), 0);
	cause_faults();
	fault_events_set_online(f, none);
	n = fault_events_skipped(f);
	assert_true(n >= FAULTS);
	cause_faults();
	fault_events_stop(f);
	assert_int_equal(fault_events_skipped(f), n);
}

/* A CPU that gets no events has lost at least one fault. */
TEST(test_refused)
{
	_cleanup_(fault_events_freep) struct fault_events *f = NULL;
	static const bool none[CPUS_MAX];
	static bool online[CPUS_MAX];
	struct rlimit limit, low;
	unsigned n_online = 0;
	uint64_t n;

	cpus_online(online, (unsigned)n_cpus);
	for (int cpu = 0; cpu < n_cpus; cpu++)
		n_online += online[cpu];
	assert_int_equal(fault_events_new(prog_fd, runs_fd, (unsigned)n_cpus, &f), 0);
	fault_events_set_online(f, none);
	n = fault_events_skipped(f);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	low = (struct rlimit){ .rlim_cur = 0, .rlim_max = limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	fault_events_set_online(f, online);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(fault_events_skipped(f), n + n_online);
	/* The next check tries again. */
	fault_events_set_online(f, online);
	cause_faults();
	fault_events_stop(f);
	assert_true(fault_events_skipped(f) >= n + n_online + FAULTS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_offline),
		cmocka_unit_test(test_refused),
	};
	/* r0 = 0; exit */
	static const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	n_cpus = libbpf_num_possible_cpus();
	prog_fd = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "kymo_test", "GPL", code,
				ARRAY_SIZE(code), NULL);
	runs_fd = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "kymo_test", sizeof(uint32_t),
				 sizeof(uint64_t), 1, NULL);
	if (prog_fd < 0 || runs_fd < 0 || n_cpus <= 0 || n_cpus > CPUS_MAX) {
		fprintf(stderr, "cannot load a program for the events of faults\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
