/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/store/flight.h"
#include "base/directory.h"
#include "capture/store/output.h"
#include "capture/store/whole-blocks.h"
#include "capture/sandbox/user-counts.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/fixtures/store-records.h"
#include "tests/support/fakes/stuck-store.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-writer.h"

#define SECOND UINT64_C(1000000000)

static struct store *flight(int dir_fd, uint64_t keep_ns, uint64_t max_bytes)
{
	struct store *s;

	assert_int_equal(flight_new(&(struct flight_options){ dir_fd, keep_ns, max_bytes }, &s), 0);
	assert_true(flight_is(s));
	return s;
}

/* Writes F to the file "snapshot", and returns its contents. */
static const char *written(const struct flight_snapshot *f)
{
	_cleanup_(store_freep) struct store *to = NULL;
	int fd = open("snapshot", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_int_equal(store_fd_new(fd, &to), 0);
	assert_int_equal(flight_snapshot_write(f, to), 0);
	return records_in_file("snapshot");
}

static const char *kept(struct store *s)
{
	_cleanup_(flight_snapshot_freep) struct flight_snapshot *f = NULL;

	assert_int_equal(flight_take_snapshot(s, &f), 0);
	return written(f);
}

static const char *recovered(const char *name)
{
	_cleanup_(flight_snapshot_freep) struct flight_snapshot *f = NULL;
	_cleanup_close_ int dir_fd = directory_fd(name);

	assert_int_equal(flight_recover(dir_fd, &f), 0);
	return written(f);
}

/* The size of all files in the directory. */
static uint64_t bytes_in(int dir_fd)
{
	DIR *dir = directory_list(dir_fd);
	const struct dirent *entry;
	uint64_t bytes = 0;
	struct stat st;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		if (fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
	}
	closedir(dir);
	return bytes;
}

TEST(test_refused)
{
	struct flight_snapshot *f;
	struct store *s;

	assert_int_equal(flight_new(&(struct flight_options){ -1, 0, 0 }, &s), -EINVAL);
	s = flight(-1, 0, 1000);
	assert_int_equal(flight_take_snapshot(s, &f), -ENODATA);
	store_free(s);
}

/* The requested time, and the chunk in which it begins. */
TEST(test_time)
{
	_cleanup_(store_freep) struct store *s = flight(-1, 10 * SECOND, 1 << 20);

	for (unsigned i = 0; i < 10; i++)
		store_chunk(s, (100 + 4 * i) * SECOND, 10 * i, 10);
	/*
	 * The last one begins at 136, so data from 126 on is needed: the chunk of 124 begins
	 * before, that of 128 does not.
	 */
	assert_string_equal(kept(s), "H 60-99");
}

/* Never more bytes than the limit, at any moment; likewise for chunks without names. */
TEST(test_bytes)
{
	_cleanup_close_ int dir_fd = directory_fd("bytes");
	struct store *stores[] = { flight(dir_fd, 0, 50 * RECORD_BYTES),
				   flight(-1, 0, 50 * RECORD_BYTES) };

	for (size_t n = 0; n < ARRAY_SIZE(stores); n++) {
		_cleanup_(store_freep) struct store *s = stores[n];

		for (unsigned i = 0; i < 20; i++) {
			store_chunk(s, i, 20 * i, 1);
			for (unsigned k = 1; k < 20; k++) {
				assert_int_equal(store_records(s, STORE_BODY, 20 * i + k, 1), 0);
				assert_true(bytes_in(dir_fd) <= 50 * RECORD_BYTES);
			}
		}
		assert_string_equal(kept(s), "H 360-399");
	}
}

/*
 * A chunk that alone is too large is dropped with all older chunks, so that the kept data has no
 * gap.
 */
TEST(test_too_large)
{
	_cleanup_(store_freep) struct store *s = flight(-1, 0, 30 * RECORD_BYTES);
	struct flight_snapshot *f;

	store_chunk(s, 1, 0, 10);
	store_chunk(s, 2, 10, 10);
	assert_string_equal(kept(s), "H 0-19");
	assert_int_equal(store_records(s, STORE_BODY, 20, 40), 0);
	assert_int_equal(store_records(s, STORE_BODY, 60, 1), 0);
	assert_int_equal(flight_take_snapshot(s, &f), -EAGAIN);
	store_chunk(s, 3, 61, 9);
	assert_string_equal(kept(s), "H 61-69");
	/* A head that is too large would be too large again. */
	assert_int_equal(s->ops->begin(s, &(struct store_moment){ 4, 4 }), 0);
	assert_int_equal(store_records(s, STORE_HEAD, RECORD_HEAD, 31), -EFBIG);
}

TEST(test_many_chunks)
{
	_cleanup_(store_freep) struct store *s = flight(-1, 0, 1 << 20);

	for (unsigned i = 0; i < 3 * FLIGHT_CHUNKS_MAX; i++)
		store_chunk(s, i, i, 1);
	assert_string_equal(kept(s), "H 64-95");
}

/* A snapshot is independent of the recorder afterwards. */
TEST(test_snapshot_while_writing)
{
	_cleanup_(flight_snapshot_freep) struct flight_snapshot *f = NULL;
	_cleanup_close_ int dir_fd = directory_fd("writing");
	struct store *s = flight(dir_fd, 0, 30 * RECORD_BYTES);
	struct outbuf tail = { 0 };

	store_chunk(s, 1, 0, 10);
	assert_int_equal(flight_take_snapshot(s, &f), 0);
	add_records(&tail, RECORD_TAIL, 1);
	flight_snapshot_set_tail(f, &tail);
	assert_null(tail.data);
	assert_int_equal(flight_snapshot_bytes(f), 12 * RECORD_BYTES);
	assert_int_equal(store_records(s, STORE_BODY, 10, 10), 0);
	assert_string_equal(written(f), "H 0-9 T");
	for (unsigned i = 0; i < 5; i++)
		store_chunk(s, 2 + i, 20 + 20 * i, 20);
	store_free(s);
	flight_clear(dir_fd);
	assert_string_equal(written(f), "H 0-9 T");
	assert_int_equal(bytes_in(dir_fd), 0);
}

/* The tail of a recording that has ended. */
TEST(test_ended)
{
	_cleanup_(store_freep) struct store *s = flight(-1, 0, 1 << 20);

	store_chunk(s, 1, 0, 10);
	assert_int_equal(store_records(s, STORE_TAIL, RECORD_TAIL, 1), 0);
	assert_int_equal(s->ops->end(s, &(struct store_moment){ 2, 2 }), 0);
	assert_string_equal(kept(s), "H 0-9 T");
	/* Nothing of it remains when another chunk begins. */
	store_chunk(s, 2, 10, 10);
	assert_string_equal(kept(s), "H 0-19");
}

/* ---- files of a killed process ---- */

TEST(test_recover)
{
	_cleanup_close_ int dir_fd = directory_fd("dead"), empty_fd = directory_fd("empty");
	struct flight_snapshot *f;

	store_free(flight(dir_fd, 0, 1 << 20));
	assert_int_equal(flight_recover(dir_fd, &f), -ENODATA);
	assert_int_equal(flight_recover(empty_fd, &f), -ENODATA);
	for (int last = 0; last < 2; last++) {
		struct store *s = flight(dir_fd, 0, 1 << 20);

		for (unsigned i = 0; i < 4; i++)
			store_chunk(s, i, 10 * i, 10);
		store_free(s);
		assert_string_equal(recovered("dead"), "H 0-39");
		flight_clear(dir_fd);
		assert_int_equal(bytes_in(dir_fd), 0);
	}
}

/* At each point where a process can be killed. */
TEST(test_recover_cut)
{
	_cleanup_close_ int dir_fd = directory_fd("cut");
	struct store *s = flight(dir_fd, 0, 1 << 20);

	for (unsigned i = 0; i < 4; i++)
		store_chunk(s, i, 10 * i, 10);
	store_free(s);
	/* In the middle of a write, of a drop, and of a begin. */
	assert_int_equal(truncate("cut/3.body", 5 * RECORD_BYTES + 33), 0);
	assert_string_equal(recovered("cut"), "H 0-34");
	assert_int_equal(unlink("cut/0.head"), 0);
	assert_string_equal(recovered("cut"), "H 10-34");
	assert_int_equal(unlink("cut/0.body"), 0);
	assert_string_equal(recovered("cut"), "H 10-34");
	put_text("cut", "/4.head", "");
	assert_string_equal(recovered("cut"), "H 10-34");
	put_text("cut", "/4.body", "");
	assert_string_equal(recovered("cut"), "H 10-34");
	/* An incomplete head belongs to the only chunk. */
	flight_clear(dir_fd);
	s = flight(dir_fd, 0, 1 << 20);
	store_chunk(s, 0, 0, 1);
	store_free(s);
	assert_int_equal(truncate("cut/0.head", RECORD_BYTES - 1), 0);
	assert_int_equal(truncate("cut/0.body", 0), 0);
	assert_string_equal(recovered("cut"), "");
}

/* Other files in the directory are ignored, and stay. */
TEST(test_recover_odd_files)
{
	_cleanup_close_ int dir_fd = directory_fd("odd");
	struct store *s = flight(dir_fd, 0, 1 << 20);
	static const char *const odd[] = {
		"/07.head",
		"/.head",
		"/1.head2",
		"/99999999999999999999.body",
		"/x",
		"/-1.body",
		"/18446744073709551616.head",
	};

	store_chunk(s, 0, 0, 10);
	store_chunk(s, 1, 10, 10);
	store_free(s);
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
		put_text("odd", odd[i], "nothing");
	assert_string_equal(recovered("odd"), "H 0-19");
	/* Files that are not regular are ignored. */
	assert_int_equal(mkdir("odd/2.head", 0700), 0);
	assert_int_equal(symlink("/etc/passwd", "odd/2.body"), 0);
	assert_int_equal(unlink("odd/1.body"), 0);
	assert_int_equal(mkfifo("odd/1.body", 0600), 0);
	{
		_cleanup_(flight_snapshot_freep) struct flight_snapshot *f = NULL;
		int r = flight_recover(dir_fd, &f);

		assert_true(r == 0 || r == -ENODATA);
		if (r == 0)
			written(f);
	}
	/* Damage: everything up to there, and then the rest in its own file. */
	assert_int_equal(unlink("odd/2.body") | rmdir("odd/2.head") | unlink("odd/1.body"), 0);
	put_bytes("odd", "/1.body", (char[RECORD_BYTES]){ 0 }, RECORD_BYTES);
	assert_string_equal(recovered("odd"), "H 0-9");
	flight_clear(dir_fd);
	assert_int_equal(size_of_file("odd/x"), 7);
}

/* ---- packed ---- */

static void wait_for(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	assert_int_equal(poll(&p, 1, 20000), 1);
}

/* Writes N records as PART, in N buffers. */
static void put(struct output *o, enum store_part part, uint64_t first, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct outbuf *b = output_get_buffer(o);

		assert_non_null(b);
		add_records(b, first + i, 1);
		output_put(o, b, part);
	}
}

