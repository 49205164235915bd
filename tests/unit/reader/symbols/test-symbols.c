/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for addresses, and the files that provide them.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/fixtures/symbol-program.h"
#include "tests/support/unit.h"

TEST(test_symtab)
{
	static const char *const names[] = { "pie", "fixed" };

	need_program();
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct symbols *s = open_symbols(&(struct symbols_options){ 0 });
		uint8_t id[SYMBOL_BUILD_ID_MAX];
		const struct symbol_frame *frame;
		struct program p;

		program_start(&p, names[i]);
		p.mapping.build_id = id;
		p.mapping.n_build_id = read_build_id(names[i], id);
		assert_all_points(s, &p);
		frame = ask_program(s, &p, program_address(&p, "sample_plain"));
		assert_string_equal(frame->module, names[i]);
		assert_false(frame->unsure);
		assert_null(frame->source);
		assert_false(frame->inlined);
		/* There is nothing before the first function and after the mapping. */
		assert_null(ask_program(s, &p, p.mapping.start - 1)->function);
		assert_null(ask_program(s, &p, p.mapping.start + p.mapping.size)->function);
		assert_int_equal(count_problems(s), 0);
		program_stop(&p);
		symbols_free(s);
	}
}

/* A return address can be behind the end of the function. */
TEST(test_return_address)
{
	struct symbols *s = open_symbols(&(struct symbols_options){ 0 });
	struct symbol_query query;
	struct program p;
	uint64_t end;

	need_program();
	program_start(&p, "pie");
	end = program_address(&p, "sample_plain");
	query = (struct symbol_query){ .address = end, .is_return = true, .mapping = p.mapping };
	assert_function(ask_symbols(s, &query, NULL), "sample_unsized", 16);
	/* A signal has interrupted a function at its first instruction. */
	query.address = program_address(&p, "sample_unsized");
	assert_function(ask_symbols(s, &query, NULL), "sample_unsized", 0);
	/* A function without a symbol ends in a call. */
	query.address = program_address(&p, "sample_after_call");
	assert_null(ask_symbols(s, &query, NULL)->function);
	program_stop(&p);
	symbols_free(s);
}

TEST(test_plt)
{
	struct symbols *s = open_symbols(&(struct symbols_options){ 0 });
	char line[64];
	struct program p;
	unsigned long vaddr;

	need_program();
	if (!have_command("objdump"))
		skip();
	command("cc -O2 -no-pie -fcf-protection=none %s -o plt", SAMPLE);
	read_command(line, sizeof(line),
		     "objdump -d plt | sed -n 's/^0*\\([0-9a-f]*\\) <printf@plt>:/\\1/p'");
	vaddr = strtoul(line, NULL, 16);
	assert_true(vaddr > 0);
	program_start(&p, "plt");
	program_find_mapping(&p, vaddr);
	assert_function(ask_program(s, &p, vaddr + 6), "printf@plt", 6);
	program_stop(&p);
	symbols_free(s);
}

/* The targets of the program's calls, compared with objdump. */
TEST(test_calls)
{
	static const char *const names[] = { "printf@plt", "sample_plain" };
	struct symbols *s = open_symbols(&(struct symbols_options){ 0 });
	struct symbol_query query;
	const char *called;
	struct program p;
	char line[64];

	need_program();
#if !defined(__x86_64__)
	skip();
#endif
	if (!have_command("objdump"))
		skip();
	command("cc -O2 -no-pie -fcf-protection=none %s -o plt", SAMPLE);
	program_start(&p, "plt");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		unsigned long vaddr;

		read_command(line, sizeof(line),
			     "objdump -d plt | awk '/call.*<%s>/ { getline; print $1; exit }'",
			     names[i]);
		vaddr = strtoul(line, NULL, 16);
		if (!vaddr) /* (inlined, or called by a jump) */
			continue;
		program_find_mapping(&p, vaddr);
		query = (struct symbol_query){ .address = vaddr,
					       .is_return = true,
					       .mapping = p.mapping };
		assert_int_equal(symbols_called(s, &query, &called), 1);
		assert_string_equal(called, names[i]);
		query.address++;
		assert_int_equal(symbols_called(s, &query, &called), 0);
		query.address = p.mapping.start + p.mapping.size + 4096;
		assert_int_equal(symbols_called(s, &query, &called), 0);
		query = (struct symbol_query){ .address = vaddr, .mapping = p.mapping };
		assert_int_equal(symbols_called(s, &query, &called), 0);
		query.is_return = true;
		assert_int_equal(symbols_begins(s, &query), 0);
	}
	read_command(line, sizeof(line), "readelf -h plt | awk '/Entry point/ { print $NF }'");
	query = (struct symbol_query){ .address = strtoul(line, NULL, 16), .is_return = true };
	program_find_mapping(&p, query.address);
	assert_int_equal(symbols_begins(s, &query), -ENOENT);
	query.mapping = p.mapping;
	query.address += 33;
	assert_int_equal(symbols_begins(s, &query), 1);
	program_stop(&p);
	symbols_free(s);
}

