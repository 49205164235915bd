/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/programs/resource-calls.h"
#include "capture/stages/resources.h"
#include "tests/support/unit.h"

/* The books, and the reports so far. */
static struct {
	struct resources *books;
	uint64_t now_ns;
	unsigned n_made, n_freed;
} t;

static uint64_t page;

static int on_made(const struct resource_block *block, const struct rec_resource *call,
		   void *userdata)
{
	(void)block;
	(void)call;
	(void)userdata;
	t.n_made++;
	return 0;
}

static int on_freed(const struct resource_block *block, const struct rec_resource *call,
		    void *userdata)
{
	(void)block;
	(void)call;
	(void)userdata;
	t.n_freed++;
	return 0;
}

FIXTURE(set_up)
{
	const struct resources_sink sink = { on_made, on_freed, NULL };

	memset(&t, 0, sizeof(t));
	t.now_ns = 1000;
	page = (uint64_t)getpagesize();
	return resources_new(&sink, &t.books);
}

FIXTURE(tear_down)
{
	t.books = resources_free(t.books);
	return 0;
}

/* ---- calls ---- */

static struct rec_resource call_of(uint32_t tid, uint32_t operation, int64_t result)
{
	return (struct rec_resource){
		.head = {
			.ts_ns = ++t.now_ns,
			.size = sizeof(struct rec_resource),
			.kind = REC_RESOURCE,
			.pid = 1,
			.tid = tid,
		},
		.operation = operation,
		.result = result,
		.stack = 77,
	};
}

static void play(const struct rec_resource *rec)
{
	assert_int_equal(resources_record(t.books, rec), 0);
}

