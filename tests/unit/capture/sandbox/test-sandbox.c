/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The abilities and restrictions of a process that reads another user's file.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/sandbox/sandbox.h"
#include "tests/support/unit.h"
#include "tests/support/valgrind.h"

#define SECOND UINT64_C(1000000000)

enum { ANSWER_MAX = 1 << 20 };

/* Shared with all children that do not unmap it. */
static volatile int *shared;

static int file_with(const char *text, size_t n)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, n), n);
	return fd;
}

static int run(sandbox_fn fn, uint64_t timeout_ns, struct outbuf *answer)
{
	_cleanup_close_ int fd = file_with("some text", 9);

	return sandbox_run(fd, fn, timeout_ns, ANSWER_MAX, answer);
}

/* All children have ended. */
static void assert_no_children(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static int copy(const void *data, size_t n, struct outbuf *answer)
{
	return outbuf_append(answer, data, n);
}

TEST(test_answer)
{
	struct outbuf answer = { 0 };

	assert_int_equal(run(copy, 60 * SECOND, &answer), 0);
	assert_int_equal(answer.size, 9);
	assert_memory_equal(answer.data, "some text", 9);
	/* a second one afterwards */
	assert_int_equal(run(copy, 60 * SECOND, &answer), 0);
	assert_memory_equal(answer.data, "some textsome text", 18);
	assert_no_children();
	outbuf_deinit(&answer);
}

static int fill(const void *data, size_t n, struct outbuf *answer)
{
	uint8_t *to = outbuf_reserve(answer, *(const char *)data == 's' ? ANSWER_MAX : 0);

	for (size_t i = 0; to && i < ANSWER_MAX; i++)
		to[i] = (uint8_t)(i * 7 + n);
	return answer->error;
}

static int overfill(const void *data, size_t n, struct outbuf *answer)
{
	fill(data, n, answer);
	return outbuf_append(answer, data, 1);
}

TEST(test_long_answer)
{
	struct outbuf answer = { 0 };

	assert_int_equal(run(fill, 60 * SECOND, &answer), 0);
	assert_int_equal(answer.size, ANSWER_MAX);
	for (size_t i = 0; i < ANSWER_MAX; i++)
		assert_int_equal(answer.data[i], (uint8_t)(i * 7 + 9));
	outbuf_reset(&answer);
	assert_int_equal(run(overfill, 60 * SECOND, &answer), -EMSGSIZE);
	assert_int_equal(answer.size, 0);
	outbuf_deinit(&answer);
}

static int refuse(const void *data, size_t n, struct outbuf *answer)
{
	(void)data, (void)n;
	outbuf_append(answer, "x", 1);
	return -EDOM;
}

TEST(test_errors)
{
	_cleanup_close_ int directory = open("/", O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int empty = file_with("", 0);
	struct outbuf answer = { 0 };

	assert_int_equal(run(refuse, 60 * SECOND, &answer), -EDOM);
	assert_int_equal(sandbox_run(directory, copy, 60 * SECOND, ANSWER_MAX, &answer), -ENOEXEC);
	assert_int_equal(sandbox_run(empty, copy, 60 * SECOND, ANSWER_MAX, &answer), -ENOEXEC);
	assert_int_equal(answer.size, 0);
	assert_no_children();
}

static int hang(const void *data, size_t n, struct outbuf *answer)
{
	volatile uint64_t i = 0;

	(void)data, (void)n, (void)answer;
	while (true)
		i++;
	return 0;
}

TEST(test_timeout)
{
	struct outbuf answer = { 0 };

	assert_int_equal(run(hang, SECOND / 5, &answer), -ETIME);
	assert_int_equal(answer.size, 0);
	assert_no_children();
}

static int crash(const void *data, size_t n, struct outbuf *answer)
{
	(void)n, (void)answer;
	/* the memory after the page of the file is unmapped or read-only */
	*(volatile char *)data = 1;
	return 0;
}

static int leave(const void *data, size_t n, struct outbuf *answer)
{
	(void)data, (void)n, (void)answer;
	_exit(0);
}

static int lie(const void *data, size_t n, struct outbuf *answer)
{
	static const uint64_t head[2] = { 0, UINT64_MAX };

	(void)data, (void)n, (void)answer;
	_exit(write(0, head, sizeof(head)) < 0);
}

static int boast(const void *data, size_t n, struct outbuf *answer)
{
	static const uint64_t head[2] = { 0, 100 };

	(void)data, (void)n, (void)answer;
	_exit(write(0, head, sizeof(head)) < 0);
}

static int praise(const void *data, size_t n, struct outbuf *answer)
{
	static const uint64_t head[2] = { 1, 0 }; /* a positive error */

	(void)data, (void)n, (void)answer;
	_exit(write(0, head, sizeof(head)) < 0);
}

TEST(test_nonsense)
{
	static const sandbox_fn fns[] = { crash, leave, lie, boast, praise };
	struct outbuf answer = { 0 };

	for (size_t i = 0; i < sizeof(fns) / sizeof(fns[0]); i++) {
		assert_int_equal(run(fns[i], 60 * SECOND, &answer), -EBADMSG);
		assert_int_equal(answer.size, 0);
	}
	assert_no_children();
	outbuf_deinit(&answer);
}

/* Freeing much at once makes free() return memory, which must not require a forbidden call. */
static int free_much(const void *data, size_t n, struct outbuf *answer)
{
	static void *blocks[400];

	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		blocks[i] = malloc(50000);
		if (!blocks[i])
			return -ENOMEM;
		memset(blocks[i], 1, 50000);
	}
	for (size_t i = ARRAY_SIZE(blocks); i > 0; i--)
		free(blocks[i - 1]);
	return outbuf_append(answer, data, n);
}

TEST(test_memory_given_back)
{
	struct outbuf answer = { 0 };

	assert_int_equal(run(free_much, 60 * SECOND, &answer), 0);
	assert_int_equal(answer.size, 9);
	outbuf_deinit(&answer);
}

/* ---- restrictions ---- */

static int do_open(const void *data, size_t n, struct outbuf *answer)
{
	(void)data, (void)n;
	return open("/", O_RDONLY | O_CLOEXEC) < 0 ? -errno : outbuf_append(answer, "x", 1);
}

static int do_socket(const void *data, size_t n, struct outbuf *answer)
{
	(void)data, (void)n;
	return socket(AF_UNIX, SOCK_STREAM, 0) < 0 ? -errno : outbuf_append(answer, "x", 1);
}

static int do_fork(const void *data, size_t n, struct outbuf *answer)
{
	(void)data, (void)n;
	return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) < 0 ? -errno : outbuf_append(answer, "x", 1);
}

