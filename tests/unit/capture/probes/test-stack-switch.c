/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that loads the stack pointer: switches of coroutines, as libraries write them by hand, and
 * ordinary functions that restore their own stack. Each is assembled, with names and without.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/probes/stack-switch.h"
#include "tests/support/fixtures/commands.h"
#include "tests/support/unit.h"

static char dir[] = "/tmp/kymo-test-stack-switch.XXXXXX";

static const struct {
	bool is_switch;
	const char *code;
} rows[] = {
	{ true, "push %rbp; mov %rsp,(%rdi); mov %rsi,%rsp; pop %rbp; ret" },
	{ true, "mov %rsp,8(%rdi); mov 8(%rsi),%rsp; jmp *16(%rsi)" },
	{ true, "mov %rsp,%rax; mov %rdi,%rsp; pop %rbp; pop %r8; jmp *%r8" },
	{ true, "mov %rsp,%rax; mov (%rdx,%rcx,8),%rsp; mov %rax,(%rdi); ret" },
	{ true, "push %rbx; xchg %rsp,(%rdi); pop %rbx; ret" },
	{ true, "xchg %rax,%rsp; ret" },
	{ true, "xchg %r9,%rsp; ret" },
	{ true, "mov %rsp,(%rdi); push (%rsi); pop %rsp; pop %r12; pop %rbx; ret" },
	{ true, "push %rbp; mov %rsp,%rbp; mov %rdi,%rsp; call *%rsi; leave; ret" },
	{ true, "mov %rsp,(%rdi); lea 16(%rsi),%rsp; jmp *(%rsi)" },
	/* prefixes */
	{ true, "mov %rsp,(%rdi); mov %fs:0x70,%rsp; ret" },
	{ true, "mov %rsp,(%rdi); mov %gs:8,%rsp; ret" },
	{ true, "mov %rsp,(%rdi); mov (%esi),%rsp; ret" },
	/* at the beginning of a section */
	{ true, ".section .turn,\"ax\"; mov (%rdi),%rsp; jmp *8(%rdi)" },
	/* a register that the kernel changes */
	{ true, "mov %rsp,%r11; syscall; mov %r11,%rsp; ret" },
	{ true, "mov %rsp,%rcx; syscall; mov %rcx,%rsp; ret" },
	/* behind the end of longjmp() */
	{ true, "mov %r8,%rsp; mov %r9,%rbp; jmp *%rdx; mov %rsp,(%rdi); mov (%rsi),%rsp; ret" },
	/* the target is in a structure (gcc -O0), or in a register that had the stack pointer */
	{ true, "mov %rdi,-8(%rbp); mov %rsp,(%rdi); mov -16(%rbp),%rax; mov (%rax),%rax; "
		"mov %rax,%rsp; pop %rbp; ret" },
	{ true, "mov %rsp,%rax; mov %rax,(%rdi); mov (%rsi),%rax; mov %rax,%rsp; ret" },
	{ true, "mov %rsp,%rdx; mov %rdx,(%rdi); xor %edx,%edx; mov %rdx,%rsp; ret" },
	{ true, "mov -16(%rbp),%rax; call *%rbx; mov %rax,%rsp; ret" },
	{ true, "mov -16(%rbp),%r9; mov 8(%rdi),%r9d; mov %r9,%rsp; ret" },
	/* a register that a branch, or a function of this file, gives another value */
	{ true, "mov %rsp,%rdx; test %rdi,%rdi; je 1f; leave; ret; 1: mov (%rdi),%rdx; "
		"mov %rdx,%rsp; ret" },
	{ true, "mov %rsp,%r11; call 2f; mov %r11,%rsp; ret; 2: mov (%rdi),%r11; ret" },
	{ true, "mov %rsp,%rax; call 2f; mov %rax,%rsp; ret; 2: ret" },
	{ true, "mov %rsp,%r11; call 2f; mov %r11,%rsp; ret; 2: jmp *(%rdi)" },
	/* ... or that a function does which this one calls or jumps to, or that is not known */
	{ true, "mov %rsp,%r11; call 2f; mov %r11,%rsp; ret; 2: call 3f; ret; "
		"3: mov (%rdi),%r11; ret" },
	{ true, "mov %rsp,%r11; call 2f; mov %r11,%rsp; ret; 2: call *(%rdi); ret" },
	{ true, "mov %rsp,%r11; call 2f; mov %r11,%rsp; ret; 2: call 2b; ret" },
	{ true, "mov %rsp,%r11; call 2f; mov %r11,%rsp; ret; 2: jmp 3f; nop; "
		"3: mov (%rdi),%r11; ret" },
	{ true, "jmp 1f; 3: mov (%rdi),%r11; ret; 1: mov %rsp,%r11; call 2f; mov %r11,%rsp; ret; "
		"2: nop; jmp 3b" },
	{ true, "mov %rsp,%r11; call 2f; mov %r11,%rsp; ret; 2: nop; nop; nop; jmp *(%rdi)" },
	{ true, "mov %rsp,%r11; call 2f; mov %r11,%rsp; ret; 2: nop; .byte 6; ret" },
	/* a register that other code keeps, which does not lead to the load */
	{ true, "mov %rsp,%rbx; call *%rax; mov (%rdi),%rbx; test %rdi,%rdi; je 1f; ret; "
		"1: mov %rbx,%rsp; ret" },
	{ true, "mov %rsp,%rbx; call *%rax; mov (%rdi),%rbx; test %rdi,%rdi; je 1f; ret; "
		".p2align 5; 1: mov %rbx,%rsp; ret" },
	/* ... and ones that keep it, on the way through a branch, a call, or an exception */
	{ false, "mov %rsp,%rdx; test %rdi,%rdi; je 1f; call *%rax; leave; ret; "
		 "1: mov %rdx,%rsp; leave; ret" },
	{ false, "mov %rsp,%r11; call 2f; mov %r11,%rsp; ret; 2: mov (%rdi),%r10; ret" },
	{ false, "mov %rsp,%r11; call 2f; mov %r11,%rsp; ret; 2: test %rdi,%rdi; je 1f; call 3f; "
		 "1: ret; 3: mov (%rdi),%r10; ret" },
	{ false, "mov %rsp,%r13; call *%rax; leave; ret; mov %r13,%rsp; jmp *%rdx" },
	{ false, "mov %rsp,%rdx; jmp *%rax; mov %rdx,%rsp; leave; ret" },
	/* a stack that was aligned long before: what is read begins in the middle */
	{ false, "mov -88(%rbp),%r10; mov %r10,%rsp; leave; ret; .skip 600*1024,0x90; "
		 "and $-32,%rsp; .skip 4096,0x90; mov 2048(%rsp),%rsp; ret; "
		 ".skip 510*1024,0x90; mov -88(%rbp),%r10; mov %r10,%rsp; leave; ret" },
	/* the end of a variable-length array, also behind its beginning, and of its copies */
	{ false,
	  "push %rbp; mov %rsp,%rbp; mov %rsp,%rbx; sub %rdi,%rsp; mov %rbx,%rsp; leave; ret" },
	{ false, "jmp 2f; 1: mov %r12,%rsp; leave; ret; 2: mov %rsp,%r12; sub %rdi,%rsp; jmp 1b" },
	{ false, "mov %rsp,%r10; mov %r10,%r13; sub %rdi,%rsp; mov %r13,%rsp; ret" },
	{ false, "push %rbp; mov %rsp,%rbp; sub %rdi,%rsp; mov -88(%rbp),%rsp; leave; ret" },
	{ false, "mov -88(%rbp),%r10; mov %r10,%rsp; leave; ret" },
	/* clang, and assembly code of libcrypto and of gnutls */
	{ false, "mov %rsp,%rax; sub %rdi,%rax; and $-16,%rax; mov %rax,%rsp; leave; ret" },
	{ false, "mov 48(%rdi),%r8; mov 8(%rdi),%r9; mov %r8,%rsp; mov %r9,%rbp; jmp *%rdx" },
	{ false, "neg %rdi; add %rsp,%rdi; mov %rdi,%rsp; leave; ret" },
	{ false, "lea 120(%rbp),%rax; mov -48(%rax),%r15; lea (%rax),%rsp; ret" },
	{ false, "mov -8(%rbp),%rcx; lea 8(%rcx),%rdx; lea 8(%rdx),%rsp; ret" },
	{ false, "lea (%rsp),%rbp; neg %rax; lea (%rax,%rbp),%rsp; ret" },
	{ false, "mov -88(%rbp),%rbx; call *%rax; mov %rbx,%rsp; leave; ret" },
	{ false, "mov %rsp,%rax; mov %rax,%rbx; mov (%rdi),%rax; mov %rbx,%rsp; leave; ret" },
	/* an aligned stack, and the ends of frames */
	{ false, "lea 8(%rsp),%r10; and $-32,%rsp; push -8(%r10); lea -8(%r10),%rsp; ret" },
	{ false, "mov %rsp,%rax; and $-64,%rsp; mov 24(%rsp),%rsi; lea (%rsi),%rsp; ret" },
	{ false, "push %rbp; mov %rsp,%rbp; mov %rbp,%rsp; pop %rbp; ret" },
	{ false, "lea -40(%rbp),%rsp; pop %rbx; pop %r12; pop %rbp; ret" },
	{ false, "sub %rax,%rsp; add %rax,%rsp; pop %r12; ret" },
	/* data: nothing passes on control */
	{ false, "ret; .byte 0x48,0x89,0xf4,6,6,6,6" },
};

