/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces written into files, packed and not, in the test's own directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/common/packed-output.h"
#include "reader/pack/unpack.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/fixtures/said.h"
#include "tests/support/unit.h"

enum { RECORD = 10 };

FIXTURE(set_up)
{
	*said = '\0';
	return own_directory_set_up(state);
}

/* "Records" of ten bytes. */
static size_t whole_tens(const uint8_t *data, size_t n)
{
	(void)data;
	return n - n % RECORD;
}

static int open_output(struct packed_output *o, enum pack_method method, bool force)
{
	return packed_output_open(o, &(struct packed_output_args){ "file", force, method,
								   whole_tens, NULL, 0 });
}

/* N bytes with little order, always the same ones. */
static uint8_t *some_bytes(size_t n)
{
	uint8_t *p = malloc(n);
	uint32_t x = 1;

	assert_non_null(p);
	for (size_t i = 0; i < n; i++) {
		x = x * 1103515245 + 12345;
		p[i] = (uint8_t)(x >> 28);
	}
	return p;
}

static void assert_unpacks_to(const uint8_t *data, size_t n, enum pack_method method)
{
	_cleanup_(unpack_freep) struct unpack *u = NULL;
	_cleanup_close_ int fd = open("file", O_RDONLY | O_CLOEXEC);
	_cleanup_free_ uint8_t *back = malloc(n + 1);
	size_t have = 0;
	ssize_t got;

	assert_true(fd >= 0);
	assert_int_equal(unpack_new_fd(&u, fd), 0);
	assert_int_equal(unpack_method(u), method);
	while ((got = unpack_read(u, back + have, n + 1 - have)) > 0)
		have += (size_t)got;
	assert_int_equal(got, 0);
	assert_null(unpack_damage(u));
	assert_int_equal(have, n);
	assert_memory_equal(back, data, n);
}

/* Written in pieces of any size, the contents are the same. */
TEST(test_bytes)
{
	static const size_t steps[] = { 777, 300000, 3 * PACK_CHUNK_MAX };
	const size_t n = 2 * PACK_CHUNK_MAX + 12345;
	_cleanup_free_ uint8_t *data = some_bytes(n);

	for (enum pack_method m = PACK_NONE; m < PACK_METHOD_MAX; m++) {
		for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
			_cleanup_(packed_output_deinit) struct packed_output o = PACKED_OUTPUT_NULL;

			assert_int_equal(open_output(&o, m, false), 0);
			for (size_t at = 0; at < n; at += steps[i])
				assert_int_equal(packed_output_write(&o, data + at,
								     n - at < steps[i] ? n - at
										       : steps[i]),
						 0);
			assert_int_equal(packed_output_finish(&o), 0);
			assert_int_equal(o.bytes, n);
			assert_int_equal(o.file_bytes, size_of_file("file"));
			assert_unpacks_to(data, n, m);
			unlink("file");
		}
	}
	assert_string_equal(said, "");
}

/* Each block contains complete records: the unpacked size of each frame or chunk is checked. */
TEST(test_blocks)
{
	const size_t n = 3 * PACK_CHUNK_MAX + 5 * RECORD, whole = PACK_CHUNK_MAX / RECORD * RECORD;
	_cleanup_(packed_output_deinit) struct packed_output o = PACKED_OUTPUT_NULL;
	_cleanup_free_ uint8_t *data = some_bytes(n), *file = NULL;
	_cleanup_close_ int fd = -1;
	size_t size, at = 2, rest = n;

	assert_int_equal(open_output(&o, PACK_SNAPPY, false), 0);
	assert_int_equal(packed_output_write(&o, data, n), 0);
	assert_int_equal(packed_output_finish(&o), 0);
	size = (size_t)size_of_file("file");
	file = malloc(size);
	fd = open("file", O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, file, size), size);
	while (at < size) {
		size_t expected = rest > PACK_CHUNK_MAX ? whole : rest, unpacked = 0, length;
		unsigned shift = 0;

		length = pack_get_length(file + at);
		at += PACK_LENGTH_BYTES;
		/* A block begins with its unpacked length. */
		for (size_t i = at;; i++, shift += 7) {
			unpacked |= (size_t)(file[i] & 0x7f) << shift;
			if (!(file[i] & 0x80))
				break;
		}
		assert_int_equal(unpacked, expected);
		rest -= expected;
		at += length;
	}
	assert_int_equal(rest, 0);
}

