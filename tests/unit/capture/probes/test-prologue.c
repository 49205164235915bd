/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The place of a probe, for instructions whose bytes were made by hand from Intel's manual, volume
 * 2. The chosen instruction must be push, nop, jump or call, without a prefix (except REX.B of
 * push).
 */
#include <string.h>

#include "capture/probes/prologue.h"
#include "tests/support/unit.h"

static const struct {
	const char *what;
	size_t n;
	uint8_t bytes[32];
	size_t offset;
} rows[] = {
	{ "push r12", 2, { 0x41, 0x54 }, 0 },
	{ "push rbp", 1, { 0x55 }, 0 },
	/* 48 85 /r: test r/m64, r64; 0f 84: je rel32 */
	{ "test rdi, rdi; je", 9, { 0x48, 0x85, 0xff, 0x0f, 0x84, 1, 0, 0, 0 }, 3 },
	{ "test rdi, rdi; je rel8", 5, { 0x48, 0x85, 0xff, 0x74, 0x10 }, 3 },
	{ "endbr64; push rbx", 5, { 0xf3, 0x0f, 0x1e, 0xfa, 0x53 }, 4 },
	{ "endbr64; jmp rel32", 9, { 0xf3, 0x0f, 0x1e, 0xfa, 0xe9, 0, 1, 0, 0 }, 4 },
	/* 80 /7 ib: cmp r/m8, imm8, relative to rip */
	{ "cmp byte [rip+1], 0; je", 13, { 0x80, 0x3d, 1, 0, 0, 0, 0, 0x0f, 0x84, 1, 0, 0, 0 }, 7 },
	/* operator new of libstdc++: b8: mov eax, imm32; 48 0f 44 /r: cmove rax... */
	{ "endbr64; mov eax, 1; push rbp",
	  10,
	  { 0xf3, 0x0f, 0x1e, 0xfa, 0xb8, 1, 0, 0, 0, 0x55 },
	  9 },
	{ "endbr64; mov rax, rdi; push", 8, { 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x89, 0xf8, 0x53 }, 7 },
	{ "nop; push", 2, { 0x90, 0x53 }, 0 },
	/* 0f 1f /0: emulated since 6.18 only, so the next one is better */
	{ "nop dword [rax]; push", 4, { 0x0f, 0x1f, 0x00, 0x53 }, 3 },
	{ "pause; push", 3, { 0xf3, 0x90, 0x53 }, 2 },
	{ "call rel32", 5, { 0xe8, 1, 0, 0, 0 }, 0 },
	/* refused: the arguments or the stack have changed */
	{ "mov rdi, rsi; push", 4, { 0x48, 0x89, 0xf7, 0x53 }, 0 },
	{ "mov edi, esi; push", 3, { 0x89, 0xf7, 0x53 }, 0 },
	{ "add edi, 7; je", 5, { 0x83, 0xc7, 0x07, 0x74, 1 }, 0 },
	{ "mov cl, 1; push", 3, { 0xb1, 0x01, 0x53 }, 0 },
	{ "mov dh, 1; push", 3, { 0xb6, 0x01, 0x53 }, 0 },
	{ "xchg rsi, rax; push", 3, { 0x48, 0x96, 0x53 }, 0 },
	{ "sub rsp, 8; jmp", 6, { 0x48, 0x83, 0xec, 0x08, 0xeb, 0 }, 0 },
	{ "lea rsp, [rsp-8]; push", 6, { 0x48, 0x8d, 0x64, 0x24, 0xf8, 0x53 }, 0 },
	{ "pop rax; push", 2, { 0x58, 0x53 }, 0 },
	{ "rep movsb; push", 3, { 0xf3, 0xa4, 0x53 }, 0 }, /* rsi, rdi, rcx */
	{ "cpuid; push", 3, { 0x0f, 0xa2, 0x53 }, 0 },     /* rcx, rdx among others */
	{ "mul rsi; push", 4, { 0x48, 0xf7, 0xe6, 0x53 }, 0 },
	/* (it writes rcx, and is the purpose of the function) */
	{ "mov eax, 89; syscall; jae", 9, { 0xb8, 89, 0, 0, 0, 0x0f, 0x05, 0x73, 1 }, 0 },
	/* refused: not every call reaches it */
	{ "ret; push", 2, { 0xc3, 0x53 }, 0 },
	{ "jmp [rip]; push", 7, { 0xff, 0x25, 0, 0, 0, 0, 0x53 }, 0 },
	{ "jrcxz; push", 3, { 0xe3, 0x00, 0x53 }, 0 },
	{ "int3; push", 2, { 0xcc, 0x53 }, 0 },
	/* with a prefix, the kernel refuses the probe or single-steps */
	{ "bnd jmp", 6, { 0xf2, 0xe9, 0, 0, 0, 0 }, 0 },
	{ "push ax after test", 5, { 0x48, 0x85, 0xff, 0x66, 0x50 }, 0 },
	{ "push [rip]", 9, { 0x48, 0x85, 0xff, 0xff, 0x35, 0, 0, 0, 0 }, 0 },
	{ "push imm8", 5, { 0x48, 0x85, 0xff, 0x6a, 0x00 }, 0 },
	/* no instruction, or an incomplete one */
	{ "no bytes", 0, { 0 }, 0 },
	{ "cut off", 2, { 0x48, 0x85 }, 0 },
	{ "cut off behind test", 5, { 0x48, 0x85, 0xff, 0x0f, 0x84 }, 0 },
	{ "no instruction", 4, { 0x48, 0x85, 0xff, 0x06 }, 0 }, /* push es: not in 64 bits */
};

