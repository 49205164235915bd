/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frames of code without tables, compared with the tables that compilers make for the same
 * code: nothing may be false, and most must be found. Each program is read twice, the second time
 * without its .eh_frame, and with or without its symbols.
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/sandbox/sandbox.h"
#include "capture/unwind/unwind-code-x86.h"
#include "capture/unwind/unwind-table.h"
#include "tests/support/find-rule.h"
#include "tests/support/fixtures/commands.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/unit.h"

/* ---- comparing ---- */

struct shares {
	unsigned n_equal, n_cut, n_false;
};

/* The words between SP at ADDRESS and the CFA by RULE; 0 = another register. */
static uint32_t words_of(uint32_t rule, uint64_t address)
{
	switch (UNWIND_RULE_KIND(rule)) {
	case UNWIND_SP:
	case UNWIND_CODE_SP:
		return (uint32_t)UNWIND_RULE_OFFSET(rule);
	case UNWIND_PLT:
		return (address & 15) >= (uint64_t)UNWIND_RULE_OFFSET(rule) ? 2 : 1;
	}
	return UNWIND_IS_SP_FAR(rule) ? UNWIND_SP_FAR_WORDS(rule) : 0;
}

/*
 * Returns true if the rule OURS does not contradict the rule THEIRS of the compiler. The place of
 * the caller's BP can differ where both are right: once it is saved, and after it is restored.
 */
static bool agrees(uint32_t ours, uint32_t theirs, uint64_t address)
{
	uint32_t our_bp = UNWIND_RULE_BP(ours), their_bp = UNWIND_RULE_BP(theirs);
	uint32_t our_words = words_of(ours, address), their_words = words_of(theirs, address);

	if (UNWIND_RULE_KIND(ours) == UNWIND_END)
		return UNWIND_RULE_KIND(theirs) == UNWIND_END;
	if (our_words != 0 && their_words != 0 && our_words != their_words)
		return false;
	if (UNWIND_RULE_KIND(ours) == UNWIND_CODE_BP && UNWIND_RULE_KIND(theirs) == UNWIND_BP &&
	    UNWIND_RULE_OFFSET(ours) != UNWIND_RULE_OFFSET(theirs))
		return false;
	return our_bp == their_bp || their_bp == UNWIND_BP_SAME || their_bp == UNWIND_BP_AT_BP ||
	       (our_bp == UNWIND_BP_SAME && our_words != 0 && our_words < their_bp);
}

static void compare(const struct unwind_table *ours, const struct unwind_table *theirs,
		    const uint8_t *data, struct shares *ret)
{
	for (uint32_t k = 0; k < theirs->n_segments; k++) {
		const struct unwind_segment *s = &theirs->segments[k];
		struct code_instruction i;

		for (uint64_t at = 0; at < s->size; at += i.length) {
			uint64_t address = s->address + at;
			uint32_t their = find_rule(theirs, address);
			uint32_t our = find_rule(ours, address);

			if (!code_x86_read(data + s->offset + at, s->size - at, address, &i)) {
				i.length = 1;
				continue;
			}
			if (i.is_padding || UNWIND_RULE_KIND(their) == UNWIND_NONE ||
			    UNWIND_RULE_KIND(their) == UNWIND_UNSUPPORTED || UNWIND_IS_CODE(their))
				continue;
			if (UNWIND_RULE_KIND(our) == UNWIND_UNPROVEN ||
			    UNWIND_RULE_KIND(our) == UNWIND_NONE) {
				ret->n_cut++;
			} else if (agrees(our, their, address)) {
				ret->n_equal++;
			} else {
				ret->n_false++;
				print_error("at %#" PRIx64 ": %#x, not %#x\n", address, our, their);
			}
		}
	}
}

/* ---- files ---- */

/* Hides the .eh_frame of the N bytes of a file; all sections, unless HAS_SYMBOLS. */
static void hide_tables(uint8_t *data, size_t n, bool has_symbols)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)data;
	Elf64_Phdr *parts = (Elf64_Phdr *)(data + header->e_phoff);
	Elf64_Shdr *sections = (Elf64_Shdr *)(data + header->e_shoff);
	const char *names;

	assert_true(header->e_shoff + header->e_shnum * sizeof(*sections) <= n);
	for (unsigned i = 0; i < header->e_phnum; i++)
		if (parts[i].p_type == PT_GNU_EH_FRAME)
			parts[i].p_type = PT_NULL;
	names = (const char *)data + sections[header->e_shstrndx].sh_offset;
	for (unsigned i = 0; i < header->e_shnum; i++)
		if (strcmp(names + sections[i].sh_name, ".eh_frame") == 0 ||
		    strcmp(names + sections[i].sh_name, ".debug_frame") == 0)
			sections[i].sh_size = 0;
	if (!has_symbols) {
		header->e_shoff = 0;
		header->e_shnum = header->e_shstrndx = 0;
	}
}

