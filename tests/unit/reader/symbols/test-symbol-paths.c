/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paths at which the files of a process are found, and files without a path.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "reader/symbols/find-file.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/fixtures/symbol-program.h"
#include "tests/support/unit.h"

TEST(test_process)
{
	struct symbols *s = open_symbols(&(struct symbols_options){ 0 });
	struct symbol_query query;
	struct program p;

	need_program();
	command("cp pie gone");
	program_start(&p, "gone");
	command("cp fixed other && mv other gone");
	query = (struct symbol_query){
		.pid = (uint32_t)p.pid,
		.address = program_address(&p, "sample_plain"),
		.mapping = p.mapping,
	};
	/* The present file has another inode. */
	assert_null(ask_symbols(s, &query, NULL)->function);
	assert_true(has_problem(s, "/gone", "inode"));
	symbols_free(s);
	s = open_symbols(&(struct symbols_options){ 0 });
	query.lives = true;
	if (geteuid() == 0) {
		assert_function(ask_symbols(s, &query, NULL), "sample_plain", 0);
		assert_false(ask_symbols(s, &query, NULL)->unsure);
	}
	program_stop(&p);
	symbols_free(s);
}

/* A file that only the process itself sees, as in a container. */
TEST(test_mount_namespace)
{
	struct symbols *s = open_symbols(&(struct symbols_options){ 0 });
	struct symbol_query query;
	struct program p;

	need_program();
	if (try_command("unshare -m true") != 0) {
		symbols_free(s);
		print_message("skip: this user may not make mount namespaces\n");
		skip();
	}
	command("mkdir hidden && { echo '#!/bin/sh'; echo exec unshare -m sh -c \\''"
		"mount -t tmpfs none %s && cp %s %s && exec %s/pie'\\'; } >script && chmod +x script",
		directory_path("hidden"), directory_path("pie"), directory_path("hidden"),
		directory_path("hidden"));
	program_start(&p, "script");
	assert_string_equal(p.mapping.path, directory_path("hidden/pie"));
	assert_null(ask_program(s, &p, p.points[0].address)->function);
	query = (struct symbol_query){
		.pid = (uint32_t)p.pid,
		.lives = true,
		.address = p.points[0].address,
		.mapping = p.mapping,
	};
	assert_function(ask_symbols(s, &query, NULL), p.points[0].name, 0);
	assert_false(ask_symbols(s, &query, NULL)->unsure);
	/* It has been read, so the process can end. */
	program_stop(&p);
	assert_all_points(s, &p);
	symbols_free(s);
}

/* A program that is in no file, but only in memory. */
TEST(test_memory)
{
	struct symbols *s = open_symbols(&(struct symbols_options){ 0 });
	uint8_t id[SYMBOL_BUILD_ID_MAX];
	struct symbol_query query;
	struct program p;

	need_program();
	command("cc -D_GNU_SOURCE -o from-memory %s/tests/support/loads/run-from-memory.c && "
		"{ echo '#!/bin/sh'; echo exec %s %s; } >in-memory && chmod +x in-memory",
		SOURCE_ROOT, directory_path("from-memory"), directory_path("pie"));
	program_start(&p, "in-memory");
	assert_string_equal(p.mapping.path, "/memfd:in memory (deleted)");
	query = (struct symbol_query){
		.pid = (uint32_t)p.pid,
		.lives = true,
		.address = p.points[0].address,
		.mapping = p.mapping,
	};
	/* Without a build id, it can be code of a run-time compiler. */
	query.mapping.n_build_id = 0;
	assert_null(ask_symbols(s, &query, NULL)->function);
	assert_true(has_problem(s, "perf-", "only in memory"));
	assert_int_equal(count_problems(s), 1);
	query.mapping.n_build_id = read_build_id("pie", id);
	query.mapping.build_id = id;
	if (query.mapping.n_build_id > 0 && geteuid() == 0) {
		assert_function(ask_symbols(s, &query, NULL), p.points[0].name, 0);
		assert_int_equal(count_problems(s), 1);
	}
	symbols_free(s);
	/* After its end, there is nothing to read. */
	s = open_symbols(&(struct symbols_options){ 0 });
	query.lives = false;
	if (query.mapping.n_build_id > 0) {
		assert_null(ask_symbols(s, &query, NULL)->function);
		assert_true(has_problem(s, "/memfd:in memory", "its process has ended"));
	}
	program_stop(&p);
	symbols_free(s);
}

