/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocations whose stacks are wrong if they are walked by frame pointers, each with a known error.
 *
 *	1001, 1002 bytes   two functions end with a jump to malloc(), in an inlined helper: neither
 *	                   leaves a frame
 *	1003 bytes         in a function without a frame, so its caller is missed
 *	1004 bytes         in a function with another value in the place of its caller's frame
 *	                   (x86-64)
 *	1005 bytes         no error
 */
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static void *volatile kept[8];

static inline void *helper(size_t n)
{
	return malloc(n);
}

NOINLINE static void *jumps_first(void)
{
	return helper(1001);
}

NOINLINE static void *jumps_second(void)
{
	return helper(1002);
}

void *frameless(void);
void clobbers(void);

#if defined(__x86_64__)
/* The stack makes "bogus" look like an earlier caller of "below". */
__asm__(".text\n"
	".globl frameless\n"
	".type frameless, @function\n"
	"frameless: sub $8, %rsp\n"
	"mov $1003, %edi\n"
	"call malloc@PLT\n"
	"add $8, %rsp\n"
	"ret\n"
	".size frameless, . - frameless\n"
	".type below, @function\n"
	"below: ret\n"
	".size below, . - below\n"
	".type bogus, @function\n"
	"bogus: call below\n"
	"after: ret\n"
	".size bogus, . - bogus\n"
	".globl clobbers\n"
	".type clobbers, @function\n"
	"clobbers: push %rbp\n"
	"sub $16, %rsp\n"
	"lea after(%rip), %rax\n"
	"movq $0, (%rsp)\n"
	"mov %rax, 8(%rsp)\n"
	"mov %rsp, %rbp\n"
	"mov $1004, %edi\n"
	"call malloc@PLT\n"
	"add $16, %rsp\n"
	"pop %rbp\n"
	"ret\n"
	".size clobbers, . - clobbers\n");
#else
void *frameless(void)
{
	return NULL;
}

void clobbers(void)
{
}
#endif

NOINLINE static void missed(void)
{
	kept[2] = frameless();
}

NOINLINE static void right(void)
{
	kept[5] = malloc(1005);
}

int main(void)
{
	kept[0] = jumps_first();
	kept[1] = jumps_second();
	missed();
	clobbers();
	right();
	return 0;
}
