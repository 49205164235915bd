/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The search in a process that runs, is stopped or ends, with the data of its threads, in large
 * memory, and within a time limit.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "capture/heap/reach-roots.h"
#include "capture/heap/reach-threads.h"
#include "model/event.h"
#include "tests/support/fixtures/reach-child.h"
#include "tests/support/unit.h"
#include "tests/support/valgrind.h"

/* The search of a process with many instances ends at its time limit, while its data is read. */
TEST(test_epoll_timeout)
{
	struct outbuf words = { 0 };

	begin_child(false);
	plant_in_epoll(block(0));
	plant_in_epoll(block(1));
	assert_int_equal(reach_roots_read_kernel(child, 0, &words), -ETIME);
	assert_true(words.size <= sizeof(uint64_t)); /* not even its first instance is read on */
	outbuf_reset(&words);
	assert_int_equal(reach_roots_read_kernel(child, UINT64_MAX, &words), 0);
	assert_int_equal(words.size, 2 * sizeof(uint64_t));
	outbuf_deinit(&words);
	end_child();
}

/* Data below the stack pointer is old, unless the stack pointer is unknown. */
TEST(test_below_stack_pointer)
{
	struct rec_registers thread = { 0 };
	uint8_t reach[N_BLOCKS];
	uint64_t sp;

	begin_child(false);
	sp = (uint64_t)(uintptr_t)places->thread_stack;
	plant((void *)(uintptr_t)((sp & ~UINT64_C(4095)) - 3 * 4096), block(0));
	plant((void *)(uintptr_t)sp, block(1));
	assert_int_equal(find_with(&(struct reach_request){ .hold = true }, reach), 0);
	assert_int_equal(reach[0], REACH_LOST);
	assert_int_equal(reach[1], REACH_REACHABLE);
	assert_int_equal(find_with(&(struct reach_request){ 0 }, reach), 0);
	assert_int_equal(reach[0], REACH_REACHABLE);
	thread.sp = sp;
	thread.tls = (uint64_t)(uintptr_t)places->tls;
	known_thread = &thread;
	assert_int_equal(find_with(&(struct reach_request){ 0 }, reach), 0);
	assert_int_equal(reach[0], REACH_LOST);
	assert_int_equal(reach[1], REACH_REACHABLE);
	thread.running = 1;
	assert_int_equal(find_with(&(struct reach_request){ 0 }, reach), 0);
	assert_int_equal(reach[0], REACH_REACHABLE);
	known_thread = NULL;
	end_child();
}

/* The kernel alone can know a stack for signals, and glibc's table of thread-local memory is not
 * pointed to at its begin. */
TEST(test_thread_memory)
{
	struct rec_registers thread = { 0 };
	uint8_t reach[N_BLOCKS];
	uint64_t descriptor;

	begin_child(false);
	descriptor = ((uint64_t)(uintptr_t)places->thread_stack & ~UINT64_C(4095)) - 3 * 4096;
	plant((void *)(uintptr_t)descriptor, descriptor);
	plant((void *)(uintptr_t)(descriptor + 8), block(0) + 16);
	thread.altstack = block(1);
	known_thread = &thread;
	for (unsigned hold = 0; hold < 2; hold++) {
		thread.tls = 0;
		assert_int_equal(find_with(&(struct reach_request){ .hold = hold }, reach), 0);
		assert_int_equal(reach[1], REACH_EPOLL);
	}
	assert_int_equal(find_with(&(struct reach_request){ 0 }, reach), 0);
	assert_int_equal(reach[0], REACH_POSSIBLE);
	thread.tls = descriptor;
	/* musl has no length there, but the end of the previous block. */
	for (unsigned i = 0; i < 3; i++) {
		plant((void *)(uintptr_t)block(0), (uint64_t[]){ 0, descriptor, 1 << 21 }[i]);
		assert_int_equal(find_with(&(struct reach_request){ 0 }, reach), 0);
		assert_int_equal(reach[0], REACH_POSSIBLE);
	}
	plant((void *)(uintptr_t)block(0), 16);
	assert_int_equal(find_with(&(struct reach_request){ 0 }, reach), 0);
	assert_int_equal(reach[0], REACH_REACHABLE);
	known_thread = NULL;
	end_child();
}

/* Registers of a thread that runs and never enters the kernel. */
TEST(test_registers)
{
	struct rec_registers thread = { .n = 2 };
	uint8_t reach[N_BLOCKS];
	int ticks;

#if !defined(__x86_64__)
	skip();
#endif
	begin_child(true);
	places->in_register = block(0);
	for (int i = 0; i < 2; i++)
		for (ticks = places->ticks; places->ticks < ticks + 1000;)
			usleep(1000);
	places->in_register = 0;
	assert_int_equal(find_with(&(struct reach_request){ .hold = true }, reach), 0);
	assert_int_equal(reach[0], REACH_REACHABLE);
	assert_int_equal(reach[1], REACH_LOST);
	assert_int_equal(find_with(&(struct reach_request){ 0 }, reach), 0);
	assert_int_equal(reach[0], REACH_LOST); /* its registers are unknown */
	thread.registers[0] = block(0);
	thread.registers[1] = block(1) + 1;
	known_thread = &thread;
	assert_int_equal(find_with(&(struct reach_request){ 0 }, reach), 0);
	assert_int_equal(reach[0], REACH_REACHABLE);
	assert_int_equal(reach[1], REACH_POSSIBLE);
	known_thread = NULL;
	/* It was released. */
	for (ticks = places->ticks; places->ticks == ticks;)
		usleep(1000);
	end_child();
}

