/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program that the tests of symbols build, strip and take apart: functions of every kind that
 * needs names. Prints the addresses of some of them, one per line, then waits until its input ends.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int sample_plain(int x);
int sample_inlining(int x);
int sample_cxx(int x) __asm__("_ZN6sample6methodEi");
int __sample_alias(int x);
int sample_alias(int x) __attribute__((weak, alias("__sample_alias")));
int sample_chosen(int x);
void sample_unsized(void);
void sample_after_call(void);

static volatile int sink;

__attribute__((noinline)) int sample_plain(int x)
{
	for (int i = 0; i < x; i++)
		sink += i;
	return sink;
}

static inline __attribute__((always_inline)) int innermost(int x)
{
	sink += x;
	return sink * 3;
}

static inline __attribute__((always_inline)) int middle(int x)
{
	int sum = 0;

	for (int i = 0; i < x; i++)
		sum += innermost(i + x);
	return sum;
}

__attribute__((noinline)) int sample_inlining(int x)
{
	sink = x;
	if (x > 3)
		return middle(x) - innermost(x);
	return middle(x + 1);
}

__attribute__((noinline)) int sample_cxx(int x)
{
	return x + sink;
}

__attribute__((noinline)) int __sample_alias(int x)
{
	return x - sink;
}

static __attribute__((noinline, used)) int sample_local(int x)
{
	return x * sink;
}

static int (*choose(void))(int)
{
	return sample_local;
}

int sample_chosen(int x) __attribute__((ifunc("choose")));

/* The last instruction of code without a symbol, before a function. */
#if defined(__x86_64__)
#define CALL "	call sample_plain\n"
#elif defined(__aarch64__)
#define CALL "	bl sample_plain\n"
#else
#define CALL "	nop\n"
#endif

/* A function behind a call; and assembly without a size, behind padding. */
__asm__(".text\n"
	".p2align 4\n"
	".type sample_caller, %function\n"
	"sample_caller:\n"
	"	ret\n"
	".size sample_caller, . - sample_caller\n" CALL ".globl sample_after_call\n"
	".type sample_after_call, %function\n"
	"sample_after_call:\n"
	"	nop\n"
	"	nop\n"
	"	nop\n"
	"	ret\n"
	".size sample_after_call, . - sample_after_call\n"
	".p2align 4\n"
	".type sample_padded, %function\n"
	"sample_padded:\n"
	"	ret\n"
	".size sample_padded, . - sample_padded\n"
	".p2align 4\n"
	".globl sample_unsized\n"
	"sample_unsized:\n"
	"	nop\n"
	"	nop\n"
	"	nop\n"
	"	ret\n"
	".p2align 4\n");

static void print(const char *name, const void *address)
{
	printf("%s %lx\n", name, (unsigned long)(uintptr_t)address);
}

int main(void)
{
	print("sample_plain", (void *)sample_plain);
	print("sample_inlining", (void *)sample_inlining);
	print("sample::method(int)", (void *)sample_cxx);
	print("sample_alias", (void *)__sample_alias);
	print("sample_local", (void *)sample_local);
	print("sample_unsized", (void *)sample_unsized);
	print("sample_after_call", (void *)sample_after_call);
	print("main", (void *)main);
	fflush(stdout);
	while (getchar() != EOF)
		;
	return sample_chosen(sample_plain(3) + sample_inlining(4) + sample_cxx(1)) == 12345678;
}
