/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs whose libraries switch stacks, are missing, or are too many; and scripts.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/common/script-interpreter.h"
#include "cli/places/switching-programs.h"
#include "tests/support/fixtures/commands.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/unit.h"

static const struct capture_filter no_filter;

static bool has_programs;

/*
 * The library "plain", which needs "hop" (with a switch of stacks), and programs that need "plain":
 * "runs" finds both by its RPATH, "lost" and "own" find "plain" only.
 */
static int set_up(void **state)
{
	int r = own_directory_set_up(state);

	has_programs =
		r == 0 &&
		command_in(
			own_directory(),
			"mkdir sub && echo 'int main(void) { return 0; }' >main.c && "
			"echo '.globl hop; hop: push %%rbp; mov %%rsp,(%%rdi); mov %%rsi,%%rsp; "
			"pop %%rbp; ret; .section .note.GNU-stack,\"\"' >hop.s && "
			"echo 'int plain(void) { return 1; }' >plain.c && "
			"cc -shared -o sub/libhop.so hop.s && "
			"cc -shared -o libsafe.so plain.c && "
			"cc -shared -o sub/libplain.so plain.c -Wl,--no-as-needed -Lsub -lhop && "
			"link='-Wl,--no-as-needed,-rpath-link,sub -Lsub -lplain'; "
			"cc -o runs main.c $link -Wl,--disable-new-dtags,-rpath,'$ORIGIN/sub' && "
			"cc -o own main.c $link -Wl,--enable-new-dtags,-rpath,'$ORIGIN/sub' && "
			"cc -o lost main.c $link && cc -o hops main.c hop.s && "
			"cc -o safe main.c -Wl,--no-as-needed ./libsafe.so") == 0;
	return r;
}

static void need_programs(void)
{
#if !defined(__x86_64__)
	skip();
#endif
	if (!has_programs)
		skip();
}

static const char *path_of(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", own_directory(), name);
	return path;
}

/* Checks R and the sentence FOUND about NAME: it is refused with the text WHY; NULL = accepted. */
static void expect(const char *name, int r, char *found, const char *why)
{
	if (r != (why ? -EPERM : 0) || (why && (!found || !strstr(found, why))))
		fail_msg("%s: %s", name, found ?: "");
	free(found);
}

/* Examines the command NAME. */
static void check(const char *name, const char *why)
{
	char *found = NULL;
	int r = switching_programs_check_command(path_of(name), &no_filter, &found);

	expect(name, r, found, why);
}

/* Examines the libraries that are added to the command NAME. */
static void check_preloaded(const char *name, const char *why)
{
	char *found = NULL;
	int r = switching_programs_check_preloaded(path_of(name), "ld.so.preload", &found);

	expect(name, r, found, why);
}

static void put_script(const char *name, const char *line)
{
	char text[512], path[64];

	snprintf(text, sizeof(text), "%s\n", line);
	snprintf(path, sizeof(path), "/%s", name);
	put_text(own_directory(), path, text);
	assert_int_equal(chmod(path_of(name), 0700), 0);
}

TEST(test_libraries)
{
	need_programs();
	assert_int_equal(chdir(own_directory()), 0);
	check("safe", NULL);
	check("hops", "hops has code that switches stacks ('hop'), and is used by ");
	check("runs", "libhop.so has code that switches stacks ('hop'), and is used by ");
	/* a RUNPATH does not apply to the libraries of libraries */
	check("own", "libhop.so: no such library was found");
	check("lost", "libplain.so: no such library was found");
	assert_int_equal(setenv("LD_LIBRARY_PATH", path_of("sub"), 1), 0);
	check("own", "libhop.so has code that switches stacks");
	check("lost", "libhop.so has code that switches stacks");
	assert_int_equal(unsetenv("LD_LIBRARY_PATH"), 0);
}

/* An empty directory is the working directory, unless the whole variable is empty. */
TEST(test_empty_directories)
{
	static const struct {
		const char *text;
		bool finds;
	} rows[] = {
		{ "", false },      { ":", true },      { ":/none", true }, { "/none:", true },
		{ "/a::/b", true }, { "/a;;/b", true }, { "/none", false }, { "/a:/b", false },
	};

	need_programs();
	assert_int_equal(chdir(path_of("sub")), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(setenv("LD_LIBRARY_PATH", rows[i].text, 1), 0);
		check("lost", rows[i].finds ? "libhop.so has code that switches stacks"
					    : "libplain.so: no such library was found");
	}
	assert_int_equal(unsetenv("LD_LIBRARY_PATH"), 0);
}

