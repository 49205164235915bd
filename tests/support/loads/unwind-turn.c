/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library that unwind-odd loads and unloads: turn() calls leaf_NAME(), with ROOM bytes on the
 * stack. Builds with different NAME and ROOM have different frames at the same addresses.
 */
#include <stdint.h>

#define NOINLINE    __attribute__((noinline))
#define BARRIER     __asm__ volatile("" ::: "memory")
#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

#define leaf_of_it JOIN(leaf_, NAME)

NOINLINE void leaf_of_it(volatile char *room);
void turn(void);

void leaf_of_it(volatile char *room)
{
	for (unsigned i = 0; i < 3000000; i++)
		room[i % ROOM] = (char)i;
	BARRIER;
}

void turn(void)
{
	volatile char room[ROOM];

	leaf_of_it(room);
	BARRIER;
}
