/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/run-command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/thread.h"

/* In the child: becomes ARGV, or says in ERROR_FD why not. */
__attribute__((noreturn)) static void become(char **argv, const sigset_t *mask, int error_fd)
{
	ssize_t n;
	int e;

	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	thread_be_ordinary();
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	e = errno;
	n = write(error_fd, &e, sizeof(e));
	(void)n; /* nobody is left to tell */
	_exit(127);
}

int run_command_start(struct run_command *c, char **argv, const sigset_t *mask)
{
	_cleanup_close_ int read_fd = -1;
	int fds[2], error = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	read_fd = fds[0];
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		become(argv, mask, fds[1]);
	close(fds[1]);
	if (pid < 0)
		return -errno;
	/* Closed by a successful exec. */
	do
		n = read(read_fd, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	if (n == sizeof(error)) {
		waitpid(pid, NULL, 0);
		return -error;
	}
	c->pid = pid;
	return 0;
}

bool run_command_poll(struct run_command *c)
{
	siginfo_t info = { .si_pid = 0 };

	if (c->pid == 0 || c->ended)
		return c->ended;
	c->ended = waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
		   info.si_pid == c->pid;
	return c->ended;
}

void run_command_report(struct run_command *c, const char *name)
{
	int status = 0;

	if (c->pid == 0)
		return;
	if (!run_command_poll(c)) {
		fprintf(stderr, "%s is still running, as process %d\n", name, (int)c->pid);
		return;
	}
	waitpid(c->pid, &status, 0);
	if (WIFSIGNALED(status))
		fprintf(stderr, "%s was killed by SIG%s\n", name,
			sigabbrev_np(WTERMSIG(status)) ?: "?");
	else
		fprintf(stderr, "%s exited with %d\n", name, WEXITSTATUS(status));
}
