/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/calls/calls-live.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/common/verb.h"
#include "cli/record/record-job.h"

/* The recording process; 0 = none. */
static pid_t calls_live_pid;

static void calls_live_pass_on(int sig)
{
	int error = errno;

	if (calls_live_pid > 0)
		kill(calls_live_pid, sig);
	errno = error;
}

/* Records in the child. Does not return. */
static void calls_live_record(struct record_options *o, int fd)
{
	struct record_job j = RECORD_JOB_NULL;

	/* (if the printing process ends, the recording ends, too) */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	j.options = *o;
	j.quiet = true;
	j.output.fd = fd;
	j.output.path = strdup("the pipe");
	exit(record_job_exit(&j, record_job_run(&j)));
}

int calls_live_begin(struct record_options *o, pid_t *ret_pid, int *ret_fd)
{
	const struct sigaction pass_on = { .sa_handler = calls_live_pass_on,
					   .sa_flags = SA_RESTART };
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return cli_failed("cannot create a pipe: %m");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		calls_live_record(o, fds[1]);
	}
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return cli_failed("cannot create a process: %m");
	}
	/*
	 * Ctrl-C ends only the recording, and its data is still printed. SIGTERM, which timeout(1)
	 * and systemd send, perhaps only to this process, does the same: it is passed on to the
	 * recording. (The recording ignores a second signal that follows at once.)
	 */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	calls_live_pid = pid;
	sigaction(SIGTERM, &pass_on, NULL);
	*ret_pid = pid;
	*ret_fd = fds[0];
	return CLI_OK;
}

int calls_live_end(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return cli_failed("cannot wait for the recording: %m");
	calls_live_pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : CLI_FAILED;
}
