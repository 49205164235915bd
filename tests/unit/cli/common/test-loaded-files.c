/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/common/loaded-files.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/unit.h"

/* Whether one of N descriptors is of the file at PATH. All are closed. */
static bool has_file(int *fds, size_t n, const char *path)
{
	struct stat wanted, st;
	bool found = false;

	assert_int_equal(stat(path, &wanted), 0);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(fstat(fds[i], &st), 0);
		found |= st.st_dev == wanted.st_dev && st.st_ino == wanted.st_ino;
		close(fds[i]);
	}
	return found;
}

/* The number of descriptors of the file that contains malloc() of this program. */
static bool has_libc(int *fds, size_t n)
{
	_cleanup_free_ char *line = NULL;
	char path[4096] = "";
	size_t room = 0;
	FILE *maps = fopen("/proc/self/maps", "re");

	assert_non_null(maps);
	while (!*path && getline(&line, &room, maps) > 0)
		if (strstr(line, "/libc.so"))
			sscanf(strchr(line, '/'), "%4095[^\n]", path);
	fclose(maps);
	if (!*path)
		skip();
	return has_file(fds, n, path);
}

TEST(test_program)
{
	int fds[ALLOCATOR_FILES_MAX];
	size_t n = loaded_files("sh", fds);

	assert_true(n >= 2);
	assert_true(has_libc(fds, n));
	n = loaded_files("/bin/sh", fds);
	assert_true(has_file(fds, n, "/bin/sh"));
}

static void put_script(const char *name, const char *text)
{
	_cleanup_free_ char *path = NULL;

	put_text(own_directory(), name, text);
	assert_true(asprintf(&path, "%s%s", own_directory(), name) > 0);
	assert_int_equal(chmod(path, 0700), 0);
}

static size_t files_of(const char *name, int *fds)
{
	_cleanup_free_ char *path = NULL;

	assert_true(asprintf(&path, "%s%s", own_directory(), name) > 0);
	return loaded_files(path, fds);
}

TEST(test_script)
{
	int fds[ALLOCATOR_FILES_MAX];
	size_t n;

	put_script("/script", "#! /bin/sh -e\ntrue\n");
	n = files_of("/script", fds);
	assert_true(n >= 3);
	assert_true(has_libc(fds, n));
	/* a script that interprets itself comes to an end */
	put_script("/self", "");
	{
		_cleanup_free_ char *text = NULL;

		assert_true(asprintf(&text, "#!%s/self\n", own_directory()) > 0);
		put_script("/self", text);
	}
	n = files_of("/self", fds);
	assert_int_equal(n, 1);
	close(fds[0]);
}

/* A file that is no program gives itself; a missing one gives nothing. */
TEST(test_others)
{
	static const unsigned char cut[] = { 0x7f, 'E', 'L', 'F', 2, 1, 1 };
	int fds[ALLOCATOR_FILES_MAX];
	size_t n;

	put_script("/text", "nothing\n");
	put_bytes(own_directory(), "/cut", cut, sizeof(cut));
	n = files_of("/text", fds);
	assert_int_equal(n, 1);
	close(fds[0]);
	n = files_of("/cut", fds);
	assert_int_equal(n, 1);
	close(fds[0]);
	assert_int_equal(files_of("/missing", fds), 0);
	assert_int_equal(loaded_files("no-command-is-called-this", fds), 0);
	assert_int_equal(loaded_files("/", fds), 0);
}

/* A program whose linker does not end is given up after a while, and the linker is killed. */
TEST(test_hung_linker)
{
	_cleanup_free_ char *linker = NULL, *pid_path = NULL, *text = NULL;
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
		char linker[256];
	} program = { .header = { .e_ident = ELFMAG,
				  .e_phentsize = sizeof(Elf64_Phdr),
				  .e_phnum = 1,
				  .e_phoff = sizeof(Elf64_Ehdr) },
		      .segment = { .p_type = PT_INTERP,
				   .p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
				   .p_filesz = sizeof(program.linker) - 1 } };
	int fds[ALLOCATOR_FILES_MAX], pid = 0;
	FILE *f;

	program.header.e_ident[EI_CLASS] = ELFCLASS64;
	assert_true(asprintf(&linker, "%s/linker", own_directory()) > 0);
	assert_true(asprintf(&pid_path, "%s/pid", own_directory()) > 0);
	assert_true(asprintf(&text, "#!/bin/sh\necho $$ >%s\nexec sleep 1000\n", pid_path) > 0);
	put_script("/linker", text);
	assert_true(strlen(linker) < sizeof(program.linker));
	memcpy(program.linker, linker, strlen(linker));
	put_bytes(own_directory(), "/hung", &program, sizeof(program));
	assert_int_equal(files_of("/hung", fds), 0);
	f = fopen(pid_path, "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &pid), 1);
	fclose(f);
	assert_soon(kill(pid, 0) < 0);
	/* (the message is printed once, and the time is not spent again) */
	assert_int_equal(loaded_files("sh", fds), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_script),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_hung_linker),
	};

	return cmocka_run_group_tests(tests, own_directory_set_up, own_directory_tear_down);
}
