/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a command whose output fails, and exits with its status:
 *
 *	bad-output file NAME ERRNO N -- COMMAND ...    writes to the file NAME fail with ERRNO, a
 *	                                               number, after N of them
 *	bad-output pipe|socket close BYTES TO -- ...   the reader of its stdout takes BYTES, writes
 *	                                               them to TO, and is gone
 *	bad-output pipe|socket stall BYTES MS TO -- ...  the reader takes nothing for MS after
 *	                                                 BYTES, then the rest
 *
 * bad-output sees the writes of the command by seccomp's user notification, so it needs no file
 * system or device that fails. Writes of less than WRITE_SEEN bytes are not counted.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <seccomp.h>

enum { WRITE_SEEN = 64 };

static void die(const char *what)
{
	fprintf(stderr, "bad-output: %s: %s\n", what, strerror(errno));
	exit(70);
}

static void usage(void)
{
	fputs("Usage: bad-output file NAME ERRNO N -- COMMAND ...\n"
	      "       bad-output pipe|socket close BYTES TO -- COMMAND ...\n"
	      "       bad-output pipe|socket stall BYTES MS TO -- COMMAND ...\n",
	      stderr);
	exit(2);
}

static void execute(char **command)
{
	signal(SIGPIPE, SIG_DFL);
	execvp(*command, command);
	die(*command);
}

/* Exits with the status of CHILD. */
static void follow(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			die("wait");
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* ---- files ---- */

static int listen_to_writes(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	if (!filter ||
	    seccomp_rule_add(filter, SCMP_ACT_NOTIFY, SCMP_SYS(write), 1,
			     SCMP_A2(SCMP_CMP_GE, WRITE_SEEN)) < 0 ||
	    seccomp_load(filter) < 0)
		die("seccomp");
	return seccomp_notify_fd(filter);
}

static bool is_file(pid_t pid, uint64_t fd, const char *name)
{
	char link[64], path[PATH_MAX] = "", real[PATH_MAX];

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)pid, (int)fd);
	return readlink(link, path, sizeof(path) - 1) > 0 && realpath(name, real) &&
	       strcmp(path, real) == 0;
}

static void answer_writes(int listener, const char *name, int error, unsigned long n)
{
	struct seccomp_notif *request;
	struct seccomp_notif_resp *response;

	if (seccomp_notify_alloc(&request, &response) < 0)
		die("seccomp");
	for (;;) {
		struct pollfd fds = { .fd = listener, .events = POLLIN };

		memset(request, 0, sizeof(*request));
		if (poll(&fds, 1, -1) < 0 && errno != EINTR)
			die("poll");
		if (fds.revents & POLLHUP)
			break; /* all processes have ended */
		if (!(fds.revents & POLLIN) || seccomp_notify_receive(listener, request) < 0)
			continue;
		*response = (struct seccomp_notif_resp){
			.id = request->id,
			.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE,
		};
		if (is_file((pid_t)request->pid, request->data.args[0], name)) {
			if (n == 0) {
				response->flags = 0;
				response->error = -error;
			} else {
				n--;
			}
		}
		seccomp_notify_respond(listener, response);
	}
}

static void run_file(char **args, char **command)
{
	int numbers[2], go[2], number, pidfd, listener;
	pid_t child;
	char byte;

	if (pipe2(numbers, O_CLOEXEC) < 0 || pipe2(go, O_CLOEXEC) < 0)
		die("pipe");
	child = fork();
	if (child < 0)
		die("fork");
	if (child == 0) {
		close(go[1]);
		number = listen_to_writes();
		if (write(numbers[1], &number, sizeof(number)) != sizeof(number))
			die("write");
		/* Until the listener is received. */
		if (read(go[0], &byte, 1) < 0)
			die("read");
		close(number);
		execute(command);
	}
	close(numbers[1]);
	if (read(numbers[0], &number, sizeof(number)) != sizeof(number))
		follow(child);
	pidfd = (int)syscall(SYS_pidfd_open, child, 0);
	listener = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	if (listener < 0)
		die("pidfd");
	close(go[1]);
	answer_writes(listener, args[0], atoi(args[1]), strtoul(args[2], NULL, 10));
	follow(child);
}

/* ---- pipes and sockets ---- */

/* Copies up to MAX bytes. Returns the number of copied bytes. */
static uint64_t copy(int from, int to, uint64_t max)
{
	char buffer[4096];
	uint64_t done = 0;
	ssize_t n;

	while (done < max) {
		size_t piece = max - done < sizeof(buffer) ? (size_t)(max - done) : sizeof(buffer);

		n = read(from, buffer, piece);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if (write(to, buffer, (size_t)n) != n)
			die("write");
		done += (uint64_t)n;
	}
	return done;
}

static void run_stream(bool is_socket, char **args, char **command)
{
	bool stalls = strcmp(args[0], "stall") == 0;
	uint64_t bytes = strtoull(args[1], NULL, 10);
	const char *name = args[stalls ? 3 : 2];
	int fds[2], to = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	pid_t child;

	if (to < 0)
		die(name);
	if (is_socket ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0
		      : pipe2(fds, O_CLOEXEC) < 0)
		die("pipe");
	child = fork();
	if (child < 0)
		die("fork");
	if (child == 0) {
		if (dup2(fds[1], STDOUT_FILENO) < 0)
			die("dup2");
		execute(command);
	}
	close(fds[1]);
	copy(fds[0], to, bytes);
	if (stalls) {
		long ms = strtol(args[2], NULL, 10);

		nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
		copy(fds[0], to, UINT64_MAX);
	}
	close(fds[0]);
	follow(child);
}

int main(int argc, char **argv)
{
	int split = 1;
	bool is_file_mode = argc > 1 && strcmp(argv[1], "file") == 0;
	bool is_socket = argc > 1 && strcmp(argv[1], "socket") == 0;

	while (split < argc && strcmp(argv[split], "--") != 0)
		split++;
	if (split + 1 >= argc)
		usage();
	argv[split] = NULL;
	if (is_file_mode && split == 5)
		run_file(argv + 2, argv + split + 1);
	else if ((is_socket || strcmp(argv[1], "pipe") == 0) &&
		 split == (split > 2 && strcmp(argv[2], "stall") == 0 ? 6 : 5))
		run_stream(is_socket, argv + 2, argv + split + 1);
	usage();
}
