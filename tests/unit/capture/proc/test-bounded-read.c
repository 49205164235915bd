/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of mappings that cannot be read. A FIFO without a writer takes the place of the list: its
 * open waits, as a read of the list can wait for the lock of an address space.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/proc/bounded-read.h"
#include "capture/proc/mappings.h"
#include "capture/proc/reader-process.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/unit.h"

enum { KILLED_BYTES = 16 << 20 };

/* The children have the directory in which they were forked. */
static int set_up(void **state)
{
	reader_process_end_idle();
	return own_directory_set_up(state);
}

static int count(const struct rec_mapping *rec, void *userdata)
{
	int *n = userdata;

	assert_int_equal(rec->head.kind, REC_MAPPING);
	return ++*n == 3 ? -EDOM : 0;
}

static int list(uint32_t pid, int *ret_n)
{
	*ret_n = 0;
	return mappings_of_process_bounded(".", pid, count, ret_n, NULL);
}

TEST(test_whole)
{
	uint64_t cpu_ns = 0;
	int n = 0;

	put_text(".", "/proc/42/maps",
		 "00401000-00402000 r-xp 00001000 fe:01 77                /bin/a b\n"
		 "7f0000000000-7f0000002000 rwxp 00000000 00:00 0 \n");
	assert_int_equal(mappings_of_process_bounded(".", 42, count, &n, &cpu_ns), 0);
	assert_int_equal(n, 2);
	assert_true(cpu_ns > 0);
	assert_int_equal(list(43, &n), 0); /* has ended */
	assert_int_equal(n, 0);
	put_text(".", "/proc/44/maps",
		 "00401000-00402000 r-xp 00001000 fe:01 77                /bin/a\n"
		 "00403000-00404000 r-xp 00001000 fe:01 77                /bin/a\n"
		 "00405000-00406000 r-xp 00001000 fe:01 77                /bin/a\n"
		 "00407000-00408000 r-xp 00001000 fe:01 77                /bin/a\n");
	assert_int_equal(list(44, &n), -EDOM);
	assert_int_equal(n, 3);
}

/* A list that cannot be read delays no other one, and is not waited for again. */
TEST(test_hanging)
{
	_cleanup_close_ int writer = -1;
	int n;

	put_text(".", "/proc/42/maps", "");
	assert_int_equal(unlink("./proc/42/maps"), 0);
	assert_int_equal(mkfifo("./proc/42/maps", 0600), 0);
	put_text(".", "/proc/43/maps",
		 "00401000-00402000 r-xp 00001000 fe:01 77                /bin/a\n");
	assert_int_equal(list(42, &n), -ETIME);
	assert_int_equal(list(42, &n), -EBUSY);
	assert_int_equal(list(43, &n), 0);
	assert_int_equal(n, 1);
	/* The child that hangs ends when it can read again. */
	writer = open("./proc/42/maps", O_WRONLY | O_CLOEXEC);
	assert_true(writer >= 0);
	writer = close_fd(writer);
	assert_int_equal(unlink("./proc/42/maps"), 0);
	assert_soon(list(42, &n) == 0);
}

/* Appends the id of the process that reads. */
static int read_own_id(const char *root, uint32_t pid, struct outbuf *to)
{
	pid_t own = getpid();

	(void)root, (void)pid;
	return outbuf_append(to, &own, sizeof(own));
}

static pid_t reader_id(void)
{
	struct outbuf data = { 0 };
	pid_t id = -1;

	assert_int_equal(bounded_read("", 42, read_own_id, sizeof(id), &data, NULL), 0);
	assert_int_equal(data.size, sizeof(id));
	memcpy(&id, data.data, sizeof(id));
	outbuf_deinit(&data);
	return id;
}

/* One child serves all requests. If it is killed, another one does. */
TEST(test_killed)
{
	pid_t first = reader_id();
	siginfo_t info;

	assert_int_not_equal(first, getpid());
	assert_int_equal(reader_id(), first);
	assert_int_equal(kill(first, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)first, &info, WEXITED | WNOWAIT), 0);
	assert_int_not_equal(reader_id(), first);
}

static void *kill_soon(void *userdata)
{
	const struct timespec soon = { .tv_nsec = 200000000 };

	nanosleep(&soon, NULL);
	kill(*(pid_t *)userdata, SIGKILL);
	return NULL;
}

/* A child that is killed while it has a request is replaced, too. */
TEST(test_killed_with_request)
{
	pid_t first = reader_id();
	pthread_t thread;

	/* (if the thread is early, this is the case above) */
	assert_int_equal(kill(first, SIGSTOP), 0);
	assert_int_equal(pthread_create(&thread, NULL, kill_soon, &first), 0);
	assert_int_not_equal(reader_id(), first);
	pthread_join(thread, NULL);
}

