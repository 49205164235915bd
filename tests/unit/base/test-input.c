/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The buffer that all files are read through, with each kind of source.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/input.h"
#include "tests/support/unit.h"

enum { LARGE = 3 << 20 };

TEST(test_memory)
{
	_cleanup_(input_deinit) struct input in;

	assert_int_equal(input_init_memory(&in, "0123456789", 10), 0);
	assert_int_equal(input_need(&in, 4), 1);
	assert_memory_equal(input_consume(&in, 4), "0123", 4);
	assert_int_equal(in.offset, 4);
	assert_int_equal(input_skip(&in, 3), 1);
	assert_int_equal(in.offset, 7);
	/* Bytes stay in the buffer when more are requested. */
	assert_int_equal(input_need(&in, 4), 0);
	assert_int_equal(input_ready(&in), 3);
	assert_memory_equal(input_consume(&in, 3), "789", 3);
	assert_int_equal(input_need(&in, 1), 0);
	assert_int_equal(input_skip(&in, 1), 0);
	assert_int_equal(input_skip(&in, 0), 1);
}

TEST(test_empty)
{
	_cleanup_(input_deinit) struct input in;

	assert_int_equal(input_init_memory(&in, "", 0), 0);
	assert_int_equal(input_need(&in, 1), 0);
	assert_true(in.eof);
}

/* Gives single bytes: their numbers. */
static ssize_t drip(void *userdata, void *to, size_t n)
{
	uint32_t *left = userdata;

	if (n == 0 || *left == 0)
		return 0;
	*(uint8_t *)to = (uint8_t)-- * left;
	return 1;
}

TEST(test_source)
{
	_cleanup_(input_deinit) struct input in;
	uint32_t left = 20;

	assert_int_equal(input_init_source(&in, drip, &left), 0);
	assert_int_equal(input_need(&in, 8), 1);
	assert_int_equal(left, 12);
	assert_int_equal(((const uint8_t *)input_consume(&in, 8))[7], 12);
	assert_int_equal(input_skip(&in, 30), 0);
	assert_int_equal(in.offset, 20);
}

static ssize_t bring_error(void *userdata, void *to, size_t n)
{
	(void)userdata;
	(void)to;
	(void)n;
	return -EBADMSG;
}

TEST(test_failing_source)
{
	_cleanup_(input_deinit) struct input in;

	assert_int_equal(input_init_source(&in, bring_error, NULL), 0);
	assert_int_equal(input_need(&in, 1), -EBADMSG);
	assert_int_equal(input_skip(&in, 1), -EBADMSG);
}

/* The buffer grows for larger data, and moves bytes that were not consumed. */
TEST(test_large)
{
	_cleanup_(input_deinit) struct input in;
	_cleanup_free_ uint8_t *bytes = malloc(LARGE);
	size_t room;

	assert_non_null(bytes);
	for (size_t i = 0; i < LARGE; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	assert_int_equal(input_init_memory(&in, bytes, LARGE), 0);
	room = in.room;
	assert_int_equal(input_need(&in, 24), 1);
	assert_memory_equal(input_consume(&in, 24), bytes, 24);
	assert_int_equal(input_need(&in, room), 1);
	assert_memory_equal(input_consume(&in, room), bytes + 24, room);
	assert_int_equal(input_need(&in, 4 * room), 1);
	assert_true(in.room >= 4 * room);
	assert_memory_equal(input_consume(&in, 4 * room), bytes + 24 + room, 4 * room);
	assert_int_equal(input_skip(&in, LARGE - 24 - 5 * room - 1), 1);
	assert_int_equal(in.offset, LARGE - 1);
	assert_int_equal(input_ready(&in) <= 1 && input_need(&in, 1) == 1, true);
	assert_memory_equal(input_consume(&in, 1), bytes + LARGE - 1, 1);
	assert_int_equal(input_need(&in, 1), 0);
}

/* Whatever size a record claims, only arrived data takes memory. */
TEST(test_claims)
{
	_cleanup_(input_deinit) struct input in;

	assert_int_equal(input_init_memory(&in, "01234567", 8), 0);
	assert_int_equal(input_skip(&in, UINT64_MAX), 0);
	assert_int_equal(in.offset, 8);
	assert_true(in.room < LARGE);
}

TEST(test_descriptor)
{
	_cleanup_(input_deinit) struct input in = { .fd = -1 };
	_cleanup_close_ int reader = -1, directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fds[2];

	assert_true(directory >= 0);
	assert_int_equal(input_init_fd(&in, directory), -EISDIR);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	reader = fds[0];
	assert_int_equal(write(fds[1], "0123456789", 10), 10);
	close(fds[1]);
	assert_int_equal(input_init_fd(&in, reader), 0);
	assert_int_equal(input_skip(&in, 8), 1);
	assert_int_equal(input_need(&in, 2), 1);
	assert_memory_equal(input_consume(&in, 2), "89", 2);
	assert_int_equal(input_need(&in, 1), 0);
}

/* Consumed bytes can be put back, within the reserved number, whatever arrived since. */
TEST(test_back)
{
	_cleanup_(input_deinit) struct input in;
	_cleanup_free_ uint8_t *bytes = malloc(LARGE);

	assert_non_null(bytes);
	for (size_t i = 0; i < LARGE; i++)
		bytes[i] = (uint8_t)(i * 5 + i / 256);
	assert_int_equal(input_init_memory(&in, bytes, LARGE), 0);
	in.keep = 100;
	for (size_t at = 0; at + 1000 <= LARGE; at += 1000) {
		assert_int_equal(input_need(&in, 1000), 1);
		assert_memory_equal(input_consume(&in, 1000), bytes + at, 1000);
		assert_true(input_kept(&in) >= 100);
		input_back(&in, 100);
		assert_int_equal(in.offset, at + 900);
		assert_memory_equal(input_consume(&in, 100), bytes + at + 900, 100);
	}
	assert_true(in.room < LARGE);
}

/* Reads directly if the buffer is empty, else from the buffer: the order is kept. */
TEST(test_read)
{
	_cleanup_(input_deinit) struct input in;
	uint32_t left = 20;
	uint8_t to[8];

	assert_int_equal(input_init_source(&in, drip, &left), 0);
	assert_int_equal(input_need(&in, 2), 1);
	assert_int_equal(input_read(&in, to, 8), 2);
	assert_int_equal(to[1], 18);
	assert_int_equal(input_read(&in, to, 8), 1);
	assert_int_equal(to[0], 17);
	assert_int_equal(in.offset, 3);
	assert_int_equal(input_need(&in, 1), 1);
	assert_int_equal(*input_peek(&in), 16);
	left = 0;
	assert_int_equal(input_read(&in, to, 8), 1);
	assert_int_equal(input_read(&in, to, 8), 0);
	assert_int_equal(in.offset, 4);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),     cmocka_unit_test(test_empty),
		cmocka_unit_test(test_source),     cmocka_unit_test(test_failing_source),
		cmocka_unit_test(test_large),      cmocka_unit_test(test_claims),
		cmocka_unit_test(test_descriptor), cmocka_unit_test(test_back),
		cmocka_unit_test(test_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
