/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/loaded-files.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/common/script-interpreter.h"
#include "cli/common/verb.h"

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

static size_t loaded_files_find(const char *command, int *fds)
{
	_cleanup_free_ struct finder *f = calloc(1, sizeof(*f));
	_cleanup_free_ char *path = loaded_files_command(command);

	if (!f || !path)
		return 0;
	f->fds = fds;
	loaded_files_add_program(f, path);
	return f->n;
}

/* ---- the process that opens them ---- */

/* A message of one byte, with one descriptor. */
union parcel {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static void loaded_files_send(int to, int fd)
{
	char byte = 0;
	struct iovec data = { &byte, 1 };
	union parcel parcel = { .head = { .cmsg_len = CMSG_LEN(sizeof(fd)),
					  .cmsg_level = SOL_SOCKET,
					  .cmsg_type = SCM_RIGHTS } };
	const struct msghdr message = { .msg_iov = &data,
					.msg_iovlen = 1,
					.msg_control = &parcel,
					.msg_controllen = sizeof(parcel) };

	memcpy(CMSG_DATA(&parcel.head), &fd, sizeof(fd));
	/*
	 * (a file that cannot be sent is skipped: its data is then not known from the command's
	 * start)
	 */
	if (sendmsg(to, &message, MSG_NOSIGNAL) < 0)
		return;
}

/* Returns a descriptor, or -1 at the end. */
static int loaded_files_receive(int from)
{
	char byte;
	struct iovec data = { &byte, 1 };
	union parcel parcel = { .head = { .cmsg_len = 0 } };
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = &parcel,
				  .msg_controllen = sizeof(parcel) };
	int fd;

	if (recvmsg(from, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) <= 0 ||
	    message.msg_controllen < sizeof(parcel) || parcel.head.cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(&parcel.head), sizeof(fd));
	return fd;
}

__attribute__((noreturn)) static void loaded_files_be_opener(const char *command, int to)
{
	int fds[ALLOCATOR_FILES_MAX];
	size_t n;

	setpgid(0, 0); /* the linker is killed, too */
	n = loaded_files_find(command, fds);
	for (size_t i = 0; i < n; i++)
		loaded_files_send(to, fds[i]);
	_exit(0);
}

static int64_t loaded_files_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits until FROM has a message or its end. Returns false when the time is over. */
static bool loaded_files_await(int from, int64_t until_ms)
{
	struct pollfd answer = { .fd = from, .events = POLLIN };
	int64_t left_ms;

	do {
		left_ms = until_ms - loaded_files_now_ms();
		if (left_ms <= 0)
			return false;
	} while (poll(&answer, 1, (int)left_ms) <= 0);
	return true;
}

size_t loaded_files(const char *command, int *fds)
{
	static bool hung = false;
	int64_t until_ms = loaded_files_now_ms() + LOADED_FILES_MS_MAX;
	_cleanup_close_ int from = -1, to = -1;
	int ends[2], fd = 0;
	size_t n = 0;
	pid_t pid;

	if (hung || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return 0;
	from = ends[0];
	to = ends[1];
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		loaded_files_be_opener(command, to);
	if (pid < 0)
		return 0;
	setpgid(pid, pid); /* (whichever process is first) */
	close_fd(TAKE_FD(to));
	while (fd >= 0 && n < ALLOCATOR_FILES_MAX && !hung) {
		hung = !loaded_files_await(from, until_ms);
		fd = hung ? -1 : loaded_files_receive(from);
		if (fd >= 0)
			fds[n++] = fd;
	}
	kill(-pid, SIGKILL);
	if (hung)
		cli_error("the files of %s could not be opened within %d seconds: a file system, "
			  "or the program's linker, does not answer; not everything of the "
			  "program is known from its start",
			  command, LOADED_FILES_MS_MAX / 1000);
	/* (a file system that does not answer can keep the killed process alive) */
	waitpid(pid, NULL, hung ? WNOHANG : 0);
	return n;
}
