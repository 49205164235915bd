/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/loaded-files.h"

#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/common/script-interpreter.h"

extern char **environ;

/* Limits of nested scripts and of program headers. */
enum { SCRIPTS_MAX = 4, SEGMENTS_MAX = 256 };

struct finder {
	int *fds;
	size_t n;
	struct stat seen[ALLOCATOR_FILES_MAX];
};

/* Adds the regular file at PATH. Returns its descriptor, or -1. The finder owns the descriptor. */
static int loaded_files_add_file(struct finder *f, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (f->n == ALLOCATOR_FILES_MAX || fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -1;
	for (size_t i = 0; i < f->n; i++)
		if (f->seen[i].st_dev == st.st_dev && f->seen[i].st_ino == st.st_ino)
			return f->fds[i];
	f->seen[f->n] = st;
	f->fds[f->n] = TAKE_FD(fd);
	return f->fds[f->n++];
}

/* ---- output of the linker ---- */

/* Parses "\tlibc.so.6 => /lib/libc.so.6 (0x7f...)" or "\t/lib/ld.so (0x7f...)". */
static void loaded_files_parse_line(struct finder *f, char *line)
{
	char *path = strstr(line, " => "), *end;

	path = path ? path + 4 : line + strspn(line, " \t");
	end = strrchr(path, '(');
	if (*path != '/' || !end)
		return;
	while (end > path && end[-1] == ' ')
		end--;
	*end = '\0';
	loaded_files_add_file(f, path);
}

static void loaded_files_run_linker(struct finder *f, const char *linker, const char *program)
{
	char *argv[] = { (char *)linker, (char *)"--list", (char *)program, NULL };
	posix_spawn_file_actions_t actions;
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	FILE *answer;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&pid, linker, &actions, NULL, argv, environ) != 0)
		pid = -1;
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	answer = fdopen(fds[0], "re");
	while (answer && getline(&line, &room, answer) > 0)
		loaded_files_parse_line(f, line);
	if (answer)
		fclose(answer);
	else
		close(fds[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* ---- programs ---- */

/* Finds the segment with the linker's name in the headers of a 64-bit file. */
static int loaded_files_find_linker(int fd, char *to, size_t room)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	ssize_t n = pread(fd, &header, sizeof(header), 0);

	if (n != (ssize_t)sizeof(header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(segment) ||
	    header.e_phnum > SEGMENTS_MAX)
		return -1;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		off_t at = (off_t)(header.e_phoff + i * sizeof(segment));

		if (pread(fd, &segment, sizeof(segment), at) != (ssize_t)sizeof(segment))
			return -1;
		if (segment.p_type != PT_INTERP)
			continue;
		if (segment.p_filesz == 0 || segment.p_filesz >= room)
			return -1;
		n = pread(fd, to, segment.p_filesz, (off_t)segment.p_offset);
		to[n > 0 ? n : 0] = '\0';
		return n > 0 && *to == '/' ? 0 : -1;
	}
	return -1;
}

static void loaded_files_add_program(struct finder *f, const char *path)
{
	_cleanup_free_ char *program = strdup(path);
	char head[PATH_MAX];

	for (int i = 0; program && i < SCRIPTS_MAX; i++) {
		int fd = loaded_files_add_file(f, program);

		if (fd < 0)
			return;
		if (loaded_files_find_linker(fd, head, sizeof(head)) == 0) {
			loaded_files_run_linker(f, head, program);
			return;
		}
		if (script_interpreter_read(fd, head) < 0 || *head != '/')
			return;
		free(program);
		program = strdup(head);
	}
}

/* Returns the first executable file with the name COMMAND in PATH. */
char *loaded_files_command(const char *command)
{
	const char *path = getenv("PATH") ?: "/bin:/usr/bin";
	_cleanup_free_ char *copy = strdup(path);
	char *rest = copy, *directory, *found;

	if (strchr(command, '/'))
		return strdup(command);
	while (copy && (directory = strsep(&rest, ":"))) {
		if (asprintf(&found, "%s/%s", *directory ? directory : ".", command) < 0)
			return NULL;
		if (access(found, X_OK) == 0)
			return found;
		free(found);
	}
	return NULL;
}

size_t loaded_files(const char *command, int *fds)
{
	_cleanup_free_ struct finder *f = calloc(1, sizeof(*f));
	_cleanup_free_ char *path = loaded_files_command(command);

	if (!f || !path)
		return 0;
	f->fds = fds;
	loaded_files_add_program(f, path);
	return f->n;
}
