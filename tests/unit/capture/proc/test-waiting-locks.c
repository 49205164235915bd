/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "capture/proc/waiting-locks.h"
#include "tests/support/unit.h"

enum { LOCKS = 3 };

/* In a page of the program's file, which is written. */
static pthread_mutex_t of_file = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static struct {
	pthread_mutex_t *mutex;
	pid_t tid;
	unsigned n; /* times that it was found */
} waiters[LOCKS];

static void *wait_for_lock(void *arg)
{
	size_t i = (size_t)arg;

	__atomic_store_n(&waiters[i].tid, (pid_t)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	pthread_mutex_lock(waiters[i].mutex);
	pthread_mutex_unlock(waiters[i].mutex);
	return NULL;
}

static int found(pid_t pid, pid_t tid, uint64_t address, void *userdata)
{
	if (pid != getpid())
		return 0;
	for (size_t i = 0; i < LOCKS; i++)
		if (waiters[i].tid == tid) {
			assert_int_equal(address, (uintptr_t)waiters[i].mutex);
			waiters[i].n++;
		}
	return 0;
}

static int stop(pid_t pid, pid_t tid, uint64_t address, void *userdata)
{
	return -ECANCELED;
}

/* Locks in private memory are found, and not one in shared memory, nor a thread that sleeps. */
TEST(test_locks)
{
	pthread_mutex_t on_heap = PTHREAD_MUTEX_INITIALIZER;
	pthread_t threads[LOCKS];

	waiters[0].mutex = &of_file;
	waiters[1].mutex = &on_heap;
	waiters[2].mutex =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(waiters[2].mutex, MAP_FAILED);
	pthread_mutex_init(waiters[2].mutex, NULL);
	for (size_t i = 0; i < LOCKS; i++) {
		pthread_mutex_lock(waiters[i].mutex);
		assert_int_equal(pthread_create(&threads[i], NULL, wait_for_lock, (void *)i), 0);
	}
	for (unsigned i = 0; i < 1000 && (waiters[0].n == 0 || waiters[1].n == 0); i++) {
		assert_int_equal(waiting_locks_each(found, NULL), 0);
		usleep(10000);
	}
	assert_true(waiters[0].n > 0);
	assert_true(waiters[1].n > 0);
	assert_int_equal(waiters[2].n, 0);
	assert_int_equal(waiting_locks_each(stop, NULL), -ECANCELED);
	for (size_t i = 0; i < LOCKS; i++) {
		pthread_mutex_unlock(waiters[i].mutex);
		pthread_join(threads[i], NULL);
	}
	munmap(waiters[2].mutex, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