#define CALL(tid, operation, result, ...)                                                          \
	do {                                                                                       \
		struct rec_resource rec_ =                                                         \
			call_of(tid, RESOURCE_OP_##operation, (int64_t)(result));                  \
		const uint64_t args_[] = { __VA_ARGS__ };                                          \
		for (size_t i_ = 0; i_ < ARRAY_SIZE(args_); i_++)                                  \
			rec_.args[i_] = args_[i_];                                                 \
		play(&rec_);                                                                       \
	} while (0)

static void open_path(int fd, const char *path, int flags)
{
	struct rec_resource rec = call_of(5, RESOURCE_OP_OPENAT, fd);

	rec.args[2] = (uint64_t)flags;
	snprintf(rec.text, sizeof(rec.text), "%s", path);
	play(&rec);
}

static void unlink_path(const char *path)
{
	struct rec_resource rec = call_of(5, RESOURCE_OP_UNLINK, 0);

	snprintf(rec.text, sizeof(rec.text), "%s", path);
	play(&rec);
}

static void list(uint32_t resource, bool first, bool ends)
{
	const struct rec_listing rec = {
		.head = { .ts_ns = ++t.now_ns, .kind = REC_LISTING },
		.resources = UINT32_C(1) << resource,
		.first = first,
		.ends = ends,
	};

	assert_int_equal(resources_listing(t.books, &rec), 0);
}

static void find(uint32_t resource, uint64_t id, uint64_t size, const char *text, bool foreign)
{
	struct rec_found rec = {
		.head = { .ts_ns = ++t.now_ns, .kind = REC_FOUND },
		.id = id,
		.size = size,
		.resource = resource,
		.foreign = foreign,
	};

	snprintf(rec.text, sizeof(rec.text), "%s", text);
	assert_int_equal(resources_found(t.books, &rec), 0);
}

/* ---- existing resources ---- */

struct text {
	char *to;
	size_t used, room;
};

static int add_block(const struct resource_block *block, void *userdata)
{
	struct text *text = userdata;

	/* Ids of objects are hashes of their names. */
	text->used += (size_t)snprintf(
		text->to + text->used, text->room - text->used, "%s%s %llx %llu %s %s",
		text->used ? "\n" : "", resource_names[block->resource],
		block->resource == RESOURCE_SHM ? 0 : (unsigned long long)block->id,
		(unsigned long long)block->size, resource_call_name(block->origin.operation),
		block->text);
	assert_true(text->used < text->room);
	return 0;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Compares the blocks with the sorted lines in EXPECTED. */
static void assert_blocks_of(bool execed, const char *expected)
{
	char all[4096] = "", sorted[4096] = "", *lines[64];
	struct text text = { all, 0, sizeof(all) };
	size_t n = 0, used = 0;

	assert_int_equal(resources_each(t.books, execed, add_block, &text), 0);
	for (char *line = strtok(all, "\n"); line && n < ARRAY_SIZE(lines);
	     line = strtok(NULL, "\n"))
		lines[n++] = line;
	qsort(lines, n, sizeof(*lines), compare);
	for (size_t i = 0; i < n; i++)
		used += (size_t)snprintf(sorted + used, sizeof(sorted) - used, "%s%s",
					 i ? "\n" : "", lines[i]);
	assert_string_equal(sorted, expected);
}

static void assert_blocks(const char *expected)
{
	struct resource_sums *sums;
	uint64_t lives = 0;
	size_t pos = 0;

	assert_blocks_of(false, expected);
	/* The sums always match the reported blocks. */
	while ((sums = resources_next_sums(t.books, &pos)))
		lives += sums->blocks;
	assert_int_equal(lives, t.n_made - t.n_freed);
}

/* ---- descriptors ---- */

TEST(test_resources_fds)
{
	open_path(3, "/etc/a", O_CLOEXEC);
	open_path(4, "/etc/b", 0);
	CALL(5, SOCKET, 5, 1, 1, 0);
	CALL(5, DUP, 6, 4);
	CALL(5, DUP2, 3, 5, 3);
	CALL(5, PIPE2, 0, 7, 8, O_CLOEXEC);
	CALL(5, CLOSE, 0, 7);
	CALL(5, FCNTL, 9, 4, F_DUPFD_CLOEXEC, 0);
	CALL(5, CLOSE, 0, 4);
	/* A reused number. */
	CALL(5, EVENTFD2, 4, 0, O_CLOEXEC);
	CALL(5, CLOSE, 0, 1234);
	assert_blocks("fd 3 1 dup2 socket\nfd 4 1 eventfd2 eventfd\nfd 5 1 socket socket\n"
		      "fd 6 1 dup /etc/b\nfd 8 1 pipe2 pipe\nfd 9 1 fcntl /etc/b");
	assert_int_equal(resources_unmatched(t.books), 0);
	/* Descriptors that exec does not close. */
	CALL(5, SETFD, 0, 5, 1);
	CALL(5, SETFD, 0, 8, 0);
	assert_blocks_of(true, "fd 3 1 dup2 socket\nfd 6 1 dup /etc/b\nfd 8 1 pipe2 pipe");
	CALL(5, CLOSE_RANGE, 0, 5, 8, 0);
	CALL(5, CLOSE_RANGE, 0, 0, UINT32_MAX, 4);
	assert_blocks("fd 3 1 dup2 socket\nfd 4 1 eventfd2 eventfd\nfd 9 1 fcntl /etc/b");
	assert_blocks_of(true, "");
}

TEST(test_resources_fds_by_message)
{
	struct rec_resource rec = call_of(5, RESOURCE_OP_RECVMSG, 1);
	const int32_t fds[] = { 10, -1, 12 };

	rec.args[0] = 3;
	memcpy(rec.text, fds, sizeof(fds));
	play(&rec);
	assert_blocks("fd a 1 recvmsg by a message\nfd c 1 recvmsg by a message");
	/* More than possible. */
	rec.args[0] = 1000;
	play(&rec);
	assert_blocks("fd a 1 recvmsg by a message\nfd c 1 recvmsg by a message");
}

TEST(test_resources_fds_standard)
{
	CALL(5, DUP2, 1, 9, 1);
	open_path(0, "/x", 0);
	assert_blocks_of(false, "fd 0 1 openat /x");
	assert_blocks_of(true, "");
}

TEST(test_resources_fds_listed)
{
	open_path(3, "/early", 0);
	list(RESOURCE_FD, true, false);
	find(RESOURCE_FD, 0, 1, "/dev/null", false);
	find(RESOURCE_FD, 3, 1, "/early", false);
	find(RESOURCE_FD, 4, 1, "/before", false);
	list(RESOURCE_FD, true, true);
	assert_blocks("fd 3 1 openat /early");
	CALL(5, CLOSE, 0, 4);
	assert_int_equal(resources_unmatched(t.books), 1);
	open_path(4, "/a", 0);
	open_path(5, "/b", 0);
	open_path(6, "/c", 0);
	/*
	 * The close of 3 and the open of 9 were missed. 5 is closed and 7 opened while the list is
	 * read.
	 */
	list(RESOURCE_FD, false, false);
	CALL(5, CLOSE, 0, 5);
	open_path(7, "/d", 0);
	find(RESOURCE_FD, 0, 1, "/dev/null", false);
	find(RESOURCE_FD, 4, 1, "/real/a", false);
	find(RESOURCE_FD, 5, 1, "/b", false);
	find(RESOURCE_FD, 6, 1, "/c", false);
	find(RESOURCE_FD, 9, 1, "anon_inode:[pidfd]", false);
	list(RESOURCE_FD, false, true);
	assert_blocks("fd 4 1 openat /real/a\nfd 6 1 openat /c\nfd 7 1 openat /d\n"
		      "fd 9 1  anon_inode:[pidfd]");
	/* A list of another resource has no effect. */
	list(RESOURCE_SEGMENT, false, false);
	find(RESOURCE_FD, 10, 1, "?", false);
	list(RESOURCE_SEGMENT, false, true);
	assert_blocks("fd 4 1 openat /real/a\nfd 6 1 openat /c\nfd 7 1 openat /d\n"
		      "fd 9 1  anon_inode:[pidfd]");
}

/* ---- mappings ---- */

#define BASE UINT64_C(0x7f0000000000)

static void assert_mappings(const char *format, uint64_t start, uint64_t bytes)
{
	char expected[128];

	snprintf(expected, sizeof(expected), format, (unsigned long long)start,
		 (unsigned long long)bytes);
	assert_blocks(expected);
}

TEST(test_resources_mappings)
{
	CALL(5, MMAP, BASE, 10 * page - 5, MAP_ANONYMOUS, UINT64_MAX, 0);
	CALL(5, MUNMAP, 0, BASE + 1, page); /* fails */
	CALL(5, MUNMAP, 0, BASE, page);
	CALL(5, MUNMAP, 0, BASE + 4 * page, 100 * page);
	assert_mappings("mapping %llx %llu mmap ", BASE + page, 3 * page);
	/* Not the program's own, in place of it. */
	CALL(5, MMAP, BASE + 2 * page, 8 * page, MAP_ANONYMOUS | MAP_FIXED, UINT64_MAX, 1);
	assert_mappings("mapping %llx %llu mmap ", BASE + page, page);
	CALL(5, MREMAP_BEGIN, 0, 0);
	CALL(5, MREMAP, BASE + 64 * page, BASE + page, page, 5 * page, MREMAP_MAYMOVE);
	assert_mappings("mapping %llx %llu mmap ", BASE + 64 * page, 5 * page);
	/* A thread gets the addresses of a mapping that another one is just moving. */
	CALL(6, MREMAP_BEGIN, 0, 0);
	CALL(5, MMAP, BASE + 64 * page, page, MAP_ANONYMOUS, UINT64_MAX, 0);
	CALL(6, MREMAP, BASE + 80 * page, BASE + 64 * page, 5 * page, 5 * page, MREMAP_MAYMOVE);
	CALL(5, MUNMAP, 0, BASE + 80 * page, 100 * page);
	assert_mappings("mapping %llx %llu mmap ", BASE + 64 * page, page);
	/* Invalid. */
	CALL(5, MMAP, UINT64_MAX - page + 1, 2 * page, MAP_ANONYMOUS, UINT64_MAX, 0);
	CALL(5, MMAP, BASE, UINT64_MAX, MAP_ANONYMOUS, UINT64_MAX, 0);
	CALL(5, MMAP, BASE, 0, MAP_ANONYMOUS, UINT64_MAX, 0);
	CALL(5, MREMAP, UINT64_MAX - page + 1, BASE, UINT64_MAX, UINT64_MAX, 0);
	CALL(5, MUNMAP, 0, 0, UINT64_MAX);
	assert_mappings("mapping %llx %llu mmap ", BASE + 64 * page, page);
}

TEST(test_resources_mappings_listed)
{
	open_path(3, "/lib/x", 0);
	CALL(5, MMAP, BASE, 4 * page, MAP_PRIVATE, 3, 0);
	CALL(5, CLOSE, 0, 3);
	list(RESOURCE_MAPPING, false, false);
	CALL(5, MMAP, BASE + 9 * page, page, MAP_ANONYMOUS, UINT64_MAX, 0);
	find(RESOURCE_MAPPING, BASE - page, 2 * page, "/usr/lib/x", false);
	find(RESOURCE_MAPPING, BASE + 2 * page, page, "", false);
	find(RESOURCE_MAPPING, BASE + 50 * page, page, "[heap]", false);
	list(RESOURCE_MAPPING, false, true);
	CALL(5, MUNMAP, 0, BASE + 9 * page, page);
	CALL(5, MUNMAP, 0, BASE + 2 * page, page);
	assert_mappings("mapping %llx %llu mmap /usr/lib/x", BASE, page);
}

/* ---- shared memory ---- */

TEST(test_resources_segments)
{
	char expected[256];

	list(RESOURCE_SEGMENT, true, false);
	find(RESOURCE_SEGMENT, 7, page, "", true);
	list(RESOURCE_SEGMENT, true, true);
	CALL(5, SHMGET, 7, 0x1234, page, IPC_CREAT); /* exists already */
	CALL(5, SHMGET, 8, IPC_PRIVATE, 3 * page, 0);
	CALL(5, SHMGET, 9, 0x99, page, 0); /* another process's */
	CALL(5, SHMGET, 10, 0x77, 2 * page, IPC_CREAT);
	CALL(5, SHMGET, 11, 0x78, 2 * page, IPC_CREAT);
	CALL(5, SHMAT, BASE, 8, 0, 0);
	CALL(5, SHMAT, BASE + 9 * page, 8, 0, 0);
	CALL(5, SHMAT, BASE + 19 * page, 8, 0, 0);
	CALL(5, SHMDT, 0, BASE + 9 * page);
	CALL(5, MUNMAP, 0, BASE + 19 * page, 3 * page);
	CALL(5, SHMCTL, 0, 8, IPC_RMID);
	/* 11 existed before; 10 has another size than requested */
	list(RESOURCE_SEGMENT, false, false);
	find(RESOURCE_SEGMENT, 10, 5, "", false);
	find(RESOURCE_SEGMENT, 11, page, "", true);
	list(RESOURCE_SEGMENT, false, true);
	snprintf(expected, sizeof(expected),
		 "attachment %llx %llu shmat segment 8\nsegment a 5 shmget key 0x00000077",
		 (unsigned long long)BASE, (unsigned long long)(3 * page));
	assert_blocks(expected);
}

TEST(test_resources_objects)
{
	list(RESOURCE_SHM, true, false);
	find(RESOURCE_SHM, 0, 4, "old", false);
	list(RESOURCE_SHM, true, true);
	open_path(3, "/dev/shm/old", O_CREAT | O_RDWR);
	open_path(4, "/dev/shm/new", O_CREAT | O_RDWR);
	open_path(5, "/dev/shm/new", O_CREAT | O_RDWR);
	open_path(6, "/dev/shm/gone", O_CREAT | O_RDWR);
	open_path(7, "/dev/shm/read", O_RDONLY);
	open_path(8, "/dev/shm/", O_CREAT);
	CALL(5, FTRUNCATE, 0, 4, 4000);
	CALL(5, FTRUNCATE, 0, 7, 4000);
	unlink_path("/dev/shm/gone");
	unlink_path("/dev/shm/never");
	CALL(5, CLOSE_RANGE, 0, 0, UINT32_MAX, 0);
	assert_blocks("shm 0 4000 openat new");
	/* An object outlives the program. */
	assert_blocks_of(true, "shm 0 4000 openat new");
	list(RESOURCE_SHM, false, false);
	find(RESOURCE_SHM, 0, 4, "old", false);
	find(RESOURCE_SHM, 0, 4, "somebody's", false);
	list(RESOURCE_SHM, false, true);
	assert_blocks("");
}

/* ---- threads ---- */

TEST(test_resources_threads)
{
	/* joined, before and after its end is reported */
	CALL(5, THREAD_FORK, 0, 100);
	CALL(5, THREAD_CREATE, 0, 0xa0);
	CALL(100, THREAD_END, 0, 0);
	CALL(5, THREAD_JOIN, 0, 0xa0);
	CALL(5, THREAD_FORK, 0, 101);
	CALL(5, THREAD_CREATE, 0, 0xa0);
	CALL(5, THREAD_JOIN, 0, 0xa0);
	CALL(101, THREAD_END, 0, 0);
	assert_int_equal(t.n_made, 1);
	/* detached, with glibc and musl; and invalid ones */
	CALL(5, THREAD_FORK, 0, 102);
	CALL(5, THREAD_CREATE, 0, 0xa1, 0, 1, 0);
	CALL(102, THREAD_END, 0, 0);
	CALL(5, THREAD_FORK, 0, 103);
	CALL(5, THREAD_CREATE, 0, 0xa2, 131072, 8192, 1);
	CALL(103, THREAD_END, 0, 0);
	CALL(5, THREAD_FORK, 0, 104);
	CALL(5, THREAD_CREATE, 0, 0xa3, 131072, 8193, 0);
	CALL(104, THREAD_END, 0, 0);
	/* detaches itself, before pthread_create() has returned and after */
	CALL(5, THREAD_FORK, 0, 105);
	CALL(105, THREAD_DETACH, 0, 0xa4);
	CALL(105, THREAD_END, 0, 0);
	CALL(5, THREAD_CREATE, 0, 0xa4);
	CALL(5, THREAD_FORK, 0, 106);
	CALL(5, THREAD_CREATE, 0, 0xa5);
	CALL(106, THREAD_DETACH, 0, 0xa5);
	CALL(106, THREAD_END, 0, 0);
	/* ends before pthread_create() has returned */
	CALL(6, THREAD_FORK, 0, 107);
	CALL(107, THREAD_END, 0, 0);
	CALL(6, THREAD_CREATE, 0, 0xa6);
	/* runs; and its maker has ended; and a thread that was never made */
	CALL(8, THREAD_FORK, 0, 108);
	CALL(8, THREAD_CREATE, 0, 0xa7);
	CALL(8, THREAD_FORK, 0, 109);
	CALL(8, THREAD_END, 0, 0);
	assert_blocks("thread a3 0 pthread_create \nthread a6 0 pthread_create ");
	/* from before */
	CALL(5, THREAD_JOIN, 0, 0xff);
	assert_int_equal(resources_unmatched(t.books), 1);
	/* The tid of a thread that was left is reused. */
	CALL(5, THREAD_FORK, 0, 107);
	CALL(5, THREAD_CREATE, 0, 0xa8);
	CALL(107, THREAD_END, 0, 0);
	CALL(5, THREAD_JOIN, 0, 0xa6);
	assert_blocks("thread a3 0 pthread_create \nthread a8 0 pthread_create ");
	/* The exit of the process ends one that has just begun, and a detached one. */
	CALL(5, THREAD_FORK, 0, 110);
	CALL(5, THREAD_CREATE, 0, 0xa9);
	CALL(5, THREAD_DETACH, 0, 0xa9);
	CALL(108, THREAD_END, 0, 1);
	CALL(110, THREAD_END, 0, 1);
	assert_blocks("thread a3 0 pthread_create \n"
		      "thread a7 0 pthread_create ended by the exit of the process\n"
		      "thread a8 0 pthread_create ");
}

/* ---- the rest ---- */

TEST(test_resources_nonsense)
{
	srandom(1);
	for (unsigned i = 0; i < 100000; i++) {
		struct rec_resource rec =
			call_of((uint32_t)random() % 8, (uint32_t)random() % RESOURCE_OP_MAX,
				(int64_t)random() % 64 - 2);

		for (size_t a = 0; a < ARRAY_SIZE(rec.args); a++)
			rec.args[a] = (uint64_t)random() % 8 ? (uint64_t)random() % 64
							     : (uint64_t)random() << 33;
		if (random() % 4 == 0)
			rec.args[0] = rec.args[0] * page;
		rec.stack = (uint64_t)random() % 4;
		play(&rec);
		if (i % 1000 == 0) {
			list((uint32_t)random() % RESOURCE_MAX, random() % 2, false);
			find((uint32_t)random() % (RESOURCE_MAX + 1), (uint64_t)random() % 64, 1,
			     "x", random() % 2);
			list(0, false, true);
		}
	}
}

TEST(test_resources_calls)
{
	uint8_t calls[RESOURCE_CALLS_MAX] = { 0 };
	unsigned n = 0;

	resource_calls_fill(calls, 0);
	for (size_t i = 0; i < sizeof(calls); i++)
		n += calls[i] != 0;
	assert_int_equal(n, 0);
	resource_calls_fill(calls, UINT32_MAX);
	for (size_t i = 0; i < sizeof(calls); i++)
		if (calls[i]) {
			assert_true(calls[i] < RESOURCE_OP_MAX);
			assert_true(*resource_call_name(calls[i]) != '\0');
			n++;
		}
	assert_true(n > 40);
	assert_string_equal(resource_call_name(RESOURCE_OP_MMAP), "mmap");
	assert_string_equal(resource_call_name(RESOURCE_OP_IOCTL), "ioctl");
	assert_string_equal(resource_call_name(0), "");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_resources_fds),
		CASE(test_resources_fds_by_message),
		CASE(test_resources_fds_standard),
		CASE(test_resources_fds_listed),
		CASE(test_resources_mappings),
		CASE(test_resources_mappings_listed),
		CASE(test_resources_segments),
		CASE(test_resources_objects),
		CASE(test_resources_threads),
		CASE(test_resources_nonsense),
		cmocka_unit_test(test_resources_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
