/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind tables of real files, installed ones and those that compilers make of a small program,
 * compared with elfutils' libdw at the same addresses. KYMO_UNWIND_FILES names further files.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/sandbox/sandbox.h"
#include "capture/unwind/unwind-table.h"
#include "tests/support/find-rule.h"
#include "tests/support/fixtures/commands.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/unit.h"
#include "tests/support/fixtures/unwind-truth.h"
#include "tests/support/valgrind.h"

#define command(...) assert_int_equal(command_in(own_directory(), __VA_ARGS__), 0)

enum {
	POINTS = 6000,           /* rows of a file that are compared */
	UNSUPPORTED_SHARE = 200, /* at most one row in this number */
	UNSUPPORTED_FEW = 10,    /* always accepted: a small library has few rows */
	BEYOND_SHARE = 20,       /* at most one point in this number is unknown to libdw */
};

/* ---- comparing ---- */

static const char *current;
static unsigned n_points, n_beyond;

static void fail_at(uint64_t address, uint32_t rule, const struct unwind_caller *ours,
		    const struct unwind_caller *theirs)
{
	print_error("%s: at %#" PRIx64 ", rule %#x: known %d %d, last %d %d, cfa %#" PRIx64
		    " %#" PRIx64 ", ip %#" PRIx64 " %#" PRIx64 ", bp %#" PRIx64 " %#" PRIx64 "\n",
		    current, address, rule, ours->known, theirs->known, ours->last, theirs->last,
		    ours->cfa, theirs->cfa, ours->ip, theirs->ip, ours->bp, theirs->bp);
	fail();
}

static void compare_at(const struct unwind_table *table, const struct unwind_truth *truth,
		       uint64_t address)
{
	uint32_t rule = find_rule(table, address);
	struct unwind_caller ours, theirs;
	bool understood = unwind_truth_caller(truth, address, &theirs);

	n_points++;
	/* Code without FDEs, also where a program begins. */
	if (!theirs.known && (UNWIND_IS_CODE(rule) || UNWIND_RULE_KIND(rule) == UNWIND_END))
		return;
	/*
	 * libdw reads a .debug_frame up to the first zero only; Go programs with C code have more.
	 */
	if (!theirs.known && truth->debug_frame && UNWIND_RULE_KIND(rule) != UNWIND_NONE) {
		n_beyond++;
		return;
	}
	if (UNWIND_RULE_KIND(rule) == UNWIND_UNSUPPORTED) {
		assert_true(theirs.known);
		return;
	}
	unwind_rule_caller(rule, address, &ours);
	if (!understood || ours.known != theirs.known || ours.last != theirs.last ||
	    ours.cfa != theirs.cfa || (ours.ip != theirs.ip && !ours.last) || ours.bp != theirs.bp)
		fail_at(address, rule, &ours, &theirs);
}

static bool is_common(uint32_t rule)
{
	return UNWIND_RULE_KIND(rule) == UNWIND_NONE || UNWIND_RULE_KIND(rule) == UNWIND_SP ||
	       UNWIND_RULE_KIND(rule) == UNWIND_BP;
}

/* Compares at each boundary and right before it. In a large file, similar ones are sampled. */
static void compare_rows(const struct unwind_table *table, const struct unwind_truth *truth)
{
	uint32_t step = table->n_rows / POINTS + 1;

	for (uint32_t i = 0; i < table->n_rows; i++) {
		uint64_t address = table->first_address + table->rows[i].address;
		unsigned n = UNWIND_RULE_KIND(table->rows[i].rule) == UNWIND_PLT ? 32 : 1;

		if (i % step != 0 && is_common(table->rows[i].rule))
			continue;
		compare_at(table, truth, address - 1);
		for (unsigned k = 0; k < n; k++)
			compare_at(table, truth, address + k);
	}
}

