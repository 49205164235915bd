/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program for make-tfile: it stops at certain places, and prints what a debugger must show there,
 * in the debugger's format. With an argument it does not stop. The label is for fast tracepoints,
 * which need an instruction of five bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
	int value;
	struct node *next;
	char name[16];
};

int global = 7;
struct node *list;

static int quiet;

#define STOP()                                                                                     \
	do {                                                                                       \
		if (!quiet)                                                                        \
			__asm__ volatile("int3");                                                  \
	} while (0)

static struct node *tfile_target_push(int value, const char *name)
{
	struct node *n = calloc(1, sizeof(*n));

	n->value = value;
	n->next = list;
	snprintf(n->name, sizeof(n->name), "%s", name);
	list = n;
	global += value;
	__asm__ volatile("tfile_target_fast: .byte 0x0f, 0x1f, 0x44, 0, 0");
	STOP();
	printf("global = %d; value = %d; list->value = %d; n->name = %s\n", global, value,
	       list->value, n->name);
	return n;
}

static int tfile_target_nest(int depth)
{
	int local = depth * 3;

	if (depth > 0)
		return tfile_target_nest(depth - 1) + local;
	return tfile_target_push(local + 40, "nested")->value;
}

static int tfile_target_compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	if (x + y == 3) {
		STOP();
		printf("global = %d; x = %d; y = %d\n", global, x, y);
	}
	return x - y;
}

int main(int argc, char **argv)
{
	int numbers[] = { 2, 1 };

	(void)argv;
	quiet = argc > 1;
	tfile_target_push(1, "one");
	tfile_target_push(2, "two");
	tfile_target_nest(3);
	qsort(numbers, 2, sizeof(numbers[0]), tfile_target_compare);
	return numbers[0] == 1 ? 0 : 1;
}
