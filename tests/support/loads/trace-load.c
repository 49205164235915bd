/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that traces its child, loses five blocks of 200 bytes, and ends. The exit status is 9
 * if the child cannot be traced, and 8 if it does not end as usual.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static void lose(void)
{
	for (int i = 0; i < 5; i++)
		*(volatile char *)malloc(200) = 1;
}

__attribute__((noinline)) static void scrub(void)
{
	volatile char room[65536];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

int main(void)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(9);
		raise(SIGSTOP);
		_exit(3);
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status))
		ptrace(PTRACE_CONT, pid, NULL, NULL);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 3)
		return WIFEXITED(status) && WEXITSTATUS(status) == 9 ? 9 : 8;
	lose();
	scrub();
	return 0;
}