static void need_assembler(void)
{
#if !defined(__x86_64__)
	skip();
#endif
	if (command_in(dir, "command -v cc strip") != 0)
		skip();
}

/* Searches the file NAME in the directory of the test. The name of the code is written to TO. */
static int search(const char *name, char to[static 64])
{
	_cleanup_(disassembler_freep) struct disassembler *d = NULL;
	_cleanup_close_ int fd = -1;
	struct elf_image image;
	const char *found;
	char path[256];
	uint64_t vaddr;
	void *data;
	size_t size, n;
	int r;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	size = (size_t)lseek(fd, 0, SEEK_END);
	data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(data != MAP_FAILED);
	assert_int_equal(disassembler_new(&d), 0);
	assert_int_equal(elf_image_init(&image, data, size), 0);
	r = stack_switch_find(&image, d, &vaddr);
	found = r > 0 ? stack_switch_name(&image, vaddr, &n) : NULL;
	snprintf(to, 64, "%.*s", found ? (int)n : 0, found ?: "");
	elf_image_deinit(&image);
	munmap(data, size);
	return r;
}

TEST(test_code)
{
	char name[64];

	need_assembler();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(command_in(dir,
					    "echo '.text; .skip 32,0x90; nop; code: %s; .skip 64' "
					    ">c.s && cc -shared -nostdlib -o c.so c.s && "
					    "strip -o bare.so c.so",
					    rows[i].code),
				 0);
		if (search("c.so", name) != rows[i].is_switch)
			fail_msg("%s", rows[i].code);
		assert_string_equal(name, rows[i].is_switch ? "code" : "");
		if (search("bare.so", name) != rows[i].is_switch)
			fail_msg("stripped: %s", rows[i].code);
	}
}