#if defined(__x86_64__)
static uint64_t handler_returns_to;

static void on_signal(int number)
{
	(void)number;
	handler_returns_to = (uint64_t)(uintptr_t)__builtin_return_address(0);
}
#endif

/* The code to which a signal's handler returns: the C library has no symbol for it. */
TEST(test_sigreturn)
{
#if defined(__x86_64__)
	struct symbols *s = open_symbols(&(struct symbols_options){ 0 });
	struct symbol_query query = { .is_return = true };
	struct program p = { .pid = getpid() };

	assert_true(signal(SIGUSR1, on_signal) != SIG_ERR);
	assert_int_equal(raise(SIGUSR1), 0);
	program_find_mapping(&p, handler_returns_to);
	query.address = handler_returns_to;
	query.mapping = p.mapping;
	assert_function(ask_symbols(s, &query, NULL), "__restore_rt", 0);
	symbols_free(s);
#else
	skip();
#endif
}

/* A file is only used if it is the mapped one. */
TEST(test_build_id)
{
	struct symbols *s = open_symbols(&(struct symbols_options){ 0 });
	uint8_t id[SYMBOL_BUILD_ID_MAX];
	struct program p;
	uint64_t address;

	need_program();
	program_start(&p, "pie");
	program_stop(&p);
	address = program_address(&p, "sample_plain");
	p.mapping.build_id = id;
	p.mapping.n_build_id = read_build_id("fixed", id);
	assert_null(ask_program(s, &p, address)->function);
	assert_string_equal(ask_program(s, &p, address)->module, "pie");
	assert_true(has_problem(s, "/pie", "build id"));
	assert_int_equal(count_problems(s), 1);
	/* Without a build id, the inode decides. */
	p.mapping.n_build_id = 0;
	assert_function(ask_program(s, &p, address), "sample_plain", 0);
	assert_false(ask_program(s, &p, address)->unsure);
	p.mapping.inode++;
	assert_null(ask_program(s, &p, address)->function);
	assert_true(has_problem(s, "/pie", "inode"));
	p.mapping.inode = 0;
	assert_true(ask_program(s, &p, address)->unsure);
	symbols_free(s);
	/* (the files of a sysroot are copies) */
	s = open_symbols(&(struct symbols_options){ .sysroot = "/" });
	p.mapping.inode = 1;
	assert_function(ask_program(s, &p, address), "sample_plain", 0);
	assert_true(ask_program(s, &p, address)->unsure);
	symbols_free(s);
}

static uint64_t time_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec;
}

/* Asks about ADDRESS in P, which was mapped at MAPPED_NS. PROBLEM is expected; NULL = a name. */
static void check_mapped_at(struct program *p, uint64_t address, uint64_t mapped_ns,
			    const char *problem)
{
	struct symbols *s = open_symbols(&(struct symbols_options){ 0 });

	p->mapping.mapped_ns = mapped_ns;
	if (problem) {
		assert_null(ask_program(s, p, address)->function);
		assert_true(has_problem(s, "/late", problem));
	} else {
		assert_function(ask_program(s, p, address), "sample_plain", 0);
		assert_false(ask_program(s, p, address)->unsure);
	}
	symbols_free(s);
}

