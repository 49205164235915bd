/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * app-load THREADS EVENTS [PAUSE_US]: a program that writes events of its own. It waits until its
 * category is recorded. Then each of THREADS threads makes EVENTS (an even number); the first is
 * the main thread. Every second event is a scope, of two records, that sleeps for PAUSE_US (0 = not
 * at all). Prints the number of records that it has made. With EVENTS of 0, other threads do so
 * until they are killed, and it prints a line when each has made 1000.
 */
#include <err.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "provider/kymo-provider.h"

enum { THREADS_MAX = 64, SHOWN = 1000 };

KYMO_CATEGORY(app_load);
KYMO_CATEGORY(app_other); /* of each thread, one record */

static long n_events, pause_us;
static pthread_barrier_t all_wrote;

static void sleep_us(long us)
{
	const struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	if (us > 0)
		nanosleep(&t, NULL);
}

static void make_event(long i)
{
	if (i % 2 == 0) {
		kymo_instant(app_load, "instant", kymo_int("n", i));
	} else {
		kymo_scope(app_load, "scope", kymo_int("n", i));
		sleep_us(pause_us);
	}
}

static void *write_events(void *unused)
{
	(void)unused;
	kymo_instant(app_other, "begins");
	for (long i = 0; i < n_events || n_events == 0; i++) {
		make_event(i);
		if (n_events == 0 && i == SHOWN)
			pthread_barrier_wait(&all_wrote);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	long n_threads = argc > 2 ? atol(argv[1]) : 0;

	if (n_threads < 1 || n_threads > THREADS_MAX)
		errx(2, "usage: app-load THREADS EVENTS [PAUSE_US]");
	n_events = atol(argv[2]);
	pause_us = argc > 3 ? atol(argv[3]) : 0;
	pthread_barrier_init(&all_wrote, NULL, (unsigned)n_threads + 1);
	if (kymo_provider_start("app-load") < 0)
		errx(1, "cannot start the provider");
	while (!kymo_is_on(app_load))
		sleep_us(1000);
	for (long i = n_events != 0; i < n_threads; i++)
		if (pthread_create(&threads[i], NULL, write_events, NULL) != 0)
			errx(1, "cannot create a thread");
	if (n_events == 0) {
		pthread_barrier_wait(&all_wrote);
		puts("written");
		fflush(stdout);
	} else {
		write_events(NULL);
	}
	for (long i = n_events != 0; i < n_threads; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", n_threads * (n_events / 2 * 3 + 1));
	return 0;
}
