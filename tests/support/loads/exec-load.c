/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 *	exec-load N	executes itself N times; each of these programs keeps a block of 117 bytes
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char *argv[])
{
	unsigned long left = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	static void *volatile kept;
	char number[24];

	kept = malloc(117);
	if (left == 0)
		return kept && argc == 2 ? 0 : 1;
	snprintf(number, sizeof(number), "%lu", left - 1);
	execl("/proc/self/exe", "exec-load", number, (char *)NULL);
	return 1;
}
