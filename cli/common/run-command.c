/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/run-command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/sandbox/thread.h"
#include "cli/common/loaded-files.h"
#include "cli/common/verb.h"

/* Runs in the child: executes ARGV after GO_FD is written to, or writes the error to ERROR_FD. */
__attribute__((noreturn)) static void run_command_become(char **argv, const sigset_t *mask,
							 int go_fd, int error_fd)
{
	ssize_t n;
	char go;
	int e;

	do
		n = read(go_fd, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	thread_reset_priority();
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	e = errno;
	n = write(error_fd, &e, sizeof(e));
	(void)n; /* no process is left to be told */
	_exit(127);
}

/* Maps the files until exec. A file that cannot be mapped is skipped. */
static void run_command_map_files(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		(void)mmap(NULL, (size_t)getpagesize(), PROT_READ | PROT_EXEC, MAP_PRIVATE, fds[i],
			   0);
}

/* Sets the name that exec will set, so that a recording that selects by name includes the process
 * from its start. */
static void run_command_set_name(const char *command)
{
	const char *slash = strrchr(command, '/');

	prctl(PR_SET_NAME, slash ? slash + 1 : command);
}

int run_command_prepare(struct run_command *c, char **argv, const sigset_t *mask, bool maps_files)
{
	_cleanup_close_ int read_fd = -1, write_fd = -1, go_fd = -1, wait_fd = -1;
	int files[ALLOCATOR_FILES_MAX], fds[2];
	size_t n_files = 0;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	read_fd = fds[0];
	write_fd = fds[1];
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	wait_fd = fds[0];
	go_fd = fds[1];
	if (maps_files)
		n_files = loaded_files(argv[0], files);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		if (maps_files)
			run_command_set_name(argv[0]);
		run_command_map_files(files, n_files);
		/* Without this, the child would not notice the end of this process. */
		close(go_fd);
		run_command_become(argv, mask, wait_fd, write_fd);
	}
	for (size_t i = 0; i < n_files; i++)
		close(files[i]);
	if (pid < 0)
		return -errno;
	c->prepared = pid;
	c->go_fd = TAKE_FD(go_fd);
	c->error_fd = TAKE_FD(read_fd);
	return 0;
}

void run_command_cancel(struct run_command *c)
{
	if (c->prepared == 0)
		return;
	close(c->go_fd);
	close(c->error_fd);
	if (c->hold)
		exit_hold_end(c->hold);
	waitpid(c->prepared, NULL, 0);
	c->prepared = 0;
}

int run_command_exec(struct run_command *c)
{
	pid_t pid = c->prepared;
	int error = 0;
	ssize_t n = write(c->go_fd, "", 1);

	/* A successful exec closes the pipe. */
	do
		n = read(c->error_fd, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	if (n == sizeof(error)) {
		run_command_cancel(c);
		return -error;
	}
	close(c->go_fd);
	close(c->error_fd);
	c->prepared = 0;
	c->pid = pid;
	return 0;
}

int run_command_start(struct run_command *c, char **argv, const sigset_t *mask)
{
	return run_command_prepare(c, argv, mask, false) ?: run_command_exec(c);
}

bool run_command_poll(struct run_command *c)
{
	siginfo_t info = { .si_pid = 0 };

	if (c->pid == 0 || c->ended)
		return c->ended;
	/* (waitid() also reports stops of traced processes) */
	c->ended = waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
		   info.si_pid == c->pid && info.si_code != CLD_TRAPPED &&
		   info.si_code != CLD_STOPPED && info.si_code != CLD_CONTINUED;
	return c->ended;
}

int run_command_report(struct run_command *c, const char *name)
{
	int status = 0;

	if (c->pid == 0)
		return -1;
	if (!run_command_poll(c)) {
		fprintf(stderr, "%s is still running, as process %d\n", name, (int)c->pid);
		return -1;
	}
	waitpid(c->pid, &status, 0);
	if (WIFSIGNALED(status)) {
		fprintf(stderr, "%s was killed by SIG%s\n", name,
			sigabbrev_np(WTERMSIG(status)) ?: "?");
		return CLI_SIGNALLED + WTERMSIG(status);
	}
	fprintf(stderr, "%s exited with %d\n", name, WEXITSTATUS(status));
	return WEXITSTATUS(status);
}
