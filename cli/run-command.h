/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The COMMAND of `kymo record -- COMMAND`: a child of ours, with our standard input and output,
 * that we do not wait for in one place.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct run_command {
	pid_t pid; /* 0 = not started */
	bool ended;
};

/*
 * Starts ARGV with the signal mask MASK. Returns when it is being executed: 0, or a negative errno
 * if that was not possible.
 */
int run_command_start(struct run_command *c, char **argv, const sigset_t *mask);

/*
 * Looks whether it has ended, without waiting; true if so. It is left as it is: to reap a process
 * can keep the kernel busy for a long time, during which a recording in this thread would stand still.
 */
bool run_command_poll(struct run_command *c);

/* Reaps it if it has ended, and says on stderr how: "NAME exited with 3". */
void run_command_report(struct run_command *c, const char *name);
