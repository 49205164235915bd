/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/ship/ship-child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"

enum {
	SHIP_CHILD_TICK_MS = 5000,
	SHIP_CHILD_TICKS_OF_LIMIT = 4, /* how often a child with a short limit is looked at */
	SHIP_CHILD_LINES_MAX = 4096,   /* maximum size of the kept end of its output */
	SHIP_CHILD_NOT_EXECUTED = 127,
};

struct running {
	struct ship_child *c;
	pid_t pid;
	int pid_fd, text_fd;
	uint64_t from_ns, ticked_ns; /* CLOCK_MONOTONIC */
	char lines[SHIP_CHILD_LINES_MAX];
	size_t n_lines;
};

/* ---- in the child ---- */

static void ship_child_exec(const struct ship_child *c, int input_fd, int text_fd)
{
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (fchdir(c->directory_fd) == 0 && dup2(input_fd, STDIN_FILENO) >= 0 &&
	    (text_fd < 0 || dup2(text_fd, STDERR_FILENO) >= 0) &&
	    dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
		execv(c->file, (char *const *)(uintptr_t)c->argv);
	dprintf(STDERR_FILENO, "cannot run %s: %m\n", c->file);
	_exit(SHIP_CHILD_NOT_EXECUTED);
}

/* ---- in the parent ---- */

/* Keeps the end of the output. */
static void ship_child_read(struct running *k)
{
	char more[SHIP_CHILD_LINES_MAX / 2];
	ssize_t n = read(k->text_fd, more, sizeof(more));
	size_t excess;

	if (n <= 0) {
		if (n == 0 || errno != EINTR)
			k->text_fd = close_fd(k->text_fd);
		return;
	}
	if (k->n_lines + (size_t)n > sizeof(k->lines)) {
		excess = k->n_lines + (size_t)n - sizeof(k->lines);
		memmove(k->lines, k->lines + excess, k->n_lines - excess);
		k->n_lines -= excess;
	}
	memcpy(k->lines + k->n_lines, more, (size_t)n);
	k->n_lines += (size_t)n;
}

static void ship_child_take_text(struct running *k)
{
	size_t end = k->n_lines, begin;

	while (end > 0 && k->lines[end - 1] == '\n')
		end--;
	for (begin = end; begin > 0 && k->lines[begin - 1] != '\n';)
		begin--;
	text_clean(k->c->text, sizeof(k->c->text), k->lines + begin, end - begin);
}

static int ship_child_tick_ms(const struct ship_child *c)
{
	return c->limit_ms && c->limit_ms / SHIP_CHILD_TICKS_OF_LIMIT < SHIP_CHILD_TICK_MS
		       ? (int)(c->limit_ms / SHIP_CHILD_TICKS_OF_LIMIT) + 1
		       : SHIP_CHILD_TICK_MS;
}

/* Returns 0, or -ETIME if the process has run for too long. */
static int ship_child_tick(struct running *k)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
	uint64_t ran_ms = (now_ns - k->from_ns) / 1000000;

	/* (checked here, since poll() never times out while the process prints all the time) */
	if ((now_ns - k->ticked_ns) / 1000000 >= (uint64_t)ship_child_tick_ms(k->c)) {
		k->ticked_ns = now_ns;
		if (k->c->tick)
			k->c->tick(k->c->userdata, ran_ms);
	}
	return k->c->limit_ms && ran_ms >= k->c->limit_ms ? -ETIME : 0;
}

/* Waits until the process has ended. Returns 0, -ECANCELED or -ETIME. */
static int ship_child_wait(struct running *k)
{
	struct pollfd fds[] = { { k->pid_fd, POLLIN, 0 },
				{ k->c->signal_fd, POLLIN, 0 },
				{ k->text_fd, POLLIN, 0 } };
	int n;

	for (;;) {
		fds[2].fd = k->text_fd;
		n = poll(fds, ARRAY_SIZE(fds), ship_child_tick_ms(k->c));
		if (n < 0 && errno != EINTR)
			return -errno;
		if (ship_child_tick(k) < 0)
			return -ETIME;
		if (n <= 0)
			continue;
		if (fds[1].revents)
			return -ECANCELED;
		if (fds[2].revents)
			ship_child_read(k);
		else if (fds[0].revents)
			return 0;
	}
}

static int ship_child_finish(struct running *k, int r)
{
	int status = 0;

	/* With the processes that it has started. */
	if (r < 0 && kill(-k->pid, SIGKILL) < 0)
		kill(k->pid, SIGKILL);
	while (waitpid(k->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (r < 0)
		return r;
	ship_child_take_text(k);
	if (WIFSIGNALED(status)) {
		snprintf(k->c->text, sizeof(k->c->text), "killed by signal %d", WTERMSIG(status));
		return 128 + WTERMSIG(status);
	}
	if (WEXITSTATUS(status) != 0 && !*k->c->text)
		snprintf(k->c->text, sizeof(k->c->text), "exited with %d", WEXITSTATUS(status));
	return WEXITSTATUS(status);
}

int ship_child_run(struct ship_child *c)
{
	_cleanup_close_ int input_fd = c->input_fd < 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC)
						       : fcntl(c->input_fd, F_DUPFD_CLOEXEC, 3);
	_cleanup_close_ int write_fd = -1, pid_fd = -1;
	struct running k = { .c = c, .text_fd = -1 };
	int pipe_fds[2], r;

	*c->text = '\0';
	if (input_fd < 0 || (c->keeps_text && pipe2(pipe_fds, O_CLOEXEC) < 0))
		return -errno;
	if (c->keeps_text) {
		k.text_fd = pipe_fds[0];
		write_fd = pipe_fds[1];
	}
	k.pid = fork();
	if (k.pid == 0)
		ship_child_exec(c, input_fd, write_fd);
	r = k.pid < 0 ? -errno : 0;
	/*
	 * The child calls setpgid(), too, but perhaps only after this process has tried to kill its
	 * group.
	 */
	if (r == 0)
		setpgid(k.pid, k.pid);
	write_fd = close_fd(write_fd);
	if (r == 0) {
		k.from_ns = k.ticked_ns = clock_read_ns(CLOCK_MONOTONIC);
		k.pid_fd = pid_fd = pidfd_open(k.pid, 0);
		r = ship_child_finish(&k, pid_fd < 0 ? -errno : ship_child_wait(&k));
	}
	close_fd(k.text_fd);
	return r;
}
