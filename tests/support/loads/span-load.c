/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * span-load: its thread "span-worker" calls transaction() with known troubles. Prints a line of
 * JSON for each call: the trouble, and the time as the program has measured it. The thread
 * "span-owner" has the lock for which one of the calls waits. In the last call, the thread
 * "span-stuck" waits for the lock until the program gets a line on its standard input, or its end.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_MS = 120, SLEEP_MS = 60, SPIN_MS = 40, QUICK = 20 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t taken;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void sleep_ms(unsigned ms)
{
	struct timespec left = { .tv_nsec = ms * 1000000L };

	while (nanosleep(&left, &left) < 0)
		;
}

static void spin_ms(unsigned ms)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ms * UINT64_C(1000000);

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void *own(void *arg)
{
	prctl(PR_SET_NAME, "span-owner");
	pthread_mutex_lock(&mutex);
	sem_post(&taken);
	sleep_ms(LOCK_MS);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

__attribute__((noinline, noipa)) int transaction(const char *trouble)
{
	if (strcmp(trouble, "lock") == 0) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	} else if (strcmp(trouble, "sleep") == 0) {
		sleep_ms(SLEEP_MS);
	} else if (strcmp(trouble, "spin") == 0) {
		spin_ms(SPIN_MS);
	} else if (strcmp(trouble, "stuck") == 0) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return 0;
}

static void work(const char *trouble)
{
	uint64_t begin = clock_ns(CLOCK_MONOTONIC);

	transaction(trouble);
	printf("{\"trouble\":\"%s\",\"ns\":%llu}\n", trouble,
	       (unsigned long long)(clock_ns(CLOCK_MONOTONIC) - begin));
	fflush(stdout);
}

static void *be_stuck(void *arg)
{
	prctl(PR_SET_NAME, "span-stuck");
	transaction("stuck");
	return NULL;
}

static void *be_worker(void *arg)
{
	pthread_t owner;

	prctl(PR_SET_NAME, "span-worker");
	pthread_create(&owner, NULL, own, NULL);
	sem_wait(&taken);
	work("lock");
	pthread_join(owner, NULL);
	work("sleep");
	work("spin");
	for (int i = 0; i < QUICK; i++)
		work("none");
	return NULL;
}

int main(void)
{
	pthread_t worker, stuck;
	char line[16];

	prctl(PR_SET_NAME, "span-load");
	sem_init(&taken, 0, 0);
	pthread_create(&worker, NULL, be_worker, NULL);
	pthread_join(worker, NULL);
	pthread_mutex_lock(&mutex);
	pthread_create(&stuck, NULL, be_stuck, NULL);
	printf("{\"trouble\":\"stuck\",\"ns\":0}\n");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		line[0] = '\0';
	pthread_mutex_unlock(&mutex);
	pthread_join(stuck, NULL);
	return 0;
}
