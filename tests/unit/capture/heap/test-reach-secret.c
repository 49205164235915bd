/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process with memory that only it can read. Such memory can have a pointer to any block, so
 * nothing is known of blocks without another one.
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/heap/reach.h"
#include "model/event.h"
#include "tests/support/unit.h"

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

enum { PAGE = 4096, N_BLOCKS = 8, BLOCK_BYTES = 64 };

static uint8_t *memory; /* the blocks */

static int list_blocks(struct outbuf *to, void *unused)
{
	(void)unused;
	for (size_t i = 0; i < N_BLOCKS; i++) {
		const struct reach_block block = {
			.address = (uintptr_t)memory + (2 * i + 1) * BLOCK_BYTES,
			.size = BLOCK_BYTES,
			.birth_ns = 1,
		};
		int r = outbuf_append(to, &block, sizeof(block));

		if (r < 0)
			return r;
	}
	return 0;
}

/* A child inherits the mapping; NULL = the kernel has no such memory. */
static void *map_secret(void)
{
	_cleanup_close_ int fd = (int)syscall(SYS_memfd_secret, 0);
	void *secret = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, PAGE) == 0)
		secret = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return secret == MAP_FAILED ? NULL : secret;
}

/* Returns the number of blocks with each result. */
static struct reach_result search(size_t n[REACH_MAX])
{
	struct reach_request request = {
		.list_blocks = list_blocks,
		.blocks_max = N_BLOCKS,
		.hold = true,
		.timeout_ns = UINT64_C(60000000000),
	};
	struct reach_block *blocks;
	struct reach_result result;
	size_t n_blocks;

	request.pid = fork();
	if (request.pid == 0)
		for (;;)
			pause();
	assert_int_equal(reach_find(&request, &blocks, &n_blocks, &result), 0);
	kill(request.pid, SIGKILL);
	waitpid(request.pid, NULL, 0);
	assert_int_equal(n_blocks, N_BLOCKS);
	for (size_t i = 0; i < n_blocks; i++)
		n[blocks[i].reach]++;
	free(blocks);
	return result;
}

TEST(test_secret)
{
	size_t n[REACH_MAX] = { 0 }, n_without[REACH_MAX] = { 0 };
	struct reach_result result;
	void *secret;

	memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	result = search(n_without);
	assert_int_equal(result.secret_bytes, 0);
	assert_true(n_without[REACH_LOST] > 0);
	assert_int_equal(n_without[REACH_UNKNOWN], 0);
	secret = map_secret();
	if (!secret)
		skip();
	result = search(n);
	assert_int_equal(result.secret_bytes, PAGE);
	assert_int_equal(result.skipped_bytes, 0);
	assert_true(n[REACH_UNKNOWN] > 0);
	assert_int_equal(n[REACH_LOST] + n[REACH_INDIRECT], 0);
	munmap(secret, PAGE);
	munmap(memory, PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_secret) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