static void compare_all(const struct unwind_table *table, const struct unwind_truth *truth)
{
	uint32_t last = table->rows[table->n_rows - 1].address;

	compare_rows(table, truth);
	compare_at(table, truth, table->first_address + last);
	srand(1);
	for (unsigned i = 0; i < POINTS / 4; i++)
		compare_at(table, truth, table->first_address + (uint32_t)rand() % (last + 16));
}

static int read_table(int fd, struct unwind_table *ret)
{
	void *data;
	size_t n;
	int r = sandbox_map_file(fd, &data, &n);

	assert_int_equal(r, 0);
	r = unwind_table_read(data, n, ret);
	munmap(data, n);
	return r;
}

static void assert_same(const struct unwind_table *a, const struct unwind_table *b)
{
	assert_int_equal(a->n_rows, b->n_rows);
	assert_memory_equal(a->rows, b->rows, a->n_rows * sizeof(a->rows[0]));
	assert_memory_equal(a->segments, b->segments, sizeof(a->segments));
	assert_memory_equal(a->build_id, b->build_id, sizeof(a->build_id));
	assert_memory_equal(a->n_unsupported, b->n_unsupported, sizeof(a->n_unsupported));
}

static void assert_supported(const struct unwind_table *table)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < _UNWIND_WHYS; i++)
		n += table->n_unsupported[i];
	print_message("%s: %u rows, %u unsupported\n", current, table->n_rows, n);
	assert_true(n <= UNSUPPORTED_FEW || n * UNSUPPORTED_SHARE <= table->n_rows);
	assert_true(n_beyond * BEYOND_SHARE <= n_points);
}

static void check_file(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct unwind_table table, apart;
	struct unwind_truth truth;

	assert_true(fd >= 0);
	current = path;
	n_points = n_beyond = 0;
	assert_int_equal(read_table(fd, &table), 0);
	assert_int_equal(unwind_table_read_sandboxed(fd, UINT64_C(20000000000), &apart), 0);
	assert_same(&table, &apart);
	unwind_table_deinit(&apart);
	assert_int_equal(unwind_truth_init(&truth, fd), 0);
	if (table.n_rows > 0)
		compare_all(&table, &truth);
	assert_supported(&table);
	unwind_truth_deinit(&truth);
	unwind_table_deinit(&table);
}

/* ---- files of this machine ---- */

static void check_installed(const char *path)
{
	if (access(path, R_OK) == 0)
		check_file(path);
	else
		print_message("skip: no %s\n", path);
}

TEST(test_libraries)
{
	check_installed("/lib64/ld-linux-x86-64.so.2");
	check_installed("/lib/x86_64-linux-gnu/libc.so.6");
	check_installed("/lib/x86_64-linux-gnu/libm.so.6");
	check_installed("/lib/x86_64-linux-gnu/libstdc++.so.6");
	check_installed("/lib/x86_64-linux-gnu/libgcc_s.so.1");
	check_installed("/lib/x86_64-linux-gnu/libcrypto.so.3");
	check_installed("/lib/x86_64-linux-gnu/libz.so.1");
}

TEST(test_programs)
{
	check_installed("/usr/bin/bash");
	check_installed("/usr/bin/git");
	check_installed("/usr/bin/python3");
	check_installed("/usr/bin/sqlite3");
	check_installed("/usr/bin/node");
	check_installed("/usr/bin/gdb");
	check_installed("/root/.cargo/bin/cargo"); /* Rust */
	check_installed("/usr/local/bin/docker");  /* Go */
	check_installed("/proc/self/exe");
}

/* The vdso, which the kernel maps into each program. */
TEST(test_vdso)
{
	uintptr_t begin = getauxval(AT_SYSINFO_EHDR);
	_cleanup_close_ int fd = -1;
	char path[256];

	if (begin == 0) {
		print_message("skip: no vdso\n");
		skip();
	}
	snprintf(path, sizeof(path), "%s/vdso", own_directory());
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	/* (up to the end of the mapping, which ends the write) */
	assert_true(write(fd, (const void *)begin, 1 << 20) >= sysconf(_SC_PAGESIZE));
	check_file(path);
}