/* Children end after some time, before they get the next request, or with that on its way. */
TEST(test_life)
{
	pid_t last = 0, id;

	reader_process_set_life(0);
	for (int i = 0; i < 50; i++) {
		id = reader_id();
		assert_int_not_equal(id, last);
		last = id;
	}
	/* Its memory is free before the next request. */
	assert_soon(waitid(P_PID, (id_t)last, &(siginfo_t){ 0 }, WEXITED | WNOWAIT) == 0);
	/* Its entry in the process table is removed even if there is no next request. */
	reader_process_forget_ended();
	assert_true(waitid(P_PID, (id_t)last, &(siginfo_t){ 0 }, WEXITED | WNOWAIT) < 0);
	assert_int_equal(errno, ECHILD);
	reader_process_set_life(UINT64_C(30000000000));
}

static size_t n_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/*
 * A reader_process_fn. Stops the parent, and returns a descriptor with more data than a socket
 * takes. So the child still sends when it is killed, and only then the parent continues.
 */
static int open_and_be_killed(const void *args, struct outbuf *to, int *ret_fd)
{
	const struct timespec soon = { .tv_nsec = 200000000 };
	pid_t parent = getppid(), child = getpid();

	(void)args;
	if (fork() == 0) {
		nanosleep(&soon, NULL);
		kill(child, SIGKILL);
		kill(parent, SIGCONT);
		_exit(0);
	}
	*ret_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	kill(parent, SIGSTOP);
	return outbuf_reserve(to, KILLED_BYTES) ? 0 : -ENOMEM;
}

/* A child that is killed before the end of its answer leaves no descriptor. */
TEST(test_killed_with_descriptor)
{
	static struct reader_pool pool = READER_POOL_INIT(4, UINT64_C(10000000000));
	const struct reader_job job = { .fn = open_and_be_killed, .args = "", .max = KILLED_BYTES };
	struct reader_answer answer;
	size_t n_before;
	int r;

	reader_process_end_idle();
	n_before = n_descriptors();
	r = reader_process_run(&pool, &job, &answer);
	assert_true(r == -EPIPE || r == -ECONNRESET);
	assert_int_equal(answer.fd, -1);
	assert_null(answer.data.data);
	assert_int_equal(n_descriptors(), n_before);
}

/* A reader_process_fn. */
static int open_with_data(const void *args, struct outbuf *to, int *ret_fd)
{
	(void)args;
	*ret_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return outbuf_append(to, "data", 4);
}

TEST(test_descriptor)
{
	static struct reader_pool pool = READER_POOL_INIT(4, UINT64_C(10000000000));
	const struct reader_job job = { .fn = open_with_data, .args = "", .max = 4 };
	struct reader_answer answer;

	for (int i = 0; i < 3; i++) {
		assert_int_equal(reader_process_run(&pool, &job, &answer), 0);
		assert_true(answer.fd >= 0);
		close(answer.fd);
		assert_int_equal(answer.data.size, 4);
		assert_memory_equal(answer.data.data, "data", 4);
		outbuf_deinit(&answer.data);
	}
}

/* A process ends although its child hangs, and the child ends with it. */
TEST(test_end)
{
	siginfo_t info;
	int r, n;
	pid_t pid;

	assert_int_equal(mkdir("./proc", 0700), 0);
	assert_int_equal(mkdir("./proc/42", 0700), 0);
	assert_int_equal(mkfifo("./proc/42/maps", 0600), 0);
	pid = fork();
	if (pid == 0) {
		r = list(42, &n);
		_exit(r == -ETIME ? 0 : 1);
	}
	assert_true(pid > 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED), 0);
	assert_int_equal(info.si_code, CLD_EXITED);
	assert_int_equal(info.si_status, 0);
	/* Nobody reads the FIFO any more. */
	assert_soon(open("./proc/42/maps", O_WRONLY | O_NONBLOCK | O_CLOEXEC) < 0);
	assert_int_equal(errno, ENXIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_whole, set_up, own_directory_tear_down),
		cmocka_unit_test_setup_teardown(test_hanging, set_up, own_directory_tear_down),
		cmocka_unit_test_setup_teardown(test_killed, set_up, own_directory_tear_down),
		cmocka_unit_test_setup_teardown(test_killed_with_request, set_up,
						own_directory_tear_down),
		cmocka_unit_test_setup_teardown(test_life, set_up, own_directory_tear_down),
		cmocka_unit_test(test_killed_with_descriptor),
		cmocka_unit_test(test_descriptor),
		cmocka_unit_test_setup_teardown(test_end, set_up, own_directory_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
