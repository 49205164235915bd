/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * why-deadlock [heap]: two threads that wait for each other's mutexes, one of which is robust. The
 * mutexes are static variables, or on the heap. And threads that wait for a condition variable and
 * a semaphore, which have no owner. Prints a line when all of them exist.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

/* (not in .bss, which has pages without a file) */
static pthread_mutex_t of_file[2] = { PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
				      PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP };
static pthread_mutex_t *mutexes = of_file;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both_have_one;
static sem_t zero;

static void *take_both(void *arg)
{
	long first = (long)arg;

	prctl(PR_SET_NAME, first ? "dead-b" : "dead-a");
	pthread_mutex_lock(&mutexes[first]);
	pthread_barrier_wait(&both_have_one);
	pthread_mutex_lock(&mutexes[!first]);
	return NULL;
}

static void *wait_for_condition(void *arg)
{
	prctl(PR_SET_NAME, "cond-waiter");
	pthread_mutex_lock(&guard);
	for (;;)
		pthread_cond_wait(&never, &guard);
	return NULL;
}

static void *wait_for_semaphore(void *arg)
{
	prctl(PR_SET_NAME, "sem-waiter");
	sem_wait(&zero);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_mutexattr_t robust;
	pthread_t thread;

	if (argc > 1)
		mutexes = calloc(2, sizeof(*mutexes));
	if (!mutexes)
		return 1;
	pthread_mutexattr_init(&robust);
	pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&mutexes[1], &robust);
	sem_init(&zero, 0, 0);
	pthread_barrier_init(&both_have_one, NULL, 2);
	pthread_create(&thread, NULL, wait_for_condition, NULL);
	pthread_create(&thread, NULL, wait_for_semaphore, NULL);
	pthread_create(&thread, NULL, take_both, (void *)0);
	pthread_create(&thread, NULL, take_both, (void *)1);
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}