TEST(test_others)
{
	_cleanup_free_ char *paths = strdup(getenv("KYMO_UNWIND_FILES") ?: "");
	char *rest = NULL;

	assert_non_null(paths);
	for (char *path = strtok_r(paths, " ", &rest); path; path = strtok_r(NULL, " ", &rest))
		check_file(path);
}

/* ---- compilers ---- */

static const char source[] =
	"#include <alloca.h>\n#include <setjmp.h>\n#include <stdio.h>\n#include <string.h>\n"
	"typedef float v8 __attribute__((vector_size(32)));\n"
	"jmp_buf there; volatile v8 sum; volatile int sink;\n"
	"__attribute__((noinline)) int with_alloca(int n)\n"
	"{ char *p = alloca(n); memset(p, n, n); return p[n / 2]; }\n"
	"__attribute__((noinline)) void aligned(int n)\n"
	"{ v8 room[4] __attribute__((aligned(64))); memset(room, n, sizeof(room)); sum += room[n & 3];\n"
	"  sink += with_alloca(n + 1); }\n"
	"__attribute__((noinline)) int many(int a, int b, int c, int d, int e, int f, int g, int h)\n"
	"{ int x[8] = { a, b, c, d, e, f, g, h }; for (int i = 0; i < 8; i++) { aligned(x[i]);\n"
	"  x[i] += with_alloca(x[7 - i] + 1); } return x[a & 7] + x[b & 7]; }\n"
	"__attribute__((noinline)) int tail(int n) { return n > 9 ? with_alloca(n) : printf(\"%d\", n); }\n"
	"__attribute__((noinline)) int deep(int n)\n"
	"{ if (n == 0) longjmp(there, 1); return deep(n - 1) + many(n, 1, 2, 3, 4, 5, 6, n); }\n"
	"int main(int argc, char **argv)\n"
	"{ (void)argv; if (!setjmp(there)) sink = deep(argc + 11); return tail(argc); }\n";

static void check_build(const char *compiler, const char *options)
{
	char path[256];

	if (command_in(own_directory(), "command -v %s", compiler) != 0) {
		print_message("skip: no %s\n", compiler);
		return;
	}
	if (command_in(own_directory(), "%s %s program.c -o program", compiler, options) != 0) {
		print_message("skip: %s %s makes no program\n", compiler, options);
		return;
	}
	print_message("%s %s\n", compiler, options);
	snprintf(path, sizeof(path), "%s/program", own_directory());
	check_file(path);
}

TEST(test_compilers)
{
	static const char *const compilers[] = { "gcc", "clang" };
	static const char *const options[] = {
		"-O2 -fomit-frame-pointer",
		"-O3 -fomit-frame-pointer -mavx -no-pie -Wl,-z,lazy",
		"-O2 -fomit-frame-pointer -static",
		"-O2 -fomit-frame-pointer -pie -fPIE -fcf-protection -Wl,-z,lazy -Wl,-z,ibtplt",
		"-O0 -fno-omit-frame-pointer",
		"-O2 -g -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-dwarf2-cfi-asm",
		"-Os -fuse-ld=lld -Wl,-z,lazy",
		"-O2 -fuse-ld=gold",
		"-Os -mstackrealign",
	};
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/program.c", own_directory());
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(source, f);
	fclose(f);
	for (size_t i = 0; i < ARRAY_SIZE(compilers); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(options); k++)
			check_build(compilers[i], options[k]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_libraries), cmocka_unit_test(test_programs),
		cmocka_unit_test(test_vdso),      cmocka_unit_test(test_others),
		cmocka_unit_test(test_compilers),
	};

	if (under_valgrind()) {
		printf("skip: valgrind cannot follow where system calls are forbidden\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, own_directory_set_up, own_directory_tear_down);
}