TEST(test_offsets)
{
	_cleanup_(disassembler_freep) struct disassembler *d = NULL;

	assert_int_equal(disassembler_new(&d), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t offset = prologue_offset(d, rows[i].bytes, rows[i].n);

		if (offset != rows[i].offset)
			print_error("%s: %zu, not %zu\n", rows[i].what, offset, rows[i].offset);
		assert_int_equal(offset, rows[i].offset);
	}
}

TEST(test_far)
{
	_cleanup_(disassembler_freep) struct disassembler *d = NULL;
	uint8_t code[PROLOGUE_BYTES + 1];

	assert_int_equal(disassembler_new(&d), 0);
	memset(code, 0xf8, sizeof(code)); /* clc */
	code[PROLOGUE_BYTES - 1] = 0x53;
	assert_int_equal(prologue_offset(d, code, sizeof(code)), PROLOGUE_BYTES - 1);
	code[PROLOGUE_BYTES - 1] = 0xf8;
	code[PROLOGUE_BYTES] = 0x53;
	assert_int_equal(prologue_offset(d, code, sizeof(code)), 0);
}

static void read_one(struct disassembler *d, size_t n, const uint8_t *p, struct instruction *ret)
{
	assert_true(disassembler_read(d, p, n, 0x1000, ret));
	assert_int_equal(ret->length, n);
}

