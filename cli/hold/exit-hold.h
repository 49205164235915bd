/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds a command and its descendants at their exit until their memory has been searched, since the
 * memory no longer exists after the exit.
 *
 * This uses ptrace (PTRACE_SEIZE, PTRACE_O_TRACEEXIT) in a separate thread: the kernel assigns each
 * tracee to a tracing thread, and when this thread ends, for any reason, its tracees continue. Only
 * the first thread of a process is traced; other threads are traced if they outlive it. Between
 * start and exit, a process stops only for signals to that thread and, for a moment, at a fork.
 * Forks by other threads are not reported: a periodic search finds the children, so these are held
 * only if they live for some tenths of a second.
 *
 * A process can have only one tracer. So the children of a program that uses ptrace() itself are
 * not held: it can be a debugger. Neither are the children of a program whose file cannot be read.
 * If more than EXIT_HOLD_TRACERS_MAX such programs run at the same time, forks of threads other
 * than the first are no longer searched, since the parent can be one of these programs.
 *
 * After processes have waited 30 s in total for their searches, only the command itself is still
 * held.
 *
 * Processes that SIGKILL ends are not held: a user wants them gone, or the kernel, out of memory,
 * has freed their memory already.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum {
	EXIT_HOLD_MAX = 24,
	EXIT_HOLD_TRACERS_MAX = 64,
};

enum held_state {
	HELD_WAITING,  /* the thread waits for the exits of the other threads */
	HELD_READY,    /* the process can be taken, but the owner has not been notified */
	HELD_POPPED,   /* the process is being searched */
	HELD_RELEASED, /* the thread must continue */
};

struct held {
	pid_t tid, pid;
	enum held_state state;
	uint64_t since_ns, ready_ns; /* CLOCK_MONOTONIC */
};

struct exit_hold {
	bool runs; /* the thread runs */
	pthread_t thread;
	pid_t command;
	int thread_fd; /* wakes the thread */
	int owner_fd;  /* readable if the owner can take a process */
	pthread_mutex_t lock;
	pthread_cond_t begun;
	int error;          /* result of the start; 1 = not known yet */
	atomic_bool ending; /* the thread must end; set without the lock */
	unsigned n_late;    /* number of processes that were released after a timeout */
	uint64_t held_ns;   /* total time in which a process waited for its search */
	/* Number of threads that were not held, since holding others took too long. */
	unsigned n_passed;
	unsigned n_full;   /* number of processes that were not held, since too many were held */
	unsigned n_missed; /* number of processes that ended while their files were read */
	bool gave_up;      /* a request to trace timed out in this round */
	/*
	 * Begin of the series of rounds in which a request to trace timed out; 0 = the last round
	 * had no timeout.
	 */
	uint64_t gave_up_ns;
	timer_t timer;  /* interrupts a request to trace; used only by the thread */
	unsigned depth; /* depth of the search for forked processes */
	uint64_t next_walk_ns;
	struct held list[EXIT_HOLD_MAX];
	unsigned n;
	pid_t tracers[EXIT_HOLD_TRACERS_MAX]; /* processes that use ptrace(), or may use it */
	unsigned n_tracers;
	unsigned n_more_tracers; /* number of tracers that did not fit into the list */
	/* The last processes that were asked to stop and have not stopped yet; 0 = unused entry. */
	pid_t interrupted[EXIT_HOLD_TRACERS_MAX];
	unsigned next_interrupted;
	char tracer[64]; /* name of the first tracer; "" = there was no tracer */
	/* Name of the first program whose file could not be read, so that it may use ptrace() */
	char unread[64];
	int unread_error;    /* a negative errno of tracing_program() */
	pid_t stopped;       /* the last process that has sent SIGSTOP to itself; 0 = none */
	uint64_t stopped_ns; /* time of that stop, CLOCK_MONOTONIC; 0 = reported */
	pid_t waiting;       /* a process that has stopped itself, for exit_hold_waiting() */
};

#define EXIT_HOLD_NULL                                                                             \
	{                                                                                          \
		.thread_fd = -1, .owner_fd = -1                                                    \
	}

/* Holds process COMMAND, a child of this process, and its descendants at their exit from now on.
 * Returns 0, or a negative errno: -EPERM if tracing is not allowed. */
int exit_hold_begin(struct exit_hold *h, pid_t command);

/* Must be called at SIGCHLD. This signal also arrives for traced processes. */
void exit_hold_wake(struct exit_hold *h);

/* Returns the next held process that has not been taken; 0 = none. The process is held until
 * exit_hold_release(), for at most 30 s. */
pid_t exit_hold_pop(struct exit_hold *h);
void exit_hold_release(struct exit_hold *h, pid_t pid);

/*
 * Returns a process that has stopped itself and stays stopped, as if it expected a tracer; 0 =
 * none. Each process is returned once.
 */
pid_t exit_hold_waiting(struct exit_hold *h);

/* Returns true if a process is held. */
bool exit_hold_any(struct exit_hold *h);

/* Releases all processes and stops tracing. Does nothing if nothing was held. */
void exit_hold_end(struct exit_hold *h);