static struct shares judge(const char *path, bool has_symbols)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct unwind_table ours, theirs;
	struct shares shares = { 0 };
	_cleanup_free_ uint8_t *copy = NULL;
	void *data;
	size_t n;

	assert_true(fd >= 0);
	assert_int_equal(sandbox_map_file(fd, &data, &n), 0);
	copy = malloc(n);
	assert_non_null(copy);
	memcpy(copy, data, n);
	hide_tables(copy, n, has_symbols);
	assert_int_equal(unwind_table_read(data, n, &theirs), 0);
	assert_int_equal(unwind_table_read(copy, n, &ours), 0);
	assert_true(unwind_table_is_valid(&ours, n));
	compare(&ours, &theirs, data, &shares);
	print_message("%s%s: %u equal, %u cut off, %u false\n", path,
		      has_symbols ? ", with symbols" : "", shares.n_equal, shares.n_cut,
		      shares.n_false);
	unwind_table_deinit(&ours);
	unwind_table_deinit(&theirs);
	munmap(data, n);
	return shares;
}

/* Of 100 instructions, AT_LEAST have their frames. */
static void check_file(const char *path, bool has_symbols, unsigned at_least)
{
	struct shares s = judge(path, has_symbols);

	assert_int_equal(s.n_false, 0);
	assert_true(s.n_equal * 100 >= (s.n_equal + s.n_cut) * at_least);
}

/* ---- planted programs ---- */

static const char program_c[] =
	"#include <alloca.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
	"#define NOINLINE __attribute__((noinline))\n"
	"typedef float v8 __attribute__((vector_size(32)));\n"
	"volatile int sink; volatile v8 sum; int (*volatile by_pointer)(int);\n"
	/* it never returns, so the code after its calls belongs to others */
	"NOINLINE __attribute__((noreturn, cold)) static void die(const char *s, int n)\n"
	"{ if (n == 3) { fprintf(stderr, s, n); exit(n); } fputs(s, stderr); abort(); }\n"
	"NOINLINE static int leaf(int n) { for (int i = 0; i < n; i++) n ^= i * 31; return n; }\n"
	/* registers are saved only on the rare path */
	"NOINLINE static int wrapped(int n)\n"
	"{ if (__builtin_expect(n < 1000, 1)) return n * 3; int s = 0;\n"
	"  for (int i = 0; i < n; i++) s += leaf(i) * by_pointer(i) + n; return s; }\n"
	/* unlikely parts are moved away */
	"NOINLINE static int cold_part(int n, char *p)\n"
	"{ char room[64]; memset(room, n, 64); if (__builtin_expect(!p, 0)) die(\"%d no\", n);\n"
	"  for (int i = 0; i < 64; i++) { if (__builtin_expect(room[i] != n % 128, 0)) {\n"
	"  printf(\"%d %s\", n, p); wrapped(n); die(\"%d odd\", i); } sink += room[i]; }\n"
	"  return wrapped(n) + leaf(sink); }\n"
	"NOINLINE static int tail(int n) { return n & 1 ? leaf(n) : wrapped(n + 1); }\n"
	"NOINLINE static int tail_by_pointer(int n) { return by_pointer(n + sink); }\n"
	"NOINLINE static int cases(int n, int m)\n"
	"{ switch (n) { case 0: return leaf(m); case 1: sink = wrapped(m); break; case 2: die(\"c\", m);\n"
	"  case 3: sink += leaf(m) + n; return tail(sink); case 4: printf(\"%d\", m); break;\n"
	"  case 5: m = leaf(n) - m; break; case 6: return cold_part(n, (char *)&sink);\n"
	"  case 7: return -m; default: sink = n; } return sink * leaf(m) + n; }\n"
	"NOINLINE static int with_alloca(int n)\n"
	"{ char *p = alloca(n); memset(p, n, n); sink = p[n / 2]; return leaf(p[0]); }\n"
	"NOINLINE static void aligned(int n)\n"
	"{ v8 room[4] __attribute__((aligned(64))); memset(room, n, sizeof(room)); sum += room[n & 3];\n"
	"  sink += with_alloca(n + 1); }\n"
	"NOINLINE static int many(int a, int b, int c, int d, int e, int f, int g, int h)\n"
	"{ int x[8] = { a, b, c, d, e, f, g, h }; for (int i = 0; i < 8; i++) { aligned(x[i]);\n"
	"  x[i] += tail(x[7 - i]) + cases(i, x[i]); } return x[a & 7] + x[b & 7]; }\n"
	"NOINLINE static int deep(int n)\n"
	"{ return n ? deep(n - 1) + many(n, 1, 2, 3, 4, 5, 6, n) : tail_by_pointer(n); }\n"
	"extern int planted(int);\n"
	"int main(int argc, char **argv)\n"
	"{ by_pointer = argc > 9 ? tail : leaf; sink = deep(argc) + cold_part(argc, argv[0]);\n"
	"  return planted(argc) + cases(argc, 2); }\n";

