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
#include "cli/places/script-interpreter.h"
#include "cli/places/stack-switches.h"
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

/* Examines the command NAME, which is refused with the text WHY; NULL = it is accepted. */
static void check(const char *name, const char *why)
{
	char found[PLACES_WHY_MAX] = "";
	int r = stack_switches_check_command(path_of(name), &no_filter, found);

	if (r != (why ? -EPERM : 0) || (why && !strstr(found, why)))
		fail_msg("%s: %s", name, found);
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
	need_programs();
	assert_int_equal(
		command_in(own_directory(),
			   "mkdir many && i=0 && while [ $i -lt 1025 ]; do "
			   "ln libsafe.so many/lib$i.so && i=$((i + 1)); done && "
			   "cc -o 200 main.c -Wl,--no-as-needed $(seq -f many/lib%%g.so 199) "
			   "-Wl,-rpath,. ./sub/libhop.so && "
			   "cc -o 1025 main.c -Wl,--no-as-needed $(seq -f many/lib%%g.so 0 1024)"),
		0);
	assert_int_equal(chdir(own_directory()), 0);
	check("200", "libhop.so has code that switches stacks");
	check("1025", "it needs more than 1024 libraries");
}

static void put_script(const char *name, const char *line)
{
	char text[512], path[64];

	snprintf(text, sizeof(text), "%s\n", line);
	snprintf(path, sizeof(path), "/%s", name);
	put_text(own_directory(), path, text);
	assert_int_equal(chmod(path_of(name), 0700), 0);
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
		cmocka_unit_test(test_libraries), cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_many),      cmocka_unit_test(test_scripts),
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, set_up, own_directory_tear_down);
}
