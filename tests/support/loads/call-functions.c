/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of each kind that test-call-places.c searches. They are compiled, and never run.
 */
#include <stddef.h>

int leaf(int a);
int many_ways(int a, int b);
int last_in_another(int a);
int leaves(int a);
int six_arguments(int a, int b, int c, int d, int e, int f);
int known_as(int a);
int also_known_as(int a);
int ends_in_chosen(int a);
int ends_in_caller(int a);

extern volatile int sink;
extern int elsewhere(int a);
volatile int sink;

__attribute__((noinline)) int leaf(int a)
{
	return a + sink;
}

/* With a jump table. */
int many_ways(int a, int b)
{
	switch (a) {
	case 0:
		return b * 3;
	case 1:
		return b / (sink + 1);
	case 2:
		sink = b;
		return 5;
	case 3:
		return sink - b;
	case 4:
		return sink * b + 1;
	case 5:
		sink = 1;
		return 9;
	case 6:
		return sink | b;
	default:
		return -1;
	}
}

/* It ends with a jump to leaf(). */
int last_in_another(int a)
{
	return leaf(a + 1);
}

/* Ends with a jump to a function that is outside of the file. */
int leaves(int a)
{
	return elsewhere(a + 1);
}

int six_arguments(int a, int b, int c, int d, int e, int f)
{
	return leaf(a + b * c - d * e + f) + sink;
}

int known_as(int a)
{
	return a ^ sink;
}

int also_known_as(int a) __attribute__((alias("known_as")));

static int choose_me(int a)
{
	return a + 7;
}

static int (*choose(void))(int)
{
	return choose_me;
}

int chosen(int a) __attribute__((ifunc("choose")));

/* It ends with a jump to it. */
int ends_in_chosen(int a)
{
	return chosen(a + 1);
}

static int choose_calls(int a)
{
	return elsewhere(a) + 1;
}

static int (*choose_caller(void))(int)
{
	return choose_calls;
}

int chosen_caller(int a) __attribute__((ifunc("choose_caller")));

int ends_in_caller(int a)
{
	return chosen_caller(a + 1);
}

/* Ends with a jump to an address in a register, so the target is unknown. */
int choose_half(int a) __attribute__((visibility("hidden")));
__asm__(".text\n"
	".globl choose_half\n"
	".hidden choose_half\n"
	".type choose_half, @function\n"
	"choose_half:\n"
	"	jmp *%rdi\n"
	".size choose_half, . - choose_half\n");

static int (*choose_unknown(void))(int)
{
	return choose_half;
}

int chosen_half(int a) __attribute__((visibility("hidden"), ifunc("choose_unknown")));

int ends_in_half(int a)
{
	return chosen_half(a + 1);
}

/* Jump to addresses that the functions compute: in their body, also elsewhere, and from memory. */
int choose_inside(int a) __attribute__((visibility("hidden")));
__asm__(".globl choose_inside\n"
	".hidden choose_inside\n"
	".type choose_inside, @function\n"
	"choose_inside:\n"
	"	.cfi_startproc\n"
	"	lea 1f(%rip), %r9\n"
	"	shl $4, %ecx\n"
	"	add %r9, %rcx\n"
	"	jmp *%rcx\n"
	"1:\n"
	"	mov %edi, %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size choose_inside, . - choose_inside\n");

static int (*choose_for_inside(void))(int)
{
	return choose_inside;
}

int chosen_inside(int a) __attribute__((visibility("hidden"), ifunc("choose_for_inside")));
int ends_inside(int a)
{
	return chosen_inside(a + 1);
}

int choose_mixed(int a) __attribute__((visibility("hidden")));
__asm__(".globl choose_mixed\n"
	".hidden choose_mixed\n"
	".type choose_mixed, @function\n"
	"choose_mixed:\n"
	"	.cfi_startproc\n"
	"	test %edi, %edi\n"
	"	je 2f\n"
	"	lea 1f(%rip), %r9\n"
	"	shl $4, %ecx\n"
	"	add %r9, %rcx\n"
	"	jmp *%rcx\n"
	"2:\n"
	"	jmp *%rsi\n"
	"1:\n"
	"	mov %edi, %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size choose_mixed, . - choose_mixed\n");