/*
 * A part of a function that the compiler has moved away uses its frame, and loads the stack pointer
 * that the other part has stored.
 */
TEST(test_part)
{
	static const struct {
		bool is_switch;
		const char *code;
	} parts[] = {
		{ false, "mov -88(%rbp),%rdi; mov %r13,%rsp; jmp *%rdx" },
		{ false, "lea -88(%rbp),%rdi; call *%rax; ud2; mov %r13,%rsp; jmp *%rdx" },
		{ true, "mov -88(%rbp),%rdi; mov (%rdi),%r13; mov %r13,%rsp; jmp *%rdx" },
		{ true, "mov -88(%rbp),%rdi; mov %rdi,%rcx; mov %r8,%rsp; jmp *%rdx" },
		{ true, "mov 88(%rbp),%rdi; mov %r13,%rsp; jmp *%rdx" },
		{ true, "push %rbp; mov %rsp,%rbp; mov -88(%rbp),%rdi; mov %r13,%rsp; jmp *%rdx" },
	};
	char name[64];

	need_assembler();
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		assert_int_equal(command_in(dir,
					    "echo '.text; nop; .cfi_startproc; %s; .cfi_endproc; "
					    ".skip 64' >c.s && cc -shared -nostdlib -o c.so c.s",
					    parts[i].code),
				 0);
		if (search("c.so", name) != parts[i].is_switch)
			fail_msg("%s", parts[i].code);
	}
}

/* The same code in a function that is known to stay on its stack. */
TEST(test_known)
{
	char name[64];

	need_assembler();
	assert_int_equal(command_in(dir, "echo '.text; nop; .type __longjmp,@function; "
					 "__longjmp: mov %%r8,%%rsp; jmp *%%rdx; .skip 64' >c.s && "
					 "cc -shared -nostdlib -o c.so c.s"),
			 0);
	assert_int_equal(search("c.so", name), 0);
}

/*
 * Code behind such a function, which has no name, and functions whose names only contain the words
 * are not known. A label without a size is.
 */
