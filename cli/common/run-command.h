/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The COMMAND of `kymo record -- COMMAND`: a child of ours, with our standard input and output,
 * that we do not wait for in one place.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "cli/common/exit-hold.h"

struct run_command {
	pid_t pid;      /* 0 = not started */
	pid_t prepared; /* 0 = it is not */
	bool ended;
	int go_fd, error_fd;    /* of one that is prepared */
	struct exit_hold *hold; /* borrowed: ends before it is waited for; NULL = none */
};

/*
 * Starts ARGV with the signal mask MASK. Returns when it is being executed: 0, or a negative errno
 * if that was not possible.
 */
int run_command_start(struct run_command *c, char **argv, const sigset_t *mask);

/*
 * The same in two steps: makes the process, whose id is c->prepared, and lets it go on. One that
 * was prepared and is not to go on is cancelled; that does nothing where there is none. With
 * MAPS_FILES the process soon has its name, and the code mapped that it is going to run, so that a
 * recording that begins now makes the unwind tables.
 */
int run_command_prepare(struct run_command *c, char **argv, const sigset_t *mask, bool maps_files);
int run_command_go(struct run_command *c);
void run_command_cancel(struct run_command *c);

/*
 * Looks whether it has ended, without waiting; true if so. It is left as it is: to reap a process
 * can keep the kernel busy for a long time, during which a recording in this thread would stand
 * still.
 */
bool run_command_poll(struct run_command *c);

/*
 * Reaps it if it has ended, and says on stderr how: "NAME exited with 3". Returns what a shell
 * would say of it: 0 to 255, with 128 and more for a signal; -1 if it still runs.
 */
int run_command_report(struct run_command *c, const char *name);
