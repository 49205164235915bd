/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place-split N: calls functions N times whose arguments are hard to find: the compiler splits
 * split() into a hot and a cold part, and wide() has a number of a format that only its compiler
 * knows.
 */
#include <stdio.h>
#include <stdlib.h>

#define OWN __attribute__((noinline, noclone, noipa))

__attribute__((cold)) OWN void seldom(int n)
{
	fprintf(stderr, "%d is negative\n", n);
}

OWN int split(int n, const char *text)
{
	if (n < 0) {
		seldom(n);
		seldom(n - 1);
		return -n;
	}
	return n + (text[0] == 'a');
}

OWN int wide(long double number, int n)
{
	return n + (number > 2);
}

int main(int argc, char **argv)
{
	int sum = 0;

	for (int i = 0; argc > 1 && i < atoi(argv[1]); i++)
		sum += split(i, "abc") + wide(2.5L, i);
	printf("%d\n", sum);
	return 0;
}