TEST(test_unknown)
{
	static const struct {
		bool is_switch;
		const char *code, *found;
	} known[] = {
		{ true, "_Unwind_f: ret; .size _Unwind_f, 1; mov %r8,%rsp; jmp *%rdx", "" },
		{ true, "my_ffi_f: mov %r8,%rsp; jmp *%rdx; .size my_ffi_f, 5", "my_ffi_f" },
		{ true, "my_ffi_f: nop; nop; mov %r8,%rsp; jmp *%rdx", "my_ffi_f" },
		{ false, "_Unwind_f: mov %r8,%rsp; jmp *%rdx; .size _Unwind_f, 5", "" },
		{ true,
		  "_Unwind_f: mov %r8,%rsp; jmp *%rdx; .size _Unwind_f, 5; "
		  "mov %r9,%rsp; jmp *%rdx",
		  "" },
		{ false, "ffi_f: mov %r8,%rsp; jmp *%rdx", "" },
	};
	char name[64];

	need_assembler();
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		assert_int_equal(
			command_in(dir,
				   "echo '.text; nop; .type ffi_f,@function; "
				   ".type my_ffi_f,@function; .type _Unwind_f,@function; "
				   "%s; .skip 64' >c.s && cc -shared -nostdlib -o c.so c.s",
				   known[i].code),
			0);
		if (search("c.so", name) != known[i].is_switch)
			fail_msg("%s", known[i].code);
		assert_string_equal(name, known[i].found);
	}
}

/* A switch whose target is an operand, as each optimization compiles it. */
TEST(test_compiled_switch)
{
	static const char *const flags[] = { "-O0", "-O1", "-O2", "-O2 -fno-omit-frame-pointer" };
	char name[64];

	need_assembler();
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		assert_int_equal(
			command_in(dir,
				   "printf 'struct stack { void *sp; };\n"
				   "void turn(struct stack *from, struct stack *to) {\n"
				   "asm volatile(\"mov %%%%%%%%rsp,%%%%0\" : \"=m\"(from->sp));\n"
				   "asm volatile(\"mov %%%%0,%%%%%%%%rsp\" :: \"r\"(to->sp)); }\n' "
				   ">s.c && cc %s -fPIC -shared -o s.so s.c",
				   flags[i]),
			0);
		assert_int_equal(search("s.so", name), 1);
		assert_string_equal(name, "turn");
	}
}

/* Compiled alloca(), arrays of variable length, and aligned variables are no switches. */
TEST(test_compiled)
{
	static const char *const flags[] = { "-O0", "-O2", "-O2 -fomit-frame-pointer" };
	char name[64];

	need_assembler();
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		assert_int_equal(
			command_in(
				dir,
				"printf '#include <alloca.h>\n#include <stdalign.h>\n"
				"void use(void *);\n"
				"void a(int n) { for (int i = 0; i < n; i++) "
				"{ char t[i + n]; use(t); } }\n"
				"void b(int n) { use(alloca(n)); alignas(64) char t[64]; use(t); }\n"
				"void c(int n) { if (n > 3) { char t[n]; use(t); } "
				"alignas(128) char u[n]; use(u); { char v[n * 2]; use(v); } }\n' "
				">a.c && cc %s -fPIC -shared -o a.so a.c",
				flags[i]),
			0);
		if (search("a.so", name) != 0)
			fail_msg("%s: %s", flags[i], name);
	}
}

/* More code than is searched: without a switch in its first part, the rest is unknown. */
LARGE_TEST(test_too_much)
{
	char name[64];

	need_assembler();
	for (int first = 0; first < 2; first++) {
		assert_int_equal(
			command_in(dir,
				   "echo '.text; nop; .globl code; .type code,@function; code: %s; "
				   ".rept 10; .balign 1048576; mov %%rsp,%%r12; sub %%rdi,%%rsp; "
				   "mov %%r12,%%rsp; ret; .endr; mov %%rdi,%%rsp; ret; .skip 64' "
				   ">c.s && cc -shared -nostdlib -o c.so c.s",
				   first ? "mov %rdi,%rsp; ret" : "nop"),
			0);
		assert_int_equal(search("c.so", name), first ? 1 : -EFBIG);
		assert_string_equal(name, first ? "code" : "");
	}
}

FIXTURE(set_up)
{
	return mkdtemp(dir) ? 0 : -1;
}

FIXTURE(tear_down)
{
	return command_in("/", "rm -rf %s", dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_part),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_compiled_switch),
		cmocka_unit_test(test_compiled),
		cmocka_unit_test(test_too_much),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
