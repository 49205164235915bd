/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/run-command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "bpf/record-unwind.h"
#include "capture/proc/task-state.h"
#include "capture/sandbox/thread.h"
#include "cli/common/loaded-files.h"
#include "cli/common/verb.h"

/*
 * How many times each file of the command is mapped, and the maximum of all these mappings. With
 * the mappings of kymo itself, which the process has, too, they fit into the list of mappings that
 * the eBPF programs have of a process (UNWIND_MAPPINGS_MAX).
 */
enum { MAPPED_TIMES = 8, MAPPED_MAX = 160 };
_Static_assert(MAPPED_MAX <= UNWIND_MAPPINGS_MAX * 2 / 3, "kymo's own mappings need room, too");
_Static_assert(ALLOCATOR_FILES_MAX <= MAPPED_MAX, "each file is mapped");

/* The maximum wait until they are mapped. */
enum { MAPPED_MS_MAX = 1000 };

/*
 * A wait for the start of the program checks in this interval whether the start is called off, and
 * then continues for the second time. Most programs start within that time, so they are not killed.
 */
enum { CALL_OFF_CHECK_MS = 100, CALLED_OFF_MS = 1000 };

/* The maximum wait for the end of a process that was cancelled. */
enum { CANCELLED_MS_MAX = 1000 };

/*
 * Writes to TO the path of the file that execvp() would execute for COMMAND. The recorded process
 * then executes the file with one system call, without trying each directory of PATH. Returns false
 * if no directory of PATH has such a file, or if the path is too long.
 */
static bool run_command_find(const char *command, char to[static PATH_MAX])
{
	const char *path = getenv("PATH") ?: "/bin:/usr/bin";
	struct stat st;

	if (strchr(command, '/'))
		return snprintf(to, PATH_MAX, "%s", command) < PATH_MAX;
	for (;; path++) {
		size_t n = strcspn(path, ":");
		int length =
			snprintf(to, PATH_MAX, "%.*s%s%s", (int)n, path, n ? "/" : "", command);

		if (length < PATH_MAX && stat(to, &st) == 0 && S_ISREG(st.st_mode) &&
		    faccessat(AT_FDCWD, to, X_OK, AT_EACCESS) == 0)
			return true;
		path += n;
		if (!*path)
			return false;
	}
}

/*
 * Runs in the child. After GO_FD is written to, executes ARGV, which is at PATH if that is known.
 * Writes an error to ERROR_FD. Between these two, while the recording runs, the child makes only
 * the call that executes the program.
 */
__attribute__((noreturn)) static void
run_command_become(char **argv, const char *path, const sigset_t *mask, int go_fd, int error_fd)
{
	ssize_t n;
	char go;
	int e;

	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	thread_reset_priority();
	sigprocmask(SIG_SETMASK, mask, NULL);
	do
		n = read(go_fd, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127);
	if (*path)
		execv(path, argv);
	/*
	 * (for a script without an interpreter; and to get the error if the command does not exist)
	 */
	execvp(argv[0], argv);
	e = errno;
	n = write(error_fd, &e, sizeof(e));
	(void)n; /* (no process is left that could be told the error) */
	_exit(127);
}

/*
 * Maps the files, which stay mapped until exec. A file that cannot be mapped is skipped. The
 * recording makes the tables of the most often mapped files first. So the files of the command are
 * mapped more often than those of kymo, which other processes of kymo can map, too.
 */
static void run_command_map_files(const int *fds, size_t n)
{
	size_t times = n * MAPPED_TIMES > MAPPED_MAX ? MAPPED_MAX / n : MAPPED_TIMES;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < times; k++)
			(void)mmap(NULL, (size_t)getpagesize(), PROT_READ | PROT_EXEC, MAP_PRIVATE,
				   fds[i], 0);
}

/* The child tells through the pipe FD that it has mapped its files: no error so far. */
static void run_command_tell_mapped(int fd)
{
	const int no_error = 0;
	ssize_t n = write(fd, &no_error, sizeof(no_error));

	(void)n; /* (the parent has ended) */
}