/* Libraries that the dynamic linker adds to programs, and that these need. */
TEST(test_preloaded)
{
	char text[PATH_MAX + 64];

	need_programs();
	assert_int_equal(chdir(own_directory()), 0);
	check_preloaded("safe", NULL);
	assert_int_equal(setenv("LD_PRELOAD", "./libsafe.so  :./sub/libhop.so", 1), 0);
	check_preloaded("safe", "libhop.so has code that switches stacks ('hop'), and is used by ");
	put_script("preloads", "#!./safe");
	check_preloaded("preloads", "libhop.so has code that switches stacks");
	/* (the program's RPATH is searched for such a library, but not for those that it needs) */
	assert_int_equal(setenv("LD_PRELOAD", "libplain.so", 1), 0);
	check_preloaded("runs", "libhop.so has code that switches stacks");
	check_preloaded("own", "libhop.so: no such library was found");
	assert_int_equal(setenv("LD_PRELOAD", "./none.so", 1), 0);
	check_preloaded("safe", "./none.so: No such file or directory");
	assert_int_equal(setenv("LD_PRELOAD", "./libsafe.so", 1), 0);
	check_preloaded("safe", NULL);
	assert_int_equal(unsetenv("LD_PRELOAD"), 0);
	snprintf(text, sizeof(text), "# ./none.so\n./libsafe.so\n %s # x\n",
		 path_of("sub/libhop.so"));
	put_text(own_directory(), "/ld.so.preload", text);
	check_preloaded("safe", "libhop.so has code that switches stacks");
	put_text(own_directory(), "/ld.so.preload", "./libsafe.so");
	check_preloaded("safe", NULL);
	assert_int_equal(remove("ld.so.preload"), 0);
}

/* The sentence has the whole names, and the remedy. */
TEST(test_long_names)
{
	char name[1024] = "";

	need_programs();
	assert_int_equal(chdir(own_directory()), 0);
	for (int i = 0; i < 4; i++) {
		size_t n = strlen(name);

		memset(name + n, 'a' + i, 200);
		strcpy(name + n + 200, "/");
	}
	assert_int_equal(command_in(own_directory(), "mkdir -p %s && ln hops %shops", name, name),
			 0);
	strcat(name, "hops");
	check(name, "hops has code that switches stacks ('hop'), and is used by ");
	check(name, "aaa/bbb");
	check(name, "add --force-fast-returns, if no call does that)");
	assert_int_equal(command_in(own_directory(), "rm -r aaa*"), 0);
}

/* Packers remove the section headers: neither the code nor the libraries can be found. */
TEST(test_no_sections)
{
	need_programs();
	assert_int_equal(chdir(own_directory()), 0);
	assert_int_equal(command_in(own_directory(),
				    "for f in hops libsafe.so; do cp $f $f.whole && "
				    "printf '\\0\\0\\0\\0\\0\\0\\0\\0' | "
				    "dd of=$f bs=1 seek=40 conv=notrunc status=none && "
				    "printf '\\0\\0\\0\\0' | "
				    "dd of=$f bs=1 seek=60 conv=notrunc status=none; done"),
			 0);
	check("hops", "hops has no section with code");
	check("safe", "libsafe.so has no section with code");
	assert_int_equal(command_in(own_directory(),
				    "for f in hops libsafe.so; do cat $f.whole >$f; done"),
			 0);
	check("safe", NULL);
	/* (a library of data, whose headers are in an executable segment) */
	assert_int_equal(command_in(own_directory(),
				    "echo '.data; .globl d; d: .long 1' >d.s && "
				    "cc -shared -nostdlib -Wl,-z,noseparate-code -o d.so d.s"),
			 0);
	assert_int_equal(setenv("LD_PRELOAD", "./d.so", 1), 0);
	if (command_in(own_directory(), "LC_ALL=C readelf -lW d.so | grep 'R E' >r") == 0)
		check_preloaded("safe", "d.so has no section with code");
	assert_int_equal(unsetenv("LD_PRELOAD"), 0);
}