static int (*choose_for_mixed(void))(int)
{
	return choose_mixed;
}

int chosen_mixed(int a) __attribute__((visibility("hidden"), ifunc("choose_for_mixed")));
int ends_in_mixed(int a)
{
	return chosen_mixed(a + 1);
}

int choose_late(int a) __attribute__((visibility("hidden")));
__asm__(".globl choose_late\n"
	".hidden choose_late\n"
	".type choose_late, @function\n"
	"choose_late:\n"
	"	.cfi_startproc\n"
	"	lea 1f(%rip), %rcx\n"
	"	test %edi, %edi\n"
	"	je 2f\n"
	"	mov %rsi, %rcx\n"
	"2:\n"
	"	jmp *%rcx\n"
	"1:\n"
	"	mov %edi, %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size choose_late, . - choose_late\n");

static int (*choose_for_late(void))(int)
{
	return choose_late;
}

int chosen_late(int a) __attribute__((visibility("hidden"), ifunc("choose_for_late")));
int ends_in_late(int a)
{
	return chosen_late(a + 1);
}

int choose_loaded(int a) __attribute__((visibility("hidden")));
__asm__(".globl choose_loaded\n"
	".hidden choose_loaded\n"
	".type choose_loaded, @function\n"
	"choose_loaded:\n"
	"	.cfi_startproc\n"
	"	lea 1f(%rip), %rcx\n"
	"	mov (%rcx), %rcx\n"
	"	jmp *%rcx\n"
	"1:\n"
	"	mov %edi, %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size choose_loaded, . - choose_loaded\n");

static int (*choose_for_loaded(void))(int)
{
	return choose_loaded;
}

int chosen_loaded(int a) __attribute__((visibility("hidden"), ifunc("choose_for_loaded")));
int ends_in_loaded(int a)
{
	return chosen_loaded(a + 1);
}

/*
 * The register of the jump can have another value (moved, masked), or code to which only the jump
 * leads leaves the body, directly or by an address in memory (exited, loaded_exited).
 */