/* An unfinished file is removed. */
TEST(test_not_finished)
{
	_cleanup_(packed_output_deinit) struct packed_output o = PACKED_OUTPUT_NULL;

	assert_int_equal(open_output(&o, PACK_NONE, false), 0);
	assert_int_equal(packed_output_write(&o, "abc", 3), 0);
	assert_int_equal(size_of_file("file"), 3);
	packed_output_deinit(&o);
	assert_int_equal(size_of_file("file"), -ENOENT);
	packed_output_deinit(&o);
}

/* An existing file stays. */
TEST(test_not_finished_forced)
{
	_cleanup_(packed_output_deinit) struct packed_output o = PACKED_OUTPUT_NULL;
	_cleanup_close_ int fd = open("file", O_WRONLY | O_CREAT | O_CLOEXEC, 0640);

	assert_int_equal(write(fd, "before", 6), 6);
	assert_int_equal(open_output(&o, PACK_NONE, false), -EEXIST);
	assert_int_equal(size_of_file("file"), 6);
	assert_int_equal(open_output(&o, PACK_NONE, true), 0);
	assert_int_equal(packed_output_write(&o, "abc", 3), 0);
	packed_output_deinit(&o);
	assert_int_equal(size_of_file("file"), 6);
	assert_int_equal(open_output(&o, PACK_NONE, true), 0);
	assert_int_equal(packed_output_write(&o, "abc", 3), 0);
	assert_int_equal(packed_output_finish(&o), 0);
	packed_output_deinit(&o);
	assert_int_equal(size_of_file("file"), 3);
}

TEST(test_own_input)
{
	_cleanup_(packed_output_deinit) struct packed_output o = PACKED_OUTPUT_NULL;
	_cleanup_close_ int fd = open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0640);

	assert_int_equal(write(fd, "before", 6), 6);
	assert_int_equal(packed_output_open(&o,
					    &(struct packed_output_args){ "file", true, PACK_NONE,
									  whole_tens, &fd, 1 }),
			 -EINVAL);
	assert_string_equal(said, "file is the input; write to another file");
	assert_int_equal(size_of_file("file"), 6);
}

/* No room: an error, and the partial file is removed. */
TEST(test_no_room)
{
	_cleanup_(packed_output_deinit) struct packed_output o = PACKED_OUTPUT_NULL;
	struct rlimit limit, was;
	int r;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	limit = was;
	limit.rlim_cur = 4;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(open_output(&o, PACK_NONE, false), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	r = packed_output_write(&o, "abcdefgh", 8);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(r, -EFBIG);
	assert_string_equal(said, "cannot write file: File too large");
	packed_output_deinit(&o);
	assert_int_equal(size_of_file("file"), -ENOENT);
}

/* A signal that ends the process removes the file. An ignored one does not. */
TEST(test_signal)
{
	static const struct {
		int number;
		bool ignored;
	} rows[] = {
		{ SIGINT, false },
		{ SIGTERM, false },
		{ SIGHUP, false },
		{ SIGHUP, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			struct packed_output o = PACKED_OUTPUT_NULL;

			signal(rows[i].number, rows[i].ignored ? SIG_IGN : SIG_DFL);
			if (open_output(&o, PACK_ZSTD, false) < 0 ||
			    packed_output_write(&o, "abc", 3) < 0)
				_exit(1);
			raise(rows[i].number);
			_exit(packed_output_finish(&o) == 0 ? 2 : 3);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (rows[i].ignored) {
			assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
			assert_true(size_of_file("file") > 0);
		} else {
			assert_true(WIFSIGNALED(status) && WTERMSIG(status) == rows[i].number);
			assert_int_equal(size_of_file("file"), -ENOENT);
		}
	}
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, own_directory_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_bytes),     CASE(test_blocks),  CASE(test_not_finished),
		CASE(test_own_input), CASE(test_no_room), CASE(test_not_finished_forced),
		CASE(test_signal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
