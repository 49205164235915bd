/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/bus/polkit-agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <systemd/sd-login.h>
#include <unistd.h>

#include "base/cleanup.h"

#define AGENT_PATH "/usr/bin/pkttyagent"

enum { START_MS = 5000 };

/*
 * In a session, this agent is only a fallback: the session's own agent can open a window. Polkit
 * has no fallback agents outside of sessions.
 */
static bool polkit_agent_has_session(void)
{
	_cleanup_free_ char *session = NULL;

	return sd_pid_get_session(0, &session) >= 0;
}

/* Runs in the child. The agent closes NOTIFY_FD when it has registered. */
__attribute__((noreturn)) static void polkit_agent_become_agent(pid_t parent, int notify_fd,
								bool fallback)
{
	char number[16];
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	/* If this process ends for any reason, the child ends, too. */
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent ||
	    fcntl(notify_fd, F_SETFD, 0) < 0)
		_exit(127);
	snprintf(number, sizeof(number), "%d", notify_fd);
	execl(AGENT_PATH, AGENT_PATH, "--notify-fd", number, fallback ? "--fallback" : NULL,
	      (char *)NULL);
	_exit(127);
}

pid_t polkit_agent_start(void)
{
	_cleanup_close_ int read_fd = -1, write_fd = -1;
	pid_t pid, parent = getpid();
	bool fallback;
	int fds[2];

	if (geteuid() == 0 || !isatty(STDIN_FILENO) || access(AGENT_PATH, X_OK) < 0 ||
	    pipe2(fds, O_CLOEXEC) < 0)
		return 0;
	read_fd = fds[0];
	write_fd = fds[1];
	fallback = polkit_agent_has_session();
	pid = fork();
	if (pid == 0)
		polkit_agent_become_agent(parent, write_fd, fallback);
	if (pid < 0)
		return 0;
	write_fd = close_fd(write_fd);
	/* The agent closes its end of the pipe when it has registered or failed. */
	poll(&(struct pollfd){ .fd = read_fd, .events = POLLIN }, 1, START_MS);
	return pid;
}

void polkit_agent_end(pid_t pid)
{
	if (pid == 0)
		return;
	kill(pid, SIGTERM);
	kill(pid, SIGCONT);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}