/*
 * Waits until the child has mapped its files, or has ended. On a busy machine, the child may run
 * only after the recording has begun, which would then have no tables of the files. A file system
 * that does not answer, or a stop of the child, can also keep the child for ever, so the wait has a
 * limit.
 */
static void run_command_await_mapped(int fd)
{
	struct pollfd child = { .fd = fd, .events = POLLIN };
	int error;
	ssize_t n;

	if (poll(&child, 1, MAPPED_MS_MAX) <= 0)
		return;
	do
		n = read(fd, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
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
	char path[PATH_MAX];
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
	if (!run_command_find(argv[0], path))
		*path = '\0';
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		if (maps_files) {
			run_command_set_name(argv[0]);
			run_command_map_files(files, n_files);
			run_command_tell_mapped(write_fd);
		}
		/* Without this, the child would not notice the end of this process. */
		close(go_fd);
		run_command_become(argv, path, mask, wait_fd, write_fd);
	}
	for (size_t i = 0; i < n_files; i++)
		close(files[i]);
	if (pid < 0)
		return -errno;
	close_fd(TAKE_FD(write_fd)); /* (or the end of the child would not be noticed) */
	if (maps_files)
		run_command_await_mapped(read_fd);
	c->prepared = pid;
	c->go_fd = TAKE_FD(go_fd);
	c->error_fd = TAKE_FD(read_fd);
	return 0;
}

/*
 * Kills the prepared process, which may be stopped, and waits for its end. The wait has a limit,
 * since the kernel can keep the process for ever.
 */
static void run_command_kill_prepared(const struct run_command *c)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	siginfo_t info = { .si_pid = 0 };

	kill(c->prepared, SIGKILL);
	for (unsigned ms = 0; ms < CANCELLED_MS_MAX; ms++) {
		if (waitid(P_PID, (id_t)c->prepared, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
		    info.si_pid != 0)
			break;
		nanosleep(&nap, NULL);
	}
}

void run_command_cancel(struct run_command *c)
{
	if (c->prepared == 0)
		return;
	close(c->go_fd);
	close(c->error_fd);
	if (c->hold)
		exit_hold_end(c->hold);
	run_command_kill_prepared(c);
	waitpid(c->prepared, NULL, WNOHANG);
	c->prepared = 0;
}

/*
 * Waits for the error of the prepared process, and returns the error. Returns 0 if the process has
 * closed the pipe without an error (by a successful exec, or by its end), or EINTR if the wait is
 * called off.
 */
static int run_command_await_exec(struct run_command *c)
{
	struct pollfd child = { .fd = c->error_fd, .events = POLLIN };
	unsigned off_ms = 0;
	int error = 0;
	ssize_t n;

	do {
		while (poll(&child, 1, CALL_OFF_CHECK_MS) <= 0) {
			if (c->is_called_off && c->is_called_off())
				off_ms += CALL_OFF_CHECK_MS;
			if (off_ms >= CALLED_OFF_MS)
				return EINTR;
		}
		n = read(c->error_fd, &error, sizeof(error));
		/* (the process may tell only now that it has mapped its files) */
	} while ((n < 0 && errno == EINTR) || (n == sizeof(error) && error == 0));
	return n == sizeof(error) ? error : 0;
}

/*
 * Kills the process, whose exec hangs. Returns false if the process has executed the program all
 * the same: before (then it is not killed), or meanwhile. (An ended process keeps the flag until it
 * is reaped.)
 */
static bool run_command_call_off(struct run_command *c)
{
	if (task_state_has_executed(c->prepared))
		return false;
	/* (a process that is held at its exit does not end) */
	if (c->hold)
		exit_hold_end(c->hold);
	run_command_kill_prepared(c);
	return !task_state_has_executed(c->prepared);
}

int run_command_exec(struct run_command *c)
{
	pid_t pid = c->prepared;
	ssize_t n = write(c->go_fd, "", 1);
	int error = run_command_await_exec(c);

	(void)n; /* (the process has ended) */
	if (error == EINTR && !run_command_call_off(c))
		error = 0;
	if (error) {
		run_command_cancel(c);
		return -error;
	}
	if (!task_state_has_executed(pid)) {
		run_command_cancel(c);
		return -ECHILD;
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