/* Names with tokens, which the dynamic linker replaces, and libraries that it ignores. */
TEST(test_preloaded_tokens)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "$ORIGIN/libsafe.so", NULL },
		{ "${ORIGIN}/sub/libhop.so", "sub/libhop.so has code that switches stacks" },
		{ "./t/$LIB/x.so", "lib64/x.so has code that switches stacks" },
		{ "./t/${PLATFORM}/x.so", NULL },
		{ "./t/$LIB/none.so", "none.so: No such file or directory" },
		{ "./t/32.so ./libsafe.so", NULL },
		{ "./t/32.so ./sub/libhop.so", "libhop.so has code that switches stacks" },
		{ "32.so", "32.so: no such library was found" },
	};

	need_programs();
	assert_int_equal(chdir(own_directory()), 0);
	assert_int_equal(
		command_in(own_directory(),
			   "mkdir -p t/lib64 t/x86_64 && cp sub/libhop.so t/lib64/x.so && "
			   "cp libsafe.so t/x86_64/x.so && echo '.globl f; f: ret' >32.s && "
			   "as --32 -o 32.o 32.s && ld -m elf_i386 -shared -o t/32.so 32.o && "
			   "cc -static -nostdlib -Wl,-e,hop -o static hop.s"),
		0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(setenv("LD_PRELOAD", rows[i].text, 1), 0);
		check_preloaded("safe", rows[i].why);
		check_preloaded("static", NULL);
	}
	assert_int_equal(unsetenv("LD_PRELOAD"), 0);
}

TEST(test_unreadable)
{
	need_programs();
	assert_int_equal(chdir(own_directory()), 0);
	assert_int_equal(command_in(own_directory(), "cp safe broken && cp libsafe.so whole.so"),
			 0);
	put_text(own_directory(), "/libsafe.so", "no library");
	check("broken", "it is not known whether ");
	assert_int_equal(command_in(own_directory(), "mv whole.so libsafe.so"), 0);
	check("broken", NULL);
	put_text(own_directory(), "/text", "echo\n");
	check("text", "it is not known whether ");
}

/* The last of 200 libraries switches stacks; and more libraries than are searched. */
TEST(test_many)
{
	char name[32];

	need_programs();
	assert_int_equal(chdir(own_directory()), 0);
	assert_int_equal(mkdir("many", 0700), 0);
	for (int i = 0; i < 1025; i++) {
		snprintf(name, sizeof(name), "many/lib%d.so", i);
		assert_int_equal(link("libsafe.so", name), 0);
	}
	assert_int_equal(
		command_in(own_directory(),
			   "cc -o 200 main.c -Wl,--no-as-needed $(seq -f many/lib%%g.so 199) "
			   "-Wl,-rpath,. ./sub/libhop.so && "
			   "cc -o 1025 main.c -Wl,--no-as-needed $(seq -f many/lib%%g.so 0 1024)"),
		0);
	check("200", "libhop.so has code that switches stacks");
	check("1025", "it needs more than 1024 libraries");
}

TEST(test_scripts)
{
	char line[32], name[8];

	need_programs();
	assert_int_equal(chdir(own_directory()), 0);
	put_script("s1", "#! \t./runs -x");
	check("s1", "libhop.so has code that switches stacks");
	put_script("s1", "#!./safe");
	check("s1", NULL);
	for (int i = 2; i <= 6; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		snprintf(line, sizeof(line), "#!./s%d", i - 1);
		put_script(name, line);
	}
	check("s5", NULL);
	assert_int_equal(command_in(own_directory(), "./s5"), 0);
	check("s6", strerror(ELOOP));
	assert_int_not_equal(command_in(own_directory(), "./s6"), 0);
	put_script("s1", "#!./s1");
	check("s1", strerror(ELOOP));
	put_script("s1", "#!./no-such-file");
	check("s1", strerror(ENOENT));
}

static int interpreter(const char *text, char to[static PATH_MAX])
{
	_cleanup_close_ int fd = -1;

	put_text(own_directory(), "/script", text);
	fd = open(path_of("script"), O_RDONLY | O_CLOEXEC);
	return script_interpreter_read(fd, to);
}

TEST(test_lines)
{
	char text[400] = "#!", path[PATH_MAX];

	assert_int_equal(interpreter("#!/bin/sh", path), 0);
	assert_string_equal(path, "/bin/sh");
	assert_int_equal(interpreter("#! sh\t-e\n", path), 0);
	assert_string_equal(path, "sh");
	assert_int_equal(interpreter("#!\n", path), -ENOEXEC);
	assert_int_equal(interpreter("#", path), -ENOEXEC);
	assert_int_equal(interpreter("", path), -ENOEXEC);
	assert_int_equal(interpreter("\177ELF", path), -ENOEXEC);
	memset(text + 2, 'a', 253);
	strcpy(text + 255, "\n");
	assert_int_equal(interpreter(text, path), 0);
	strcpy(text + 255, "a\n");
	assert_int_equal(interpreter(text, path), -ENOEXEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_libraries),   cmocka_unit_test(test_empty_directories),
		cmocka_unit_test(test_preloaded),   cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_no_sections), cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_many),        cmocka_unit_test(test_scripts),
		cmocka_unit_test(test_lines),       cmocka_unit_test(test_preloaded_tokens),
	};

	return cmocka_run_group_tests(tests, set_up, own_directory_tear_down);
}