static void begin(struct output *o, uint64_t first, unsigned n)
{
	output_begin(o, &(struct store_moment){ first, first });
	put(o, STORE_HEAD, RECORD_HEAD, 1);
	put(o, STORE_BODY, first, n);
}

/* Takes a snapshot after all written data, into "snapshot". */
static const char *snapshot(struct output *o, int *ret_error)
{
	_cleanup_(snapshot_unrefp) struct snapshot *s = NULL;
	int fd = open("snapshot", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct outbuf tail = { 0 };
	struct store *to;

	assert_int_equal(store_fd_new(fd, &to), 0);
	assert_int_equal(snapshot_new(to, &s), 0);
	add_records(&tail, RECORD_TAIL, 1);
	output_snapshot(o, &tail, s);
	wait_for(snapshot_fd(s));
	assert_true(snapshot_ended(s, ret_error));
	return records_in_file("snapshot");
}

/*
 * Through the output: in order with other data, and packed in the same way, with heads of
 * containers.
 */
TEST(test_output)
{
	int error;

	for (enum pack_method m = PACK_NONE; m < PACK_METHOD_MAX; m++) {
		char name[] = "packed-0";
		_cleanup_close_ int dir_fd = -1;
		_cleanup_(output_freep) struct output *o = NULL;
		struct store *s;

		name[7] = (char)('0' + m);
		dir_fd = directory_fd(name);
		s = flight(dir_fd, 0, 1 << 20);
		assert_int_equal(output_new(s, fxt_whole_records, m, NULL, &o), 0);
		assert_ptr_equal(output_store(o), s);
		assert_string_equal(snapshot(o, &error), "");
		assert_int_equal(error, -ENODATA);
		begin(o, 0, 20);
		assert_string_equal(snapshot(o, &error), "H 0-19 T");
		assert_int_equal(error, 0);
		put(o, STORE_BODY, 20, 5);
		put(o, STORE_TAIL, RECORD_TAIL, 1);
		output_end(o, &(struct store_moment){ 25, 25 });
		begin(o, 25, 5);
		assert_string_equal(snapshot(o, &error), "H 0-29 T");
		assert_int_equal(output_poll(o).n_begun, 2);
		/* Its process is killed in the middle of a write. */
		{
			_cleanup_(flight_snapshot_freep) struct flight_snapshot *left = NULL;
			enum pack_method packed;
			long bytes;

			output_finish(o);
			while (!output_poll(o).done)
				wait_for(output_fd(o));
			assert_int_equal(fchdir(dir_fd), 0);
			bytes = size_of_file("1.body");
			assert_true(bytes > 0);
			assert_int_equal(truncate("1.body", bytes - 1), 0);
			assert_int_equal(chdir(".."), 0);
			assert_int_equal(flight_recover(dir_fd, &left), 0);
			assert_int_equal(flight_snapshot_packed(left, &packed), 0);
			assert_int_equal(packed, m);
			assert_string_equal(written(left), "H 0-28");
		}
	}
}

/* Dropped data is counted, and is no error. */
TEST(test_output_dropped)
{
	_cleanup_(output_freep) struct output *o = NULL;
	struct output_status status;
	int error;

	assert_int_equal(output_new(flight(-1, 0, 20 * RECORD_BYTES), fxt_whole_records, PACK_NONE,
				    NULL, &o),
			 0);
	begin(o, 0, 30);
	snapshot(o, &error);
	assert_int_equal(error, -EAGAIN);
	begin(o, 30, 5);
	assert_string_equal(snapshot(o, &error), "H 30-34 T");
	status = output_poll(o);
	assert_int_equal(status.error, 0);
	assert_int_equal(status.dropped, 11 * RECORD_BYTES);
	assert_int_equal(status.bytes, (20 + 6) * RECORD_BYTES);
	assert_int_equal(status.head_bytes, RECORD_BYTES);
	assert_int_equal(status.chunk_bytes, 6 * RECORD_BYTES);
}

/* An output that hangs holds up no other work, and can be cancelled. */
TEST(test_stuck)
{
	_cleanup_(snapshot_unrefp) struct snapshot *s = NULL;
	_cleanup_(output_freep) struct output *o = NULL;
	_cleanup_close_ int from = -1;
	struct outbuf tail = { 0 };
	struct store *to;
	int fds[2], error;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	from = fds[0];
	assert_int_equal(store_fd_new(fds[1], &to), 0);
	assert_int_equal(snapshot_new(to, &s), 0);
	assert_int_equal(output_new(flight(-1, 0, 1 << 20), fxt_whole_records, PACK_NONE, NULL, &o),
			 0);
	output_begin(o, &(struct store_moment){ 1, 1 });
	put(o, STORE_HEAD, RECORD_HEAD, 1);
	for (unsigned i = 0; i < 4; i++) {
		struct outbuf *b = output_get_buffer(o);

		add_records(b, 1000 * i, 1000);
		output_put(o, b, STORE_BODY);
	}
	output_snapshot(o, &tail, s);
	wait_for(from);
	put(o, STORE_BODY, 4000, 1);
	while (output_poll(o).bytes < 4002 * RECORD_BYTES)
		wait_for(output_fd(o));
	assert_false(snapshot_ended(s, &error));
	snapshot_cancel(s);
	assert_true(snapshot_ended(s, &error));
	assert_int_equal(error, -ECANCELED);
}

/* Data that is dropped on the way holds up nothing, either. */
TEST(test_dropped_on_the_way)
{
	_cleanup_(snapshot_unrefp) struct snapshot *s = NULL;
	struct outbuf tail = { 0 };
	struct output *o;
	struct store *to;
	int error;

	assert_int_equal(store_fd_new(open("/dev/null", O_WRONLY | O_CLOEXEC), &to), 0);
	assert_int_equal(snapshot_new(to, &s), 0);
	assert_int_equal(output_new(flight(-1, 0, 1 << 20), fxt_whole_records, PACK_NONE, NULL, &o),
			 0);
	add_records(&tail, RECORD_TAIL, 1);
	output_snapshot(o, &tail, s);
	output_free(o);
	wait_for(snapshot_fd(s));
	assert_true(snapshot_ended(s, &error));
	assert_true(error == -ECANCELED || error == -ENODATA);
}

/* Requests a snapshot of O to TO. */
static struct snapshot *ask(struct output *o, struct store *to)
{
	struct outbuf tail = { 0 };
	struct snapshot *s;

	assert_int_equal(snapshot_new(to, &s), 0);
	output_snapshot(o, &tail, s);
	return s;
}

/*
 * A user whose snapshot hangs, cancelled or not, gets no more of them, and takes no turn from root.
 */
TEST(test_share)
{
	struct snapshot *hang[SNAPSHOTS_WRITING_PER_USER + 1];
	_cleanup_(output_freep) struct output *o = NULL;
	int fd = open("root", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct snapshot *root;
	struct store *to;
	int error = 0;

	assert_int_equal(output_new(flight(-1, 0, 1 << 20), fxt_whole_records, PACK_NONE, NULL, &o),
			 0);
	begin(o, 0, 5);
	for (unsigned user = 1; user < 6; user++) {
		for (unsigned i = 0; i <= SNAPSHOTS_WRITING_PER_USER; i++)
			hang[i] = ask(o, stuck_store_new(user));
		wait_for(snapshot_fd(hang[SNAPSHOTS_WRITING_PER_USER]));
		assert_true(snapshot_ended(hang[SNAPSHOTS_WRITING_PER_USER], &error));
		assert_int_equal(error, -EBUSY);
		for (unsigned i = 0; i <= SNAPSHOTS_WRITING_PER_USER; i++) {
			snapshot_cancel(hang[i]);
			snapshot_unref(hang[i]);
		}
	}
	assert_in_range(user_counts_get(&written_snapshots, 0).all, 1,
			SNAPSHOTS_WRITING_MAX - SNAPSHOTS_WRITING_ROOT);
	assert_int_equal(store_fd_new(fd, &to), 0);
	root = ask(o, to);
	wait_for(snapshot_fd(root));
	assert_true(snapshot_ended(root, &error));
	assert_int_equal(error, 0);
	snapshot_unref(root);
	stuck_store_let_go(true);
	assert_soon(user_counts_get(&written_snapshots, 0).all == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),     cmocka_unit_test(test_time),
		cmocka_unit_test(test_bytes),       cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_many_chunks), cmocka_unit_test(test_snapshot_while_writing),
		cmocka_unit_test(test_ended),       cmocka_unit_test(test_recover),
		cmocka_unit_test(test_recover_cut), cmocka_unit_test(test_recover_odd_files),
		cmocka_unit_test(test_output),      cmocka_unit_test(test_output_dropped),
		cmocka_unit_test(test_stuck),       cmocka_unit_test(test_dropped_on_the_way),
		cmocka_unit_test(test_share),
	};

	return cmocka_run_group_tests(tests, own_directory_set_up, own_directory_tear_down);
}
