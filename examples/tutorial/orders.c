// SPDX-License-Identifier: GPL-2.0-or-later
// orders: a slow program, for docs/TUTORIAL.md. Four threads book orders. A thread computes the
// price of an order and writes the order to a journal. An order is booked when it is on the disk.
//
//	cc -g -O1 -pthread -o orders orders.c
//
// With -DFIXED, threads do not hold the lock while they wait for the disk.

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WORKERS 4
#define ORDERS  250

static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER;
static int journal;

static __attribute__((noinline)) unsigned long price_order(unsigned long order)
{
	unsigned long price = order;

	for (int i = 0; i < 20000; i++)
		price = price * 2862933555777941757UL + 3037000493UL;
	return price % 10000;
}

static void fail(void)
{
	perror("orders: journal");
	exit(1);
}

static __attribute__((noinline)) void save_order(unsigned long order, unsigned long price)
{
	char line[64];
	int length = snprintf(line, sizeof(line), "order %lu: %lu\n", order, price);

	pthread_mutex_lock(&journal_lock);
	if (write(journal, line, (size_t)length) != length)
		fail();
#ifdef FIXED
	pthread_mutex_unlock(&journal_lock);
	if (fdatasync(journal) < 0)
		fail();
#else
	if (fdatasync(journal) < 0)
		fail();
	pthread_mutex_unlock(&journal_lock);
#endif
}

static void *work(void *first)
{
	for (unsigned long i = 0; i < ORDERS; i++) {
		unsigned long order = (unsigned long)first + i * WORKERS;

		save_order(order, price_order(order));
	}
	return NULL;
}

int main(void)
{
	pthread_t workers[WORKERS];

	journal = open("journal", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
	if (journal < 0) {
		perror("orders: journal");
		return 1;
	}
	for (unsigned long i = 0; i < WORKERS; i++) {
		if (pthread_create(&workers[i], NULL, work, (void *)i)) {
			fprintf(stderr, "orders: cannot start a thread\n");
			return 1;
		}
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	printf("%d orders booked\n", WORKERS * ORDERS);
	return 0;
}
