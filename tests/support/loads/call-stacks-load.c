/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that stacks and jumps make look as if they were left, for tests/system/function-calls.sh:
 * two coroutines that take turns, on stacks that lie side by side; a function that jumps to its own
 * begin; the same, left by longjmp() and called again from another place of its caller; one that
 * jumps to another; functions of libc that end in one that is chosen at run time, or in one of a
 * stream.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { ROUNDS = 5, STACK_BYTES = 65536 };

int suspended(int n);
long turns(long n);
int fills(long n, char *to, int leaves);
void leave_fills(void);
int jumped_to(int n);
int jumps(int n);

static ucontext_t first, coroutines[2];
static char stacks[2][STACK_BYTES];
static int current;

__attribute__((noipa)) static void suspend(void)
{
	int self = current;

	current = !self;
	swapcontext(&coroutines[self], &coroutines[!self]);
}

__attribute__((noipa)) int suspended(int n)
{
	suspend();
	return n * 10;
}

static void body(int id)
{
	for (int i = 0; i < ROUNDS; i++)
		suspended(id * 100 + i);
}

static void run_coroutines(void)
{
	for (int i = 0; i < 2; i++) {
		getcontext(&coroutines[i]);
		coroutines[i].uc_stack.ss_sp = stacks[i];
		coroutines[i].uc_stack.ss_size = STACK_BYTES;
		coroutines[i].uc_link = &first;
		makecontext(&coroutines[i], (void (*)(void))body, 1, i);
	}
	swapcontext(&first, &coroutines[0]);
}

/* Its first instruction is the target of its own loop. */
__asm__(".text\n"
	".globl turns\n"
	".type turns, @function\n"
	"turns:\n"
	"	sub $1, %rdi\n"
	"	jne turns\n"
	"	mov $7, %eax\n"
	"	ret\n"
	".size turns, . - turns\n");

/* Like turns(). Fills TO and returns its size, or LEAVES it by longjmp(). */
__asm__(".text\n"
	".globl fills\n"
	".type fills, @function\n"
	"fills:\n"
	"	sub $1, %rdi\n"
	"	jne fills\n"
	"	test %edx, %edx\n"
	"	jne 1f\n"
	"	movl $0x646362, (%rsi)\n"
	"	mov $3, %eax\n"
	"	ret\n"
	"1:	sub $8, %rsp\n"
	"	call leave_fills\n"
	"	ud2\n"
	".size fills, . - fills\n");

static jmp_buf before_fills;

__attribute__((noipa)) void leave_fills(void)
{
	longjmp(before_fills, 1);
}

__attribute__((noipa)) static void fill_twice(void)
{
	char first_one[4] = "old", second_one[4] = "old";

	if (setjmp(before_fills) == 0)
		fills(4, first_one, 1);
	fills(4, second_one, 0);
}

__attribute__((noipa)) int jumped_to(int n)
{
	return n + 1;
}

__attribute__((noipa)) int jumps(int n)
{
	return jumped_to(n * 2);
}

/* An empty buffer, which getc() fills, and a full one, which fputc() empties. */
static int use_streams(void)
{
	FILE *from = fopen("/dev/zero", "r"), *to = fopen("/dev/null", "w");
	char buffer[1];
	int n;

	if (!from || !to)
		return -1;
	setvbuf(from, buffer, _IOFBF, sizeof(buffer));
	setvbuf(to, NULL, _IONBF, 0);
	n = getc(from) + getc(from) + fputc('x', to);
	fclose(from);
	fclose(to);
	return n;
}

int main(void)
{
	long n = 0;

	run_coroutines();
	fill_twice();
	for (int i = 0; i < 3; i++) {
		char *copy = strdup("abc"), *part = strndup("abc", 2), *zeros = calloc(3, 50);

		n += turns(4) + jumps(i);
		n += copy && part && zeros ? strlen(copy) + strlen(part) : 0;
		free(copy);
		free(part);
		free(zeros);
	}
	return n == 3 * 7 + (1 + 3 + 5) + 3 * 5 && use_streams() == 'x' ? 0 : 1;
}
