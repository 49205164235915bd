/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waker-load N: a process that waits N times in wait_for_it(), until another process wakes it in
 * release_it(), and that sleeps N times in sleep_for_it(), until a timer wakes it. Prints a line of
 * JSON at the end: the processes, and the times as the program has measured them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 20 };

static volatile unsigned n_done;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void sleep_ms(unsigned ms)
{
	struct timespec left = { .tv_nsec = ms * 1000000L };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		;
}

/* (The code after the calls keeps these functions on the stack.) */
__attribute__((noinline)) static void wait_for_it(int from)
{
	char c;

	if (read(from, &c, 1) != 1)
		exit(1);
	n_done++;
}

__attribute__((noinline)) static void release_it(int to)
{
	if (write(to, "x", 1) != 1)
		exit(1);
	n_done++;
}

__attribute__((noinline)) static void sleep_for_it(void)
{
	sleep_ms(WAIT_MS);
	n_done++;
}

/* Each release is preceded by a request, so that the other process waits. */
static int release_all(int requests, int releases)
{
	char c;

	prctl(PR_SET_NAME, "wk-release");
	while (read(requests, &c, 1) == 1) {
		sleep_ms(WAIT_MS);
		release_it(releases);
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
	uint64_t begin_ns, waited_ns, slept_ns;
	int requests[2], releases[2], status;
	pid_t other;

	if (pipe(requests) < 0 || pipe(releases) < 0)
		return 1;
	other = fork();
	if (other == 0) {
		close(requests[1]);
		return release_all(requests[0], releases[1]);
	}
	prctl(PR_SET_NAME, "wk-wait");
	begin_ns = now_ns();
	for (unsigned i = 0; i < n; i++) {
		if (write(requests[1], "x", 1) != 1)
			return 1;
		wait_for_it(releases[0]);
	}
	waited_ns = now_ns() - begin_ns;
	begin_ns = now_ns();
	for (unsigned i = 0; i < n; i++)
		sleep_for_it();
	slept_ns = now_ns() - begin_ns;
	close(requests[1]);
	if (waitpid(other, &status, 0) != other || status != 0)
		return 1;
	printf("{\"pid\": %d, \"waker\": %d, \"n\": %u, \"waited_ns\": %" PRIu64
	       ", \"slept_ns\": %" PRIu64 "}\n",
	       getpid(), other, n, waited_ns, slept_ns);
	return 0;
}