TEST(test_sysroot)
{
	struct symbols *s;
	struct program p;

	need_program();
	command("mkdir -p root/usr/bin && cp pie root/usr/bin/there && ln -s /usr/bin/there root/link && "
		"ln -s ../../../../pie root/out && mkfifo root/fifo && : >root/empty");
	program_start(&p, "pie");
	program_stop(&p);
	s = open_symbols(&(struct symbols_options){ .sysroot = directory_path("root") });
	/* Links are resolved below the root, and never outside. */
	p.mapping.path = "/link";
	assert_all_points(s, &p);
	p.mapping.path = "/out";
	assert_null(ask_program(s, &p, p.points[0].address)->function);
	p.mapping.path = "/../pie";
	assert_null(ask_program(s, &p, p.points[0].address)->function);
	/* Special files are not waited for. */
	p.mapping.path = "/fifo";
	assert_null(ask_program(s, &p, p.points[0].address)->function);
	p.mapping.path = "/empty";
	assert_null(ask_program(s, &p, p.points[0].address)->function);
	assert_true(has_problem(s, "/empty", "ELF"));
	symbols_free(s);
	assert_int_equal(symbols_new(&s,
				     &(struct symbols_options){ .sysroot = directory_path("no") }),
			 -ENOENT);
}

TEST(test_no_mapping)
{
	static const char *const paths[] = { NULL,        "",        "[heap]",     "//anon",
					     "/memfd:x",  "[stack]", "/proc/kmsg", "relative",
					     "/dev/zero", "/" };
	struct symbols *s = open_symbols(&(struct symbols_options){ .lines = true });

	/* (unlike devices, files in shared memory are programs, too) */
	assert_true(find_is_file("/dev/shm/program"));
	assert_false(find_is_file("/dev/shm"));
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct symbol_query query = {
			.pid = 1,
			.lives = i % 2,
			.address = 0x7000,
			.mapping = { .path = paths[i], .start = 0x7000, .size = 0x1000 },
		};
		size_t n;
		const struct symbol_frame *frames = ask_symbols(s, &query, &n);

		assert_int_equal(n, 1);
		assert_null(frames[0].function);
		query.kernel = true;
		ask_symbols(s, &query, &n);
	}
	symbols_free(s);
}

TEST(test_vdso)
{
	struct symbols *s = open_symbols(&(struct symbols_options){ 0 });
	void *library = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *function = library ? dlsym(library, "__vdso_clock_gettime") : NULL;
	struct program self = { .pid = getpid() };
	struct symbol_query query;

	if (!function || getauxval(AT_SYSINFO_EHDR) == 0) {
		symbols_free(s);
		skip();
	}
	program_find_mapping(&self, (uint64_t)(uintptr_t)function);
	query = (struct symbol_query){
		.pid = (uint32_t)getpid(),
		.lives = true,
		.address = (uint64_t)(uintptr_t)function,
		.mapping = self.mapping,
	};
	assert_string_equal(query.mapping.path, "[vdso]");
	/* (it has an alias) */
	assert_string_equal(ask_symbols(s, &query, NULL)->function, "clock_gettime");
	assert_string_equal(ask_symbols(s, &query, NULL)->module, "[vdso]");
	assert_false(ask_symbols(s, &query, NULL)->unsure);
	query.mapping.build_id = (const uint8_t *)"wrong";
	query.mapping.n_build_id = 5;
	assert_null(ask_symbols(s, &query, NULL)->function);
	assert_true(has_problem(s, "[vdso]", "another kernel"));
	query.mapping.n_build_id = 0;
	query.lives = false;
	assert_true(ask_symbols(s, &query, NULL)->unsure);
	symbols_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process),    cmocka_unit_test(test_mount_namespace),
		cmocka_unit_test(test_memory),     cmocka_unit_test(test_sysroot),
		cmocka_unit_test(test_no_mapping), cmocka_unit_test(test_vdso),
	};

	return cmocka_run_group_tests(tests, programs_set_up, own_directory_tear_down);
}