/* A file that is written in place keeps its inode, and the time of a write can be set back. */
TEST(test_written_later)
{
	uint64_t address, written_ns, changed_ns;
	struct program p;
	struct stat st;

	need_program();
	command("cp pie late && touch late");
	program_start(&p, "late");
	program_stop(&p);
	p.mapping.n_build_id = 0;
	address = program_address(&p, "sample_plain");
	assert_int_equal(stat(p.mapping.path, &st), 0);
	check_mapped_at(&p, address, time_ns(&st.st_mtim) - 1, "written after");
	check_mapped_at(&p, address, time_ns(&st.st_ctim), NULL);
	command("touch -d '2020-01-01' late");
	assert_int_equal(stat(p.mapping.path, &st), 0);
	written_ns = time_ns(&st.st_mtim);
	changed_ns = time_ns(&st.st_ctim);
	assert_true(changed_ns > written_ns);
	check_mapped_at(&p, address, written_ns - 1, "written after");
	check_mapped_at(&p, address, written_ns, "changed after");
	check_mapped_at(&p, address, changed_ns - 1, "changed after");
	check_mapped_at(&p, address, changed_ns, NULL);
}

/* A file that was mapped before and after it was written has names for the later mapping only. */
TEST(test_written_between)
{
	uint64_t address, changed_ns;
	struct program p;
	struct stat st;

	need_program();
	command("cp pie late && touch late");
	program_start(&p, "late");
	program_stop(&p);
	p.mapping.n_build_id = 0;
	address = program_address(&p, "sample_plain");
	assert_int_equal(stat(p.mapping.path, &st), 0);
	changed_ns = time_ns(&st.st_ctim);
	for (unsigned first = 0; first < 2; first++) {
		struct symbols *s = open_symbols(&(struct symbols_options){ 0 });

		for (unsigned i = 0; i < 4; i++) {
			bool later = (first + i) % 2;

			p.mapping.mapped_ns = later ? changed_ns + i : 1000 + i;
			if (later)
				assert_function(ask_program(s, &p, address), "sample_plain", 0);
			else
				assert_null(ask_program(s, &p, address)->function);
			assert_int_equal(has_problem(s, "/late", "written after"), i > 0 || !later);
		}
		symbols_free(s);
	}
}

/* The removal of a file changes it, but not its content. */
TEST(test_removed_later)
{
	struct symbols *s = open_symbols(&(struct symbols_options){ 0 });
	const struct symbol_frame *frame;
	uint64_t address, mapped_ns;
	struct program p;
	struct stat st;

	need_program();
	command("cp pie late && touch late");
	program_start(&p, "late");
	address = program_address(&p, "sample_plain");
	assert_int_equal(stat(p.mapping.path, &st), 0);
	mapped_ns = time_ns(&st.st_ctim);
	do {
		command("rm -f late && touch now");
		assert_int_equal(stat(directory_path("now"), &st), 0);
	} while (time_ns(&st.st_ctim) == mapped_ns);
	p.mapping.n_build_id = 0;
	p.mapping.mapped_ns = mapped_ns;
	frame = ask_symbols(s,
			    &(struct symbol_query){ .address = address,
						    .mapping = p.mapping,
						    .pid = (uint32_t)p.pid,
						    .lives = true },
			    NULL);
	assert_function(frame, "sample_plain", 0);
	program_stop(&p);
	symbols_free(s);
}