/* Reserved memory that was never touched is not allocated by the search, and takes no time. */
TEST(test_untouched)
{
	const size_t bytes = (size_t)1 << 40;
	void *reserved = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	unsigned long before = 0, after = 0;
	uint8_t reach[N_BLOCKS];
	char path[48];
	FILE *f;

	assert_ptr_not_equal(reserved, MAP_FAILED);
	begin_child(false);
	plant((uint8_t *)reserved + bytes / 2, block(0));
	snprintf(path, sizeof(path), "/proc/%d/statm", child);
	f = fopen(path, "re");
	assert_int_equal(fscanf(f, "%*u %lu", &before), 1);
	fclose(f);
	assert_int_equal(find_with(&(struct reach_request){ .hold = true }, reach), 0);
	assert_int_equal(reach[0], REACH_REACHABLE);
	f = fopen(path, "re");
	assert_int_equal(fscanf(f, "%*u %lu", &after), 1);
	fclose(f);
	assert_true(after <= before + 64);
	end_child();
	munmap(reserved, bytes);
}

TEST(test_gone)
{
	uint8_t reach[N_BLOCKS];
	siginfo_t ended;

	begin_child(false);
	kill(child, SIGKILL);
	/* A zombie without memory, and then no process at all. */
	assert_int_equal(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
	assert_int_equal(find_with(&(struct reach_request){ 0 }, reach), -ESRCH);
	assert_int_equal(find_with(&(struct reach_request){ .hold = true }, reach), -ESRCH);
	end_child();
	assert_int_equal(find_with(&(struct reach_request){ 0 }, reach), -ESRCH);
	assert_int_equal(find_with(&(struct reach_request){ .hold = true }, reach), -ESRCH);
}

/* Stopped by another process: it is searched, and stays stopped. */
TEST(test_stopped)
{
	uint8_t reach[N_BLOCKS];
	int status;

	begin_child(false);
	plant(&global, block(0));
	kill(child, SIGSTOP);
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	assert_true(WIFSTOPPED(status));
	expect_reach("rlllllll");
	kill(child, SIGCONT);
	assert_int_equal(waitpid(child, &status, WCONTINUED), child);
	assert_true(WIFCONTINUED(status));
	/* Traced by another process, so it cannot be stopped: it is searched while it runs. */
	assert_int_equal(ptrace(PTRACE_SEIZE, child, NULL, NULL), 0);
	assert_int_equal(find_with(&(struct reach_request){ .hold = true }, reach), 0);
	assert_int_equal(reach[0], REACH_REACHABLE);
	assert_int_equal(reach[1], REACH_LOST);
	end_child();
}

/* Out of time. */
TEST(test_timeout)
{
	uint8_t reach[N_BLOCKS];

	begin_child(false);
	assert_int_equal(find_with(&(struct reach_request){ .timeout_ns = 1 }, reach), -ETIME);
	end_child();
}

/* If the stopping process dies, the child continues. */
TEST(test_holder_dies)
{
	int ticks, status;
	pid_t holder;

	begin_child(true);
	holder = fork();
	if (holder == 0) {
		struct outbuf threads = { 0 };

		_exit(reach_hold(child, UINT64_MAX, &threads) == 0 &&
				      threads.size == 3 * sizeof(struct rec_registers)
			      ? 0
			      : 1);
	}
	assert_int_equal(waitpid(holder, &status, 0), holder);
	assert_int_equal(status, 0);
	for (ticks = places->ticks; places->ticks == ticks;)
		usleep(1000);
	end_child();
}

/* Makes the kernel refuse PAGEMAP_SCAN, as before Linux 6.7, for this process and its children. */
static void refuse_scans(void)
{
	const uint32_t scan = _IOC(_IOC_READ | _IOC_WRITE, 'f', 16, 96);
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, scan, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { ARRAY_SIZE(filter), filter };

	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* A read-only mapping of BYTES, of which one page has the address of block 0 if it is WRITTEN. */
static void expect_large(size_t bytes, bool written, const char *expected)
{
	uint8_t *large =
		mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(large, MAP_FAILED);
	begin_child(false);
	if (written)
		plant_unwritable(large + bytes / 2, block(0));
	plant(&global, block(1));
	expect_reach(expected);
	end_child();
	munmap(large, bytes);
}

/*
 * Without PAGEMAP_SCAN, a large unwritable mapping is searched if it has pages, unless that would
 * take too long. Then nothing counts as lost. The last test, since the kernel refuses
 * scans from here on.
 */
TEST(test_large_unwritable)
{
#ifdef __SANITIZE_ADDRESS__
	skip(); /* without scans, the terabytes that the sanitizer reserves take too long */
#endif
	refuse_scans();
	expect_large((size_t)2 << 30, false, "lrllllll");
	expect_large((size_t)2 << 30, true, "rrllllll");
	expect_large((size_t)1 << 40, false, "lrllllll");
	expect_large((size_t)1 << 40, true, "?r??????");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_epoll_timeout), cmocka_unit_test(test_below_stack_pointer),
		cmocka_unit_test(test_thread_memory), cmocka_unit_test(test_registers),
		cmocka_unit_test(test_untouched),     cmocka_unit_test(test_gone),
		cmocka_unit_test(test_stopped),       cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_holder_dies),   cmocka_unit_test(test_large_unwritable),
	};

	if (under_valgrind()) {
		printf("skip: valgrind's own threads and memory are not those of the program\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
