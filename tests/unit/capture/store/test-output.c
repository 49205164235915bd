/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/store/output.h"
#include "capture/sandbox/user-counts.h"
#include "tests/support/fakes/stuck-store.h"
#include "tests/support/unit.h"

enum { WAIT_MS = 20000, RECORD = 10 };

/* "Records" of ten bytes. */
static size_t whole_tens(const uint8_t *data, size_t n)
{
	(void)data;
	return n - n % RECORD;
}

static int temporary_file(void)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	return fd;
}

static const struct store_moment now = { 1000, 2000 };

static struct output *packed_output(int fd, enum pack_method method)
{
	struct store *store;
	struct output *o;

	assert_int_equal(store_fd_new(fd, &store), 0);
	assert_int_equal(output_new(store, whole_tens, method, NULL, &o), 0);
	output_begin(o, &now);
	return o;
}

static struct output *output(int fd)
{
	return packed_output(fd, PACK_NONE);
}

/* Queues N bytes C. */
static void put(struct output *o, char c, size_t n)
{
	struct outbuf *b = output_get_buffer(o);
	uint8_t *p;

	assert_non_null(b);
	assert_int_equal(b->size, 0);
	p = outbuf_reserve(b, n);
	assert_non_null(p);
	memset(p, c, n);
	output_put(o, b, STORE_BODY);
}

/* Waits until FD is readable. */
static void wait_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	assert_int_equal(poll(&p, 1, WAIT_MS), 1);
}

/* Waits until the work is done. */
static struct output_status finish(struct output *o)
{
	struct output_status status;

	output_finish(o);
	do {
		wait_readable(output_fd(o));
		status = output_poll(o);
	} while (!status.done);
	return status;
}

static struct output_status wait_error(struct output *o)
{
	struct output_status status;

	do {
		wait_readable(output_fd(o));
		status = output_poll(o);
	} while (status.error == 0);
	return status;
}

static void assert_bytes(int fd, off_t at, char c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char is = 0;

		assert_int_equal(pread(fd, &is, 1, at + (off_t)i), 1);
		assert_int_equal(is, c);
	}
}

static off_t file_size(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_size;
}

/* ---- valid outputs ---- */

TEST(test_new_refused)
{
	int not_open = dup(STDIN_FILENO);
	const struct {
		int fd;
		int r;
	} rows[] = {
		{ -1, -EBADF },
		{ not_open, -EBADF },
		{ open("/dev/null", O_RDONLY | O_CLOEXEC), -EBADF },
		{ open("/dev/null", O_PATH | O_CLOEXEC), -EBADF },
		{ open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), -EBADF },
		{ eventfd(0, EFD_CLOEXEC), -EINVAL },
	};
	struct store *store = (struct store *)&rows;

	close(not_open);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(store_fd_new(rows[i].fd, &store), rows[i].r);
		assert_ptr_equal(store, &rows);
		/* It remains the caller's. */
		if (rows[i].fd >= 0 && rows[i].fd != not_open)
			assert_int_equal(close(rows[i].fd), 0);
	}
}

TEST(test_file)
{
	int fd = temporary_file();
	_cleanup_close_ int look = dup(fd);
	_cleanup_(output_freep) struct output *o = output(fd);
	struct output_status status;

	put(o, 'a', 10);
	put(o, 'b', 300000);
	put(o, 'c', 0);
	put(o, 'd', 20);
	status = finish(o);
	assert_int_equal(status.error, 0);
	assert_int_equal(status.bytes, 300030);
	assert_int_equal(file_size(look), 300030);
	assert_bytes(look, 0, 'a', 10);
	assert_bytes(look, 10, 'b', 100);
	assert_bytes(look, 300010, 'd', 20);
	assert_true(status.cpu_ns > 0);
}

TEST(test_finish_nothing)
{
	_cleanup_(output_freep) struct output *o = output(temporary_file());
	struct output_status status = output_poll(o);

	assert_false(status.done);
	assert_int_equal(status.bytes, 0);
	status = finish(o);
	assert_true(status.done);
	assert_int_equal(status.error, 0);
}

