/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The library that stack-load loads during a recording.
 */
#include <stdint.h>
#include <time.h>

void library_spin(uint64_t ms);
void library_wait(uint64_t ms);

void library_spin(uint64_t ms)
{
	struct timespec t;
	uint64_t now, end = 0;

	do {
		for (volatile int i = 0; i < 20000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
		if (end == 0)
			end = now + ms * 1000000;
	} while (now < end);
}

/* Waits once. */
void library_wait(uint64_t ms)
{
	struct timespec t = { .tv_sec = (time_t)(ms / 1000),
			      .tv_nsec = (long)(ms % 1000) * 1000000 };

	/* (not by a jump, so that this function is on the stack) */
	while (nanosleep(&t, &t) < 0)
		;
}