#define CHOSEN_BODY(name, body, after)                                                             \
	int choose_##name(int a) __attribute__((visibility("hidden")));                            \
	__asm__(".globl choose_" #name "\n"                                                        \
		".hidden choose_" #name "\n"                                                       \
		".type choose_" #name ", @function\n"                                              \
		"choose_" #name ":\n"                                                              \
		"	.cfi_startproc\n" body "1:\n"                                              \
		"	mov %edi, %eax\n"                                                                \
		"	ret\n" after "	.cfi_endproc\n"                                             \
		".size choose_" #name ", . - choose_" #name "\n");                                 \
	static int (*choose_for_##name(void))(int)                                                 \
	{                                                                                          \
		return choose_##name;                                                              \
	}                                                                                          \
	int chosen_##name(int a)                                                                   \
		__attribute__((visibility("hidden"), ifunc("choose_for_" #name)));                 \
	int ends_in_##name(int a)                                                                  \
	{                                                                                          \
		return chosen_##name(a + 1);                                                       \
	}
CHOSEN_BODY(moved,
	    "	lea 1f(%rip), %rcx\n"
	    "	test %edi, %edi\n"
	    "	cmovne %rsi, %rcx\n"
	    "	jmp *%rcx\n",
	    "")
CHOSEN_BODY(masked,
	    "	lea 1f(%rip), %rcx\n"
	    "	and %esi, %ecx\n"
	    "	jmp *%rcx\n",
	    "")
CHOSEN_BODY(exited,
	    "	lea 1f(%rip), %r9\n"
	    "	add %r9, %rcx\n"
	    "	jmp *%rcx\n",
	    "	jmp puts@plt\n")
CHOSEN_BODY(loaded_exited,
	    "	lea 1f(%rip), %r9\n"
	    "	add %r9, %rcx\n"
	    "	jmp *%rcx\n",
	    "	jmp *puts@GOTPCREL(%rip)\n")

/* Reads its return address, and ends in a jump to the chosen function. */
int fragile_ends_in_chosen(int a);
__asm__(".text\n"
	".globl fragile_ends_in_chosen\n"
	".type fragile_ends_in_chosen, @function\n"
	"fragile_ends_in_chosen:\n"
	"	mov (%rsp), %rax\n"
	"	jmp chosen@plt\n"
	".size fragile_ends_in_chosen, . - fragile_ends_in_chosen\n");

static int (*const table[])(int) = { choose_me, choose_calls };

static int (*choose_unseen(void))(int)
{
	return table[sink & 1];
}

int chosen_unseen(int a) __attribute__((ifunc("choose_unseen")));

/* Like chosen_unseen(), but for a function of the vDSO, by the name that it has there. */
extern const char vdso_name[];
const char vdso_name[] = "__vdso_chosen_outside";

static int (*choose_outside(void))(int)
{
	return table[sink & 1];
}

int chosen_outside(int a) __attribute__((ifunc("choose_outside")));

/* A function whose first instruction is the target of its own loop. */
__asm__(".text\n"
	".globl turns\n"
	".type turns, @function\n"
	"turns:\n"
	"	lea -1(%rdi), %rdi\n"
	"	test %rdi, %rdi\n"
	"	jne turns\n"
	"	mov %rdi, %rax\n"
	"	ret\n"
	".size turns, . - turns\n");

/* Its loop begins behind the first instruction. */
__asm__(".globl counts_down\n"
	".type counts_down, @function\n"
	"counts_down:\n"
	"	mov $100, %eax\n"
	"0:	sub $1, %eax\n"
	"	jne 0b\n"
	"	ret\n"
	".size counts_down, . - counts_down\n");

/* The kernel refuses a probe on its second instruction, at byte 3. */
__asm__(".globl locked\n"
	".type locked, @function\n"
	"locked:\n"
	"	mov %rdi, %rax\n"
	"	lock addq $1, -8(%rsp)\n"
	"	ret\n"
	".size locked, . - locked\n");

/* Nor does the kernel set a probe on these first instructions: lock, and a segment behind another
 * prefix. */
__asm__(".globl locked_first\n"
	".type locked_first, @function\n"
	"locked_first:\n"
	"	lock addq $1, -8(%rsp)\n"
	"	mov %rdi, %rax\n"
	"	ret\n"
	".size locked_first, . - locked_first\n"
	".globl prefixed\n"
	".type prefixed, @function\n"
	"prefixed:\n"
	"	.byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
	"	mov %rdi, %rax\n"
	"	ret\n"
	".size prefixed, . - prefixed\n");

/* It returns in its first instruction. */
__asm__(".globl at_once\n"
	".type at_once, @function\n"
	"at_once:\n"
	"	ret\n"
	".size at_once, . - at_once\n");

/*
 * Like streams of glibc: tables of functions in a section of their own, and functions that end with
 * a jump through the table of a stream.
 */
struct stream {
	int (*const *functions)(struct stream *s);
	int n;
};

int ends_in_stream(struct stream *s);
int ends_in_framed_stream(struct stream *s, int n);
int ends_in_other_table(struct stream *s);

static int fills_first(struct stream *s)
{
	return s->n * 3 + sink;
}

static int fills_second(struct stream *s)
{
	return s->n - sink;
}

static int closes(struct stream *s)
{
	return s->n;
}

__attribute__((section("__libc_IO_vtables"), aligned(32),
	       used)) static int (*const streams[2][24])(struct stream *s) = {
	{ [3] = closes, [5] = fills_first },
	{ [3] = closes, [5] = fills_second },
};

int ends_in_stream(struct stream *s)
{
	if ((size_t)s->functions - (size_t)streams >= sizeof(streams))
		sink = 1;
	return s->functions[5](s);
}

/* The address is in a register when the frame is left. */
int ends_in_framed_stream(struct stream *s, int n)
{
	int (*const *functions)(struct stream * s) = s->functions;

	s->n = n;
	if ((size_t)functions - (size_t)streams >= sizeof(streams))
		elsewhere(n);
	return functions[5](s);
}

/* It does not refer to these tables. */
int ends_in_other_table(struct stream *s)
{
	return s->functions[5](s);
}
