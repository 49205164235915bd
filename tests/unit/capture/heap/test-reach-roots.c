/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data that the kernel keeps for a process, and the kinds of its mappings: of this process. */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
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
	if (syscall(SYS_io_uring_register, fd, IORING_REGISTER_BUFFERS, buffers, 2) < 0) {
		print_message("skip: no buffers of an io_uring: %s\n", strerror(errno));
		skip();
	}
	assert_int_equal(count_words((uintptr_t)buffers[0].iov_base), 1);
	assert_int_equal(count_words((uintptr_t)buffers[1].iov_base), 1);
	close(fd);
	assert_int_equal(count_words((uintptr_t)buffers[0].iov_base), 0);
	munmap(memory, PAGE);
}

struct registering {
	int ring;
	const struct iovec *buffers;
	long result;
};

static void *register_buffers(void *userdata)
{
	struct registering *r = userdata;

	r->result = syscall(SYS_io_uring_register, r->ring, IORING_REGISTER_BUFFERS, r->buffers, 1);
	return NULL;
}

/*
 * While a task holds the lock of a ring, the kernel does not list its buffers: the answer is
 * unknown, not that there are none. Here, a page that this test serves makes it keep the lock.
 */
TEST(test_locked_ring)
{
	struct io_uring_params params = { 0 };
	int ring = (int)syscall(SYS_io_uring_setup, 1, &params);
	int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	uint8_t *memory =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register served = {
		.range = { (uintptr_t)memory, PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	uint8_t page[PAGE] = { 0 };
	struct uffdio_copy copy = { .dst = (uintptr_t)memory, .src = (uintptr_t)page, .len = PAGE };
	struct registering registering = { ring, (const struct iovec *)(void *)memory, -1 };
	const struct iovec buffer = { memory + PAGE, 100 };
	struct outbuf words = { 0 };
	struct uffd_msg fault;
	pthread_t thread;

	if (ring < 0 || faults < 0 || ioctl(faults, UFFDIO_API, &api) < 0) {
		print_message("skip: no io_uring, or no userfaultfd\n");
		skip();
	}
	assert_ptr_not_equal(memory, MAP_FAILED);
	memcpy(page, &buffer, sizeof(buffer));
	assert_int_equal(ioctl(faults, UFFDIO_REGISTER, &served), 0);
	assert_int_equal(pthread_create(&thread, NULL, register_buffers, &registering), 0);
	assert_int_equal(read(faults, &fault, sizeof(fault)), sizeof(fault));
	assert_int_equal(reach_roots_read_kernel(getpid(),
						 clock_read_ns(CLOCK_MONOTONIC) + 50000000, &words),
			 -ETIME);
	outbuf_deinit(&words);
	assert_int_equal(ioctl(faults, UFFDIO_COPY, &copy), 0);
	pthread_join(thread, NULL);
	if (registering.result == 0)
		assert_int_equal(count_words((uintptr_t)buffer.iov_base), 1);
	close(ring);
	close(faults);
	munmap(memory, 2 * PAGE);
}

/* A table without buffers is complete. */
TEST(test_empty_ring)
{
	struct io_uring_params params = { 0 };
	struct io_uring_rsrc_register empty = { .nr = 3, .flags = IORING_RSRC_REGISTER_SPARSE };
	int fd = (int)syscall(SYS_io_uring_setup, 1, &params);

	if (fd < 0) {
		print_message("skip: no io_uring\n");
		skip();
	}
	assert_int_equal(count_words(WORD), 0);
	if (syscall(SYS_io_uring_register, fd, IORING_REGISTER_BUFFERS2, &empty, sizeof(empty)) < 0)
		print_message("no empty table of buffers: %s\n", strerror(errno));
	assert_int_equal(count_words(WORD), 0);
	close(fd);
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
		cmocka_unit_test(test_timer),       cmocka_unit_test(test_ring),
		cmocka_unit_test(test_locked_ring), cmocka_unit_test(test_empty_ring),
		cmocka_unit_test(test_guard),       cmocka_unit_test(test_secret),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