TEST(test_targets)
{
	_cleanup_(disassembler_freep) struct disassembler *d = NULL;
	struct instruction i;

	assert_int_equal(disassembler_new(&d), 0);
	read_one(d, 5, (const uint8_t[]){ 0xe9, 0xfb, 0xff, 0xff, 0xff }, &i); /* to itself */
	assert_int_equal(i.kind, INSTRUCTION_JUMP);
	assert_int_equal(i.target, 0x1000);
	assert_int_equal(i.slot, 0);
	read_one(d, 2, (const uint8_t[]){ 0x75, 0x10 }, &i);
	assert_int_equal(i.kind, INSTRUCTION_BRANCH);
	assert_int_equal(i.target, 0x1012);
	assert_true(i.emulated);
	read_one(d, 2, (const uint8_t[]){ 0xe3, 0x10 }, &i);
	assert_int_equal(i.kind, INSTRUCTION_BRANCH);
	assert_false(i.emulated);
	read_one(d, 6, (const uint8_t[]){ 0xff, 0x25, 0x20, 0, 0, 0 }, &i);
	assert_int_equal(i.kind, INSTRUCTION_JUMP);
	assert_int_equal(i.target, 0);
	assert_int_equal(i.slot, 0x1026);
	read_one(d, 7, (const uint8_t[]){ 0xf2, 0xff, 0x25, 0x20, 0, 0, 0 }, &i); /* bnd */
	assert_int_equal(i.kind, INSTRUCTION_JUMP);
	assert_int_equal(i.slot, 0x1027);
	read_one(d, 6, (const uint8_t[]){ 0xff, 0x15, 0x20, 0, 0, 0 }, &i);
	assert_int_equal(i.kind, INSTRUCTION_CALL);
	assert_int_equal(i.slot, 0x1026);
	read_one(d, 2, (const uint8_t[]){ 0xff, 0xe1 }, &i); /* jmp rcx */
	assert_int_equal(i.kind, INSTRUCTION_JUMP);
	assert_int_equal(i.target, 0);
	assert_int_equal(i.slot, 0);
	read_one(d, 3, (const uint8_t[]){ 0xff, 0x24, 0xc8 }, &i); /* jmp [rax+rcx*8] */
	assert_int_equal(i.kind, INSTRUCTION_JUMP);
	assert_int_equal(i.slot, 0);
	read_one(d, 1, (const uint8_t[]){ 0xc3 }, &i);
	assert_int_equal(i.kind, INSTRUCTION_RETURN);
	read_one(d, 2, (const uint8_t[]){ 0xf3, 0xc3 }, &i);
	assert_int_equal(i.kind, INSTRUCTION_RETURN);
	read_one(d, 3, (const uint8_t[]){ 0xc2, 0x08, 0x00 }, &i);
	assert_int_equal(i.kind, INSTRUCTION_RETURN);
	read_one(d, 2, (const uint8_t[]){ 0x0f, 0x0b }, &i); /* ud2 */
	assert_int_equal(i.kind, INSTRUCTION_END);
}

/* Instructions with VEX and EVEX prefixes, of which Capstone knows only some. */
TEST(test_vector_lengths)
{
	static const struct {
		const char *what;
		size_t n;
		uint8_t bytes[16];
	} vectors[] = {
		{ "kmovq k1, rcx", 5, { 0xc4, 0xe1, 0xfb, 0x92, 0xc9 } },
		{ "kmovd k1, ecx", 4, { 0xc5, 0xfb, 0x92, 0xc9 } },
		{ "vzeroupper", 3, { 0xc5, 0xf8, 0x77 } },
		{ "vpcmpeqb k0, ymm16, [rdi]", 6, { 0x62, 0xf1, 0x7d, 0x20, 0x74, 0x07 } },
		{ "vmovdqu64 [rdi+rdx-64], zmm16",
		  8,
		  { 0x62, 0xe1, 0xfe, 0x48, 0x7f, 0x44, 0x17, 0xff } },
		{ "vmovdqu64 zmm16, [rip+1]",
		  10,
		  { 0x62, 0xe1, 0xfe, 0x48, 0x6f, 0x05, 1, 0, 0, 0 } },
		{ "vpternlogd zmm16, zmm16, zmm16, 255",
		  7,
		  { 0x62, 0xa3, 0x7d, 0x40, 0x25, 0xc0, 0xff } },
		{ "vpsrldq xmm16, xmm17, 8", 7, { 0x62, 0xb1, 0x7d, 0x00, 0x73, 0xd9, 8 } },
	};
	_cleanup_(disassembler_freep) struct disassembler *d = NULL;
	struct instruction i;

	assert_int_equal(disassembler_new(&d), 0);
	for (size_t k = 0; k < ARRAY_SIZE(vectors); k++) {
		if (!disassembler_read(d, vectors[k].bytes, sizeof(vectors[k].bytes), 4096, &i) ||
		    i.length != vectors[k].n || i.kind != INSTRUCTION_PLAIN)
			fail_msg("%s: %zu", vectors[k].what, i.length);
		/* Cut off anywhere, it is none. */
		for (size_t n = 1; n < vectors[k].n; n++)
			assert_false(disassembler_read(d, vectors[k].bytes, n, 4096, &i));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_vector_lengths),
		cmocka_unit_test(test_far),
		cmocka_unit_test(test_targets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