/*
 * Code that compilers rarely make. A function that sets its frame late; one whose part is in front
 * of it; two that have one end; one that falls into the next one; a call that never returns, before
 * the part of another function; the address of the next instruction; a return by push; and a
 * function that takes its arguments off the stack.
 */
#define FUNCTION(name, code)                                                                       \
	".globl " name "\n.type " name ", @function\n" name ":\n.cfi_startproc\n" code             \
	".cfi_endproc\n.size " name ", .-" name "\n"
#define PUSH "\tpush %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset rbp, 0\n"
#define ROOM "\tsub $24, %rsp\n.cfi_adjust_cfa_offset 24\n"
#define BACK "\tadd $24, %rsp\n.cfi_adjust_cfa_offset -24\n"

static const char
	program_s[] =
		".text\n" FUNCTION("late", "\ttest %edi, %edi\n\tjz 1f\n\tcmp $5, %edi\n\tjg 2f\n" PUSH
					   "\tmov %rsp, %rbp\n.cfi_def_cfa_register rbp\n\tsub $16, %rsp\n\tcall one\n\tleave\n"
					   ".cfi_def_cfa rsp, 8\n.cfi_restore rbp\n1:\tret\n2:\txor %eax, %eax\n\tret\n") "part_of_front:\n.cfi_startproc\n.cfi_def_cfa_offset 32\n\tmov $1, %eax\n\tcall one\n"
															  "\tjmp back_in_front\n.cfi_endproc\n" FUNCTION("front", ROOM "\ttest %edi, %edi\n\tjs part_of_front\n\tcall one\n"
																						       "back_in_front:\n\tadd %edi, %eax\n" BACK "\tret\n") FUNCTION("either",
																														     "\ttest $1, %edi\n\tjz joined\n\tlea 1(%rdi), %eax\n\tjmp one\n") FUNCTION("joined", PUSH "\tmov %rsp, %rbp\n.cfi_def_cfa_register rbp\n\tcall late\n"
																																									       "\tpop %rbp\n.cfi_def_cfa rsp, 8\n.cfi_restore rbp\n\tjmp one\n") FUNCTION("falls",
																																																			  "\tinc %edi\n") FUNCTION("one", "\tlea 1(%rdi), %eax\n\tret\n") FUNCTION("ends",
																																																												   ROOM "\ttest %edi, %edi\n\tjz 1f\n\tcall one\n" BACK
																																																													"\tret\n"
																																																													".cfi_adjust_cfa_offset 24\n1:\tcall abort@PLT\n") "part_of_deep:\n.cfi_startproc\n.cfi_def_cfa_offset 48\n\tmov $7, %edi\n\tcall abort@PLT\n"
																																																																			   ".cfi_endproc\n" FUNCTION(
																																																																				   "deep_part",
																																																																				   "\tsub $40, %rsp\n.cfi_adjust_cfa_offset 40\n\ttest %edi, %edi\n"
																																																																				   "\tjz part_of_deep\n\tcall one\n\tadd $40, %rsp\n.cfi_adjust_cfa_offset -40\n\tret\n")
																																																																				   FUNCTION(
																																																																					   "where",
																																																																					   "\tcall 1f\n1:\n.cfi_adjust_cfa_offset 8\n\tpop %rax\n"
																																																																					   ".cfi_adjust_cfa_offset -8\n\tsub $late, %eax\n\tret\n")
																																																																					   FUNCTION(
																																																																						   "by_push",
																																																																						   "\tlea one(%rip), %rax\n\tpush %rax\n.cfi_adjust_cfa_offset 8\n\tret\n") FUNCTION("takes",
																																																																																     "\tmov 8(%rsp), %eax\n\tret $16\n") FUNCTION("gives",
																																																																																						  PUSH "\tmov %rsp, %rbp\n.cfi_def_cfa_register rbp\n\tpush $1\n\tpush $2\n"
																																																																																						       "\tcall takes\n\tleave\n.cfi_def_cfa rsp, 8\n.cfi_restore rbp\n\tret\n")
																																																																						   FUNCTION(
																																																																							   "planted",
																																																																							   "\tpush %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset rbx, 0\n"
																																																																							   "\tmov %edi, %ebx\n\tcall late\n\tcall front\n\tcall either\n\tcall falls\n"
																																																																							   "\tcall ends\n\tcall deep_part\n\tcall where\n\tcall by_push\n\tcall gives\n"
																																																																							   "\tpop %rbx\n.cfi_adjust_cfa_offset -8\n.cfi_restore rbx\n\tret\n") ".section .note.GNU-stack, \"\", @progbits\n";