static int do_kill(const void *data, size_t n, struct outbuf *answer)
{
	(void)data, (void)n;
	return kill(getppid(), 0) < 0 ? -errno : outbuf_append(answer, "x", 1);
}

static int do_execute(const void *data, size_t n, struct outbuf *answer)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)data, (void)n;
	return p == MAP_FAILED ? -errno : outbuf_append(answer, "x", 1);
}

static int do_share(const void *data, size_t n, struct outbuf *answer)
{
	void *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	(void)data, (void)n;
	return p == MAP_FAILED ? -errno : outbuf_append(answer, "x", 1);
}

static int do_write_elsewhere(const void *data, size_t n, struct outbuf *answer)
{
	return write(2, data, n) < 0 ? -errno : outbuf_append(answer, "x", 1);
}

static int do_touch_shared(const void *data, size_t n, struct outbuf *answer)
{
	(void)data, (void)n;
	*shared = 1;
	return outbuf_append(answer, "x", 1);
}

TEST(test_forbidden)
{
	static const sandbox_fn fns[] = {
		do_open,  do_socket,          do_fork,        do_kill, do_execute,
		do_share, do_write_elsewhere, do_touch_shared
	};
	struct outbuf answer = { 0 };

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(shared, MAP_FAILED);
	for (size_t i = 0; i < sizeof(fns) / sizeof(fns[0]); i++) {
		assert_int_equal(run(fns[i], 60 * SECOND, &answer), -EBADMSG);
		assert_int_equal(answer.size, 0);
	}
	assert_int_equal(*shared, 0);
	munmap((void *)shared, 4096);
	outbuf_deinit(&answer);
}

static int eat(const void *data, size_t n, struct outbuf *answer)
{
	size_t eaten = 0;
	char *p;

	(void)data, (void)n;
	while (eaten < (size_t)16 << 30) {
		p = mmap(NULL, 1 << 24, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			return -errno;
		eaten += 1 << 24;
	}
	return outbuf_append(answer, "x", 1);
}

TEST(test_memory)
{
	struct outbuf answer = { 0 };

	assert_int_equal(run(eat, 60 * SECOND, &answer), -ENOMEM);
	assert_no_children();
	outbuf_deinit(&answer);
}

static int eat_half(const void *data, size_t n, struct outbuf *answer)
{
	void *p = mmap(NULL, n / 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)data;
	return p == MAP_FAILED ? -errno : outbuf_append(answer, "x", 1);
}

/* A sparse file costs nothing. Its size must not raise the limit. */
TEST(test_memory_of_large_file)
{
	_cleanup_close_ int fd = file_with("some text", 9);
	struct outbuf answer = { 0 };

	assert_int_equal(ftruncate(fd, (off_t)1 << 31), 0);
	assert_int_equal(sandbox_run(fd, eat_half, 60 * SECOND, ANSWER_MAX, &answer), -ENOMEM);
	assert_int_equal(ftruncate(fd, (off_t)1 << 20), 0);
	assert_int_equal(sandbox_run(fd, eat_half, 60 * SECOND, ANSWER_MAX, &answer), 0);
	assert_no_children();
	outbuf_deinit(&answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer),
		cmocka_unit_test(test_long_answer),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_memory_given_back),
		cmocka_unit_test(test_forbidden),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_memory_of_large_file),
	};

	if (under_valgrind()) {
		printf("skip: valgrind cannot follow where system calls are forbidden\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
