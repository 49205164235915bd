/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the COMMAND of `kymo record -- COMMAND`, a child with the standard input and output of this
 * process.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "cli/hold/exit-hold.h"

struct run_command {
	pid_t pid;      /* 0 = the command was not started */
	pid_t prepared; /* 0 = the command was not prepared */
	bool ended;
	int go_fd, error_fd; /* pipes of a prepared process */
	/* Whether run_command_exec() must end; can be NULL. */
	bool (*is_called_off)(void);
	struct exit_hold *hold; /* ends before the command is reaped; borrowed; NULL = no hold */
};

/*
 * Starts ARGV with the signal mask MASK. Returns when the program is executed: 0, or a negative
 * errno if it could not be executed. -ECHILD: the process ended before, for example because it was
 * killed. -EINTR: the start was called off, and the process is killed. If the process has executed
 * the program before that, 0 is returned.
 */
int run_command_start(struct run_command *c, char **argv, const sigset_t *mask);

/*
 * Start ARGV like run_command_start(), in two steps. run_command_prepare() creates the process,
 * whose id is c->prepared, and run_command_exec() starts the program. run_command_cancel() ends a
 * prepared process that must not start; without such a process, it does nothing. With MAPS_FILES,
 * the process then has the name and the mapped code of the program, so that a recording that starts
 * now makes the unwind tables. If mapping the code takes longer than a second, the tables are made
 * later.
 */
int run_command_prepare(struct run_command *c, char **argv, const sigset_t *mask, bool maps_files);
int run_command_exec(struct run_command *c);
void run_command_cancel(struct run_command *c);

/* Returns whether the command has ended, without waiting. Does not reap the command: reaping can
 * keep the kernel busy for a long time, during which a recording in this thread would stop. */
bool run_command_poll(struct run_command *c);

/* Reaps the command if it has ended, and prints its result on stderr: "NAME exited with 3". Returns
 * its exit status as in a shell: 0 to 255, or from 128 on for a signal; -1 if the command still
 * runs. */
int run_command_report(struct run_command *c, const char *name);