static void write_text(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", own_directory(), name);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void check_build(const char *compiler, const char *options)
{
	char path[256];

	if (command_in(own_directory(), "command -v %s", compiler) != 0 ||
	    command_in(own_directory(), "%s %s -no-pie program.c program.s -o program", compiler,
		       options) != 0) {
		print_message("skip: %s %s makes no program\n", compiler, options);
		return;
	}
	print_message("%s %s\n", compiler, options);
	snprintf(path, sizeof(path), "%s/program", own_directory());
	check_file(path, false, 65);
	check_file(path, true, 80);
}

TEST(test_planted)
{
	static const char *const compilers[] = { "gcc", "clang" };
	static const char *const options[] = {
		"-O2 -fomit-frame-pointer",        "-O2 -fno-omit-frame-pointer",
		"-O0 -fno-omit-frame-pointer",     "-O1 -fomit-frame-pointer -fno-stack-protector",
		"-O3 -fomit-frame-pointer -mavx2", "-Os -fomit-frame-pointer -fcf-protection",
	};

	write_text("program.c", program_c);
	write_text("program.s", program_s);
	for (size_t i = 0; i < ARRAY_SIZE(compilers); i++)
		for (size_t k = 0; k < ARRAY_SIZE(options); k++)
			check_build(compilers[i], options[k]);
}

/* Each function calls the one before it: the last one returns because all others do. */
TEST(test_deep_calls)
{
	char text[32000], path[256];
	size_t n = 0;

	n += (size_t)snprintf(text, sizeof(text),
			      ".text\n.type f0, @function\nf0:\n"
			      ".cfi_startproc\n\tret\n.cfi_endproc\n");
	for (unsigned i = 1; i <= 100; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      ".type f%u, @function\nf%u:\n.cfi_startproc\n"
				      "\tpush %%rbx\n.cfi_adjust_cfa_offset 8\n\tcall f%u\n"
				      "\tpop %%rbx\n.cfi_adjust_cfa_offset -8\n\tret\n"
				      ".cfi_endproc\n",
				      i, i, i - 1);
	n += (size_t)snprintf(text + n, sizeof(text) - n,
			      ".globl main\n.type main, @function\nmain:\n.cfi_startproc\n"
			      "\tjmp f100\n.cfi_endproc\n"
			      ".section .note.GNU-stack, \"\", @progbits\n");
	assert_true(n < sizeof(text));
	write_text("calls.s", text);
	if (command_in(own_directory(), "gcc -no-pie calls.s -o calls") != 0) {
		print_message("skip: gcc makes no program\n");
		return;
	}
	snprintf(path, sizeof(path), "%s/calls", own_directory());
	check_file(path, false, 95);
}

/* The code of this test and of installed programs. */
TEST(test_real_files)
{
	static const char *const files[] = { "/usr/bin/bash", "/usr/bin/sqlite3", "/usr/bin/perl",
					     "/lib/x86_64-linux-gnu/libstdc++.so.6",
					     "/lib/x86_64-linux-gnu/libm.so.6" };

	check_file("/proc/self/exe", false, 60);
	check_file("/proc/self/exe", true, 75);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (access(files[i], R_OK) == 0)
			check_file(files[i], false, 60);
		else
			print_message("skip: no %s\n", files[i]);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_planted),
		cmocka_unit_test(test_deep_calls),
		cmocka_unit_test(test_real_files),
	};

	return cmocka_run_group_tests(tests, own_directory_set_up, own_directory_tear_down);
}