TEST(test_free_null)
{
	assert_null(output_free(NULL));
}

/* The head of a chunk can be large. Not every buffer remains as large as one. */
TEST(test_large_buffer)
{
	_cleanup_(output_freep) struct output *o = output(temporary_file());
	struct outbuf *b;

	put(o, 'a', 8 << 20);
	assert_int_equal(finish(o).bytes, 8 << 20);
	while ((b = output_get_buffer(o)))
		assert_in_range(b->room, 0, 1 << 20);
}

/* Written buffers can be taken again, any number of times. */
TEST(test_take_again)
{
	int fd = temporary_file();
	_cleanup_close_ int look = dup(fd);
	_cleanup_(output_freep) struct output *o = output(fd);

	for (unsigned i = 0; i < 500; i++) {
		struct outbuf *b;

		while (!(b = output_get_buffer(o))) {
			wait_readable(output_fd(o));
			output_poll(o);
		}
		assert_int_equal(outbuf_append(b, &i, sizeof(i)), 0);
		output_put(o, b, STORE_BODY);
	}
	assert_int_equal(finish(o).bytes, 500 * sizeof(unsigned));
	for (unsigned i = 0; i < 500; i++) {
		unsigned is;

		assert_int_equal(pread(look, &is, sizeof(is), (off_t)(i * sizeof(is))), sizeof(is));
		assert_int_equal(is, i);
	}
}

/* ---- pipes and sockets ---- */

static void make_pair(int kind, int *ret_read, int *ret_write)
{
	int fds[2];

	if (kind == 0) {
		assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	} else if (kind == 1) {
		assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
		assert_int_equal(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
	} else {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	}
	*ret_read = fds[0];
	*ret_write = fds[1];
}

/* Reads until the end, in small blocks. */
static size_t read_to_end(int fd, char want)
{
	size_t total = 0;
	char piece[777];
	ssize_t n;

	for (;;) {
		wait_readable(fd);
		n = read(fd, piece, sizeof(piece));
		if (n <= 0)
			break;
		for (ssize_t i = 0; want && i < n; i++)
			assert_int_equal(piece[i], want);
		total += (size_t)n;
	}
	assert_int_equal(n, 0);
	return total;
}

TEST(test_slow_reader)
{
	for (int kind = 0; kind < 3; kind++) {
		_cleanup_close_ int from = -1;
		struct output *o;
		size_t n = 0;
		int to;

		make_pair(kind, &from, &to);
		o = output(to);
		/* More data than fits: some buffers wait, until none is left. */
		for (struct outbuf *b; (b = output_get_buffer(o)); n++) {
			memset(outbuf_reserve(b, 50000), 'x', 50000);
			output_put(o, b, STORE_BODY);
			assert_true(n < 1000);
		}
		assert_true(n >= 64);
		output_finish(o);
		assert_false(output_poll(o).done);
		for (size_t total = 0; total < n * 50000;) {
			char piece[777];
			ssize_t got = read(from, piece, sizeof(piece));

			assert_true(got > 0);
			total += (size_t)got;
		}
		assert_int_equal(finish(o).bytes, n * 50000);
		output_free(o);
		assert_int_equal(read_to_end(from, 0), 0);
	}
}

/* A reader that does not read delays no one: the descriptor is closed, and the rest is dropped. */
TEST(test_free_while_blocked)
{
	for (int kind = 0; kind < 3; kind++) {
		_cleanup_close_ int from = -1;
		struct output *o;
		int to;

		make_pair(kind, &from, &to);
		o = output(to);
		for (unsigned i = 0; i < 20; i++)
			put(o, 'x', 1000000);
		wait_readable(from);
		assert_null(output_free(o));
		assert_true(read_to_end(from, 'x') < 20000000);
	}
}

TEST(test_free_idle)
{
	_cleanup_close_ int from = -1;
	int to;

	make_pair(0, &from, &to);
	output_free(output(to));
	assert_int_equal(read_to_end(from, 0), 0);
}

TEST(test_reader_gone)
{
	for (int kind = 0; kind < 3; kind++) {
		_cleanup_(output_freep) struct output *o = NULL;
		int from, to;

		make_pair(kind, &from, &to);
		close(from);
		o = output(to);
		put(o, 'x', 100);
		assert_int_equal(wait_error(o).error, -EPIPE);
		put(o, 'x', 100);
		assert_int_equal(finish(o).bytes, 0);
		assert_int_equal(output_poll(o).error, -EPIPE);
	}
}

/* ---- failure ---- */

TEST(test_device_full)
{
	_cleanup_(output_freep) struct output *o = output(open("/dev/full", O_WRONLY | O_CLOEXEC));
	struct output_status status;

	put(o, 'a', 100);
	put(o, 'b', 100);
	status = finish(o);
	assert_int_equal(status.error, -ENOSPC);
	assert_int_equal(status.bytes, 0);
}

/* A file that can grow to LIMIT bytes: after a partial write, it ends with a complete record. */
TEST(test_file_full)
{
	static const struct {
		rlim_t limit;
		off_t left;
	} rows[] = {
		{ 25, 20 },   { 30, 30 },   { 31, 30 }, { 99, 90 },
		{ 100, 100 }, { 109, 100 }, { 9, 0 },
	};
	struct rlimit before, limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int fd = temporary_file();
		_cleanup_close_ int look = dup(fd);
		_cleanup_(output_freep) struct output *o = output(fd);
		struct output_status status;

		limit = before;
		limit.rlim_cur = rows[i].limit;
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		put(o, 'a', 30);
		put(o, 'b', 80);
		put(o, 'c', 10);
		status = finish(o);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
		assert_int_equal(status.error, -EFBIG);
		assert_int_equal(status.bytes, rows[i].left);
		assert_int_equal(file_size(look), rows[i].left);
		assert_bytes(look, 0, 'a', rows[i].left < 30 ? (size_t)rows[i].left : 30);
		if (rows[i].left > 30)
			assert_bytes(look, 30, 'b', (size_t)rows[i].left - 30);
	}
}

