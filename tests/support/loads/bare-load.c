/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that jump to each other, and that keep no frame pointer, without tables. main(), which
 * is compiled with -DMAIN, has a table. It calls them until it is killed. tests/system/unwind.sh
 * removes the tables of the others, which are in .debug_frame.
 */
#include <stdint.h>

#define NOINLINE __attribute__((noinline, noclone))

extern volatile uint64_t sink;
uint64_t enter(uint64_t n), enter_first(uint64_t n), enter_asm(uint64_t n),
	enter_locals(uint64_t n);

#if defined(MAIN)
volatile uint64_t sink;

/* (with frames by rbp, so that a frame pointer leads here) */
NOINLINE static void run(uint64_t n)
{
	volatile char room[n % 64 + 16];

	room[0] = 1;
	sink += enter(n) + enter_first(n) + enter_asm(n) + enter_locals(n) + (uint64_t)room[0];
}

int main(void)
{
	for (uint64_t n = 0;; n++)
		run(n);
}
#else
NOINLINE static uint64_t spin(uint64_t n)
{
	for (unsigned i = 0; i < 20000; i++)
		n = n * 31 + i;
	return n;
}

/* (volatile, so that the compiler neither knows the callee, nor makes the call a jump) */
static uint64_t (*volatile by_pointer)(uint64_t) = spin;

NOINLINE uint64_t last(uint64_t n);

/* before the function that jumps to it */
NOINLINE uint64_t first(uint64_t n)
{
	uint64_t a[8];

	for (unsigned i = 0; i < 20000; i++) {
		a[i % 8] = n * 31 + i;
		__asm__ volatile("" : : "r"(a) : "memory");
		n ^= a[(i + 3) % 8];
	}
	return n;
}

NOINLINE uint64_t middle(uint64_t n)
{
	return n % 3 ? last(n + 1) : by_pointer(n) + 1;
}

uint64_t enter(uint64_t n)
{
	uint64_t saved = by_pointer(n);

	return middle(saved + n);
}

NOINLINE uint64_t last(uint64_t n)
{
	for (unsigned i = 0; i < 20000; i++)
		n = n * 37 + i;
	return n & 1 ? n : spin(n);
}

uint64_t enter_first(uint64_t n)
{
	return first(n + 2);
}

/* The stack of its callee has the return address of an earlier call on top. */
__asm__(".text\n"
	".globl enter_asm\n.type enter_asm, @function\nenter_asm:\n.cfi_startproc\n"
	"\tsub $24, %rsp\n.cfi_adjust_cfa_offset 24\n"
	"\tcall asm_calls\n\tcall asm_room\n"
	"\tadd $24, %rsp\n.cfi_adjust_cfa_offset -24\n\tjmp asm_either\n"
	".cfi_endproc\n.size enter_asm, .-enter_asm\n"
	".type asm_calls, @function\nasm_calls:\n.cfi_startproc\n"
	"\tsub $8, %rsp\n.cfi_adjust_cfa_offset 8\n\tcall asm_end\n"
	"\tadd $8, %rsp\n.cfi_adjust_cfa_offset -8\n\tret\n"
	".cfi_endproc\n.size asm_calls, .-asm_calls\n"
	".type asm_room, @function\nasm_room:\n.cfi_startproc\n"
	"\tsub $8, %rsp\n.cfi_adjust_cfa_offset 8\n\tmov $20000, %eax\n1:\tdec %eax\n\tjnz 1b\n"
	"\tadd $8, %rsp\n.cfi_adjust_cfa_offset -8\n\tret\n"
	".cfi_endproc\n.size asm_room, .-asm_room\n"
	".type asm_either, @function\nasm_either:\n.cfi_startproc\n"
	"\ttest $1, %dil\n\tjz asm_frame\n\tjmp asm_end\n"
	".cfi_endproc\n.size asm_either, .-asm_either\n"
	".type asm_frame, @function\nasm_frame:\n.cfi_startproc\n"
	"\tpush %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset rbp, 0\n\tmov %rsp, %rbp\n"
	".cfi_def_cfa_register rbp\n\tcall asm_end\n\tleave\n.cfi_def_cfa rsp, 8\n"
	".cfi_restore rbp\n\tret\n.cfi_endproc\n.size asm_frame, .-asm_frame\n"
	".type asm_end, @function\nasm_end:\n.cfi_startproc\n"
	"\tmov $20000, %eax\n1:\tdec %eax\n\tjnz 1b\n\tret\n"
	".cfi_endproc\n.size asm_end, .-asm_end\n");

/*
 * The function with a frame pointer never writes its local variables. The lowest one has the return
 * address of an earlier call of locals_end(), to which the function jumps at its end.
 */
__asm__(".text\n"
	".globl enter_locals\n.type enter_locals, @function\nenter_locals:\n.cfi_startproc\n"
	"\tsub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"
	"\tcall locals_calls\n\tcall locals_frame\n"
	"\tadd $8, %rsp\n.cfi_adjust_cfa_offset -8\n\tret\n"
	".cfi_endproc\n.size enter_locals, .-enter_locals\n"
	".type locals_calls, @function\nlocals_calls:\n.cfi_startproc\n"
	"\tsub $24, %rsp\n.cfi_adjust_cfa_offset 24\n\tcall locals_end\n"
	"\tadd $24, %rsp\n.cfi_adjust_cfa_offset -24\n\tret\n"
	".cfi_endproc\n.size locals_calls, .-locals_calls\n"
	".type locals_frame, @function\nlocals_frame:\n.cfi_startproc\n"
	"\tpush %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset rbp, 0\n\tmov %rsp, %rbp\n"
	".cfi_def_cfa_register rbp\n\tsub $24, %rsp\n"
	"\tmov $20000, %eax\n1:\tdec %eax\n\tjnz 1b\n"
	"\tleave\n.cfi_def_cfa rsp, 8\n.cfi_restore rbp\n\tjmp locals_end\n"
	".cfi_endproc\n.size locals_frame, .-locals_frame\n"
	".type locals_end, @function\nlocals_end:\n.cfi_startproc\n"
	"\tmov $1000, %eax\n1:\tdec %eax\n\tjnz 1b\n\tret\n"
	".cfi_endproc\n.size locals_end, .-locals_end\n");
#endif
