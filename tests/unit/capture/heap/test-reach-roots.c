/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data that the kernel keeps for a process, and the kinds of its mappings: of this process. */
#include <linux/io_uring.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/outbuf.h"
#include "capture/heap/reach-roots.h"
#include "tests/support/unit.h"

enum { PAGE = 4096 };

#define WORD  UINT64_C(0x1234567812345678)
#define OTHER UINT64_C(0x8765432187654321)

/* How often WORD is among the data in the kernel. */
static unsigned count_words(uint64_t word)
{
	struct outbuf words = { 0 };
	const uint64_t *list;
	unsigned n = 0;

	assert_int_equal(reach_roots_read_kernel(getpid(), UINT64_MAX, &words), 0);
	list = (const uint64_t *)words.data;
	for (size_t i = 0; i < words.size / sizeof(*list); i++)
		n += list[i] == word;
	outbuf_deinit(&words);
	return n;
}

TEST(test_timer)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	timer_t timer;

	if (access("/proc/self/timers", R_OK) < 0)
		skip();
	event.sigev_value.sival_ptr = (void *)(uintptr_t)WORD;
	assert_int_equal(count_words(WORD), 0);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	assert_int_equal(count_words(WORD), 1);
	timer_delete(timer);
	assert_int_equal(count_words(WORD), 0);
}

/* The root that begins at ADDRESS. */
static struct root find_root(const void *address)
{
	struct outbuf roots = { 0 };
	struct root found = { 0 };
	const struct root *list;

	assert_int_equal(reach_roots_read(getpid(), &roots), 0);
	list = (const struct root *)roots.data;
	for (size_t i = 0; i < roots.size / sizeof(*list); i++)
		if (list[i].from == (uintptr_t)address)
			found = list[i];
	outbuf_deinit(&roots);
	return found;
}

/* A ring's buffers are in use as long as the ring exists. */
TEST(test_ring)
{
	struct io_uring_params params = { 0 };
	int fd = (int)syscall(SYS_io_uring_setup, 1, &params);
	void *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec buffers[2] = { { memory, PAGE / 2 }, { (char *)memory + PAGE / 2, 100 } };

	if (fd < 0) {
		print_message("skip: no io_uring\n");
		skip();
	}
	assert_ptr_not_equal(memory, MAP_FAILED);
	if (syscall(SYS_io_uring_register, fd, IORING_REGISTER_BUFFERS, buffers, 2) == 0) {
		assert_int_equal(count_words((uintptr_t)buffers[0].iov_base), 1);
		assert_int_equal(count_words((uintptr_t)buffers[1].iov_base), 1);
	}
	close(fd);
	assert_int_equal(count_words((uintptr_t)buffers[0].iov_base), 0);
	munmap(memory, PAGE);
}

TEST(test_guard)
{
	uint8_t *memory =
		mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(mprotect(memory + PAGE, PAGE, PROT_NONE), 0);
	assert_true(find_root(memory + PAGE).is_guard);
	assert_int_equal(find_root(memory + PAGE).to, (uintptr_t)(memory + 2 * PAGE));
	assert_false(find_root(memory + 2 * PAGE).is_guard);
	assert_true(find_root(memory + 2 * PAGE).is_anonymous);
	munmap(memory, 4 * PAGE);
}

TEST(test_secret)
{
	int fd = (int)syscall(SYS_memfd_secret, 0);
	void *memory;

	if (fd < 0) {
		print_message("skip: no secret memory\n");
		skip();
	}
	assert_int_equal(ftruncate(fd, PAGE), 0);
	memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_true(find_root(memory).is_secret);
	assert_false(find_root(memory).is_anonymous);
	munmap(memory, PAGE);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timer),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_guard),
		cmocka_unit_test(test_secret),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
