// SPDX-License-Identifier: GPL-2.0-or-later
// till: a program that fails, for docs/TUTORIAL.md. It writes a sale to a file every ten
// milliseconds, and locks the file meanwhile. A sale that takes a quarter of a second is an error.
//
//	cc -g -O1 -o till till.c

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

static int sales;

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static __attribute__((noinline)) void write_sale(int number)
{
	flock(sales, LOCK_EX);
	dprintf(sales, "sale %d\n", number);
	flock(sales, LOCK_UN);
}

int main(void)
{
	sales = open("sales", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
	if (sales < 0) {
		perror("till: sales");
		return 1;
	}
	for (int number = 1; number <= 2000; number++) {
		long start = now_ms(), took;

		write_sale(number);
		took = now_ms() - start;
		if (took >= 250) {
			printf("till: sale %d took %ld ms\n", number, took);
			return 1;
		}
		usleep(10000);
	}
	return 0;
}
