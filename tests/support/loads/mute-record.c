/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mute-record DIRECTORY COMMAND [ARGUMENT ...]: runs COMMAND, a recorder, beside a process that
 * maps a file as code whose file system, mounted over DIRECTORY (mute-fuse.h), never answers the
 * recorder. Its environment has the id of that process, MAPPER. Returns the status of COMMAND, or 3
 * if COMMAND has not asked the file system for anything.
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tests/support/fakes/mute-fuse.h"

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void map_file(const char *directory)
{
	char path[PATH_MAX];
	int file;

	snprintf(path, sizeof(path), "%s/%s", directory, MUTE_FUSE_FILE);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		die("open");
	if (mmap(NULL, MUTE_FUSE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED)
		die("mmap");
	close(file);
}

static pid_t begin_mapper(void)
{
	pid_t pid = fork();
	char id[16];

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	snprintf(id, sizeof(id), "%d", (int)pid);
	setenv("MAPPER", id, 1);
	return pid;
}

int main(int argc, char **argv)
{
	pid_t mapper, recorder;
	int status = 1;

	if (argc < 3 || mute_fuse_mount(argv[1], 0) < 0)
		return 77;
	map_file(argv[1]);
	mapper = begin_mapper();
	mute_fuse_be_mute_to(getpid());
	recorder = fork();
	if (recorder == 0) {
		execvp(argv[2], argv + 2);
		die(argv[2]);
	}
	if (recorder < 0 || waitpid(recorder, &status, 0) < 0)
		die("waitpid");
	kill(mapper, SIGKILL);
	if (mute_fuse_waiting() == 0) {
		fprintf(stderr, "the file system was not asked\n");
		return 3;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