/* Earlier contents of a file stay, also in append mode. */
TEST(test_file_full_append)
{
	struct rlimit before, limit;
	int fd = temporary_file();
	_cleanup_close_ int look = dup(fd);
	_cleanup_(output_freep) struct output *o = NULL;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(pwrite(fd, "0123456789012345678901234567890123456789", 40, 0), 40);
	assert_int_equal(fcntl(fd, F_SETFL, O_APPEND), 0);
	o = output(fd);
	limit = before;
	limit.rlim_cur = 55;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	put(o, 'a', 30);
	assert_int_equal(finish(o).error, -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(file_size(look), 50);
	assert_bytes(look, 40, 'a', 10);
}

/* ---- packed ---- */

/*
 * Each buffer is a block that can be unpacked by itself. A large one is several blocks of complete
 * records.
 */
TEST(test_packed)
{
	enum { LARGE = 2 * PACK_CHUNK_MAX };

	for (enum pack_method m = PACK_SNAPPY; m < PACK_METHOD_MAX; m++) {
		int fd = temporary_file();
		_cleanup_close_ int look = dup(fd);
		_cleanup_(output_freep) struct output *o = packed_output(fd, m);
		_cleanup_free_ uint8_t *file = NULL;
		struct outbuf expected = { 0 };
		struct output_status status;
		struct pack p;
		/* The maximum of complete records in a chunk. */
		size_t most = PACK_CHUNK_MAX - PACK_CHUNK_MAX % RECORD;
		size_t sizes[] = { 10, most, most, LARGE - LARGE % RECORD - 2 * most, 20 };
		_cleanup_free_ uint8_t *as = malloc(most);

		put(o, 'a', 10);
		put(o, 'a', LARGE - LARGE % RECORD);
		put(o, 'a', 0);
		put(o, 'a', 20);
		status = finish(o);
		assert_int_equal(status.error, 0);

		memset(as, 'a', most);
		assert_int_equal(pack_init(&p, m), 0);
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
			assert_int_equal(pack_put(&p, as, sizes[i], &expected), 0);
		assert_int_equal(status.bytes, expected.size);
		assert_int_equal(file_size(look), expected.size);
		file = malloc(expected.size);
		assert_int_equal(pread(look, file, expected.size, 0), expected.size);
		assert_memory_equal(file, expected.data, expected.size);
		pack_deinit(&p);
		outbuf_deinit(&expected);
	}
}

/* A file at its size limit ends with a complete block, wherever the limit is. */
TEST(test_packed_file_full)
{
	struct rlimit before, limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	for (enum pack_method m = PACK_SNAPPY; m < PACK_METHOD_MAX; m++) {
		rlim_t ends[4] = { 0 };
		struct outbuf b = { 0 };
		struct pack p;

		assert_int_equal(pack_init(&p, m), 0);
		for (size_t i = 0; i < 3; i++) {
			assert_int_equal(pack_put(&p, (const uint8_t *)"0000000000", RECORD, &b),
					 0);
			ends[i + 1] = b.size;
		}
		pack_deinit(&p);
		outbuf_deinit(&b);
		for (rlim_t n = 1; n < ends[3]; n++) {
			int fd = temporary_file();
			_cleanup_close_ int look = dup(fd);
			_cleanup_(output_freep) struct output *o = packed_output(fd, m);
			struct output_status status;
			size_t whole = 0;

			while (ends[whole + 1] <= n)
				whole++;
			limit = before;
			limit.rlim_cur = n;
			assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
			for (int i = 0; i < 3; i++)
				put(o, '0', RECORD);
			status = finish(o);
			assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
			assert_int_equal(status.error, -EFBIG);
			assert_int_equal(status.bytes, ends[whole]);
			assert_int_equal(file_size(look), ends[whole]);
		}
	}
}

/* A reader that does not read delays a packing thread no more than others. */
/* Memory that was needed for a paused reader is freed afterwards. */
TEST(test_memory_after_burst)
{
	static uint8_t bytes[65536];
	enum { N = 40, SIZE = 300000 };
	_cleanup_close_ int from = -1;
	unsigned warm = 0;
	struct output *o;
	struct outbuf *b;
	int to;

	make_pair(0, &from, &to);
	o = output(to);
	for (int i = 0; i < N; i++)
		put(o, 'x', SIZE);
	for (size_t left = (size_t)N * SIZE; left > 0;) {
		ssize_t n = read(from, bytes, left < sizeof(bytes) ? left : sizeof(bytes));

		assert_true(n > 0);
		left -= (size_t)n;
	}
	/* In order again, and buffers with memory first. */
	put(o, 'y', SIZE);
	for (size_t left = SIZE; left > 0;) {
		ssize_t n = read(from, bytes, left < sizeof(bytes) ? left : sizeof(bytes));

		assert_true(n > 0 && bytes[0] == 'y');
		left -= (size_t)n;
	}
	assert_int_equal(finish(o).error, 0);
	for (unsigned i = 0; (b = output_get_buffer(o)); i++) {
		assert_true(i < 64);
		assert_true(b->room == 0 || warm == i);
		warm += b->room > 0;
	}
	assert_in_range(warm, 1, 4);
	output_free(o);
}

TEST(test_packed_free_while_blocked)
{
	_cleanup_close_ int from = -1;
	struct output *o;
	int to;

	make_pair(0, &from, &to);
	o = packed_output(to, PACK_SNAPPY);
	for (int i = 0; i < 60; i++)
		put(o, 'x', 1000000);
	wait_readable(from);
	assert_null(output_free(o));
	assert_true(read_to_end(from, 0) < 60000000);
}

/* Data written there would be a command to the kernel. */
TEST(test_file_of_kernel)
{
	int fd = open("/proc/self/comm", O_RDWR | O_CLOEXEC);
	struct output *o;
	char before[32] = "", after[32] = "";

	assert_true(fd >= 0);
	assert_true(pread(fd, before, sizeof(before) - 1, 0) > 0);
	o = output(fd);
	put(o, 'a', RECORD);
	assert_int_equal(wait_error(o).error, STORE_OF_KERNEL);
	assert_int_equal(finish(o).bytes, 0);
	assert_true(pread(fd, after, sizeof(after) - 1, 0) > 0);
	assert_string_equal(before, after);
	assert_non_null(strstr(store_strerror(STORE_OF_KERNEL), "a file of the kernel"));
	output_free(o);
}

/* ---- hanging writers ---- */

static void wait_for_abandoned(unsigned n)
{
	assert_soon(user_counts_get(&abandoned_sessions, 4711).user == n);
}

/*
 * poll() reports a socket as writable whose buffer has too little room for the data. The writer
 * does not block there.
 */
TEST(test_small_socket)
{
	const int least = 1;
	int fds[2], n_unread;
	struct output *o;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(setsockopt(fds[1], SOL_SOCKET, SO_SNDBUF, &least, sizeof(least)), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	o = output(fds[1]);
	output_store(o)->writer.uid = 4711;
	put(o, 'a', 4096);
	/* A part of it has been written, and there is no room for the rest. */
	assert_soon(ioctl(fds[0], FIONREAD, &n_unread) == 0 && n_unread > 1);
	output_free(o);
	wait_for_abandoned(0);
	close(fds[0]);
}

static struct output *stuck_output(struct abandoned_threads *l, unsigned n_stuck)
{
	struct output *o;

	assert_int_equal(output_new(stuck_store_new(4711), whole_tens, PACK_NONE, l, &o), 0);
	output_begin(o, &now);
	for (int i = 0; i < 10; i++)
		put(o, 'a', 100);
	while (stuck_store_waiting() < n_stuck)
		usleep(1000);
	return o;
}

/*
 * A hanging session counts against its owner once, with any number of hanging threads, until none
 * hangs any more. An idle session does not count.
 */
TEST(test_abandoned)
{
	struct abandoned_threads *l = abandoned_threads_new(4711);
	struct output *first, *second, *idle;

	first = stuck_output(l, 1);
	second = stuck_output(l, 2);
	output_free(first);
	assert_int_equal(user_counts_get(&abandoned_sessions, 4711).user, 1);
	output_free(second);
	assert_int_equal(user_counts_get(&abandoned_sessions, 4711).user, 1);
	assert_int_equal(user_counts_get(&abandoned_sessions, 0).user, 0);
	stuck_store_let_go(true);
	wait_for_abandoned(0);
	assert_int_equal(user_counts_get(&abandoned_sessions, 0).all, 0);
	assert_int_equal(output_new(stuck_store_new(4711), whole_tens, PACK_NONE, l, &idle), 0);
	usleep(10000);
	output_free(idle);
	assert_int_equal(user_counts_get(&abandoned_sessions, 4711).user, 0);
	abandoned_threads_unref(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new_refused),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_finish_nothing),
		cmocka_unit_test(test_free_null),
		cmocka_unit_test(test_take_again),
		cmocka_unit_test(test_slow_reader),
		cmocka_unit_test(test_free_while_blocked),
		cmocka_unit_test(test_free_idle),
		cmocka_unit_test(test_reader_gone),
		cmocka_unit_test(test_device_full),
		cmocka_unit_test(test_file_of_kernel),
		cmocka_unit_test(test_file_full),
		cmocka_unit_test(test_file_full_append),
		cmocka_unit_test(test_packed),
		cmocka_unit_test(test_packed_file_full),
		cmocka_unit_test(test_packed_free_while_blocked),
		cmocka_unit_test(test_memory_after_burst),
		cmocka_unit_test(test_large_buffer),
		cmocka_unit_test(test_small_socket),
		cmocka_unit_test(test_abandoned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