TEST(test_minidebug)
{
	struct symbols *s = open_symbols(&(struct symbols_options){ 0 });
	struct program p;

	need_program();
	if (!have_command("xz"))
		skip();
	/* As in distributions: the symbols that are not in the dynamic table, compressed. */
	command("nm pie --defined-only --format=posix | awk '$2 ~ /[TtWi]/ { print $1 }' >keep && "
		"objcopy -S --keep-symbols=keep pie.debug mini && xz -k mini && "
		"objcopy --add-section .gnu_debugdata=mini.xz stripped packed");
	program_start(&p, "stripped");
	assert_null(ask_program(s, &p, program_address(&p, "sample_local"))->function);
	program_stop(&p);
	program_start(&p, "packed");
	assert_all_points(s, &p);
	program_stop(&p);
	assert_int_equal(count_problems(s), 0);
	/* Damaged: names come from the dynamic table, and the damage is reported. */
	command("head -c 300 mini.xz >cut.xz && objcopy --add-section .gnu_debugdata=cut.xz stripped cut");
	program_start(&p, "cut");
	assert_null(ask_program(s, &p, program_address(&p, "sample_local"))->function);
	assert_true(has_problem(s, "/cut", "gnu_debugdata"));
	program_stop(&p);
	symbols_free(s);
}

TEST(test_debug_by_build_id)
{
	const char *dirs[] = { directory_path("debug") };
	struct symbols_options options = { .debug_dirs = dirs, .n_debug_dirs = 1 };
	struct symbols *s = open_symbols(&(struct symbols_options){ 0 });
	uint8_t id[SYMBOL_BUILD_ID_MAX];
	struct program p;
	char line[256];

	need_program();
	symbols_free(s);
	/* A missing directory is an error. */
	assert_int_equal(symbols_new(&s, &options), -ENOENT);
	read_command(line, sizeof(line), "readelf -n stripped | sed -n 's/.*Build ID: //p'");
	command("mkdir -p debug/.build-id/%.2s && cp pie.debug debug/.build-id/%.2s/%s.debug", line,
		line, line + 2);
	s = open_symbols(&options);
	program_start(&p, "stripped");
	program_stop(&p);
	assert_all_points(s, &p);
	symbols_free(s);

	/* Only the debug information is here: the mapping must contain all of the code. */
	p.mapping.build_id = id;
	p.mapping.n_build_id = read_build_id("stripped", id);
	p.mapping.path = "/nowhere/stripped";
	s = open_symbols(&options);
	assert_all_points(s, &p);
	p.mapping.size += 4096;
	assert_null(ask_program(s, &p, program_address(&p, "sample_plain"))->function);
	symbols_free(s);

	/* The file of another program with this name is refused. */
	command("cp fixed debug/.build-id/%.2s/%s.debug", line, line + 2);
	p.mapping.size -= 4096;
	p.mapping.path = p.path;
	s = open_symbols(&options);
	assert_null(ask_program(s, &p, program_address(&p, "sample_local"))->function);
	assert_true(has_problem(s, ".debug", "build id"));
	symbols_free(s);
	command("rm -r debug");
}

TEST(test_debug_link)
{
	static const char *const directories[] = { ".", ".debug" };
	struct program p;

	need_program();
	/* Without a build id, the checksum decides. */
	command("cc -O2 -g -Wl,--build-id=none %s -o whole && objcopy --only-keep-debug whole link.debug && "
		"strip --strip-all whole -o linked && objcopy --add-gnu-debuglink=link.debug linked",
		SAMPLE);
	program_start(&p, "linked");
	program_stop(&p);
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
		struct symbols *s = open_symbols(&(struct symbols_options){ 0 });

		command("mkdir -p %s; [ %s = . ] || mv link.debug %s/", directories[i],
			directories[i], directories[i]);
		assert_all_points(s, &p);
		assert_int_equal(count_problems(s), 0);
		symbols_free(s);
	}
	struct symbols *s = open_symbols(&(struct symbols_options){ 0 });

	command("cp pie.debug link.debug; rm -r .debug");
	assert_null(ask_program(s, &p, program_address(&p, "sample_local"))->function);
	assert_true(has_problem(s, "link.debug", "checksum"));
	symbols_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symtab),
		cmocka_unit_test(test_return_address),
		cmocka_unit_test(test_plt),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_sigreturn),
		cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_minidebug),
		cmocka_unit_test(test_debug_by_build_id),
		cmocka_unit_test(test_debug_link),
		cmocka_unit_test(test_written_later),
		cmocka_unit_test(test_written_between),
		cmocka_unit_test(test_removed_later),
	};

	return cmocka_run_group_tests(tests, programs_set_up, own_directory_tear_down);
}
