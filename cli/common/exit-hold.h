/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds a command, and the processes that it makes, at their exit, when their memory is still
 * there, until somebody has looked at it.
 *
 * By ptrace (PTRACE_SEIZE, PTRACE_O_TRACEEXIT), in a thread of its own: the tracer is the
 * kernel's business thread by thread, and when this one ends, for whatever reason, all that it
 * traces goes on by itself. Only the first thread of a process is traced; the others if they
 * outlive it. Between start and exit nothing stops but for signals to that thread, and for the
 * moment of a fork. What other threads fork is not reported: it is looked for, so it is held if it
 * lives for some tenths of a second.
 *
 * What SIGKILL ends is not held: a user who kills so wants it gone, and if that was the kernel for
 * want of memory, the memory has gone already.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum { EXIT_HOLD_MAX = 24 };

enum held_state {
	HELD_WAITING,  /* for its other threads to end */
	HELD_READY,    /* and that was not reported */
	HELD_TAKEN,    /* somebody looks at it */
	HELD_RELEASED, /* it is to go on */
};

struct held {
	pid_t tid, pid;
	enum held_state state;
	uint64_t since_ns, ready_ns; /* CLOCK_MONOTONIC */
};

struct exit_hold {
	bool runs; /* the thread does */
	pthread_t thread;
	pid_t command;
	int thread_fd; /* wakes the thread */
	int owner_fd;  /* readable when there is one to be taken */
	pthread_mutex_t lock;
	pthread_cond_t begun;
	int error;       /* of the begin; 1 = not known yet */
	bool ending;     /* the thread is to end */
	unsigned n_late; /* were let go because nobody had looked in time */
	bool gave_up;    /* a request to trace would have waited too long, in this round */
	timer_t timer;   /* that ends such a request; the thread's own */
	unsigned depth;  /* of the walk to what other threads have forked */
	uint64_t next_walk_ns;
	struct held list[EXIT_HOLD_MAX];
	unsigned n;
};

#define EXIT_HOLD_NULL                                                                             \
	{                                                                                          \
		.thread_fd = -1, .owner_fd = -1                                                    \
	}

/*
 * From now on process COMMAND, a child of ours, is held at its exit, and what it forks. Returns
 * 0, or a negative errno: -EPERM where tracing is not allowed.
 */
int exit_hold_begin(struct exit_hold *h, pid_t command);

/* At SIGCHLD, which comes for what is traced, too. */
void exit_hold_attend(struct exit_hold *h);

/*
 * The next process that is held and nobody has looked at; 0 = there is none. It stays until it is
 * released, 30 s at most.
 */
pid_t exit_hold_take(struct exit_hold *h);
void exit_hold_release(struct exit_hold *h, pid_t pid);

/* Whether any is held. */
bool exit_hold_any(struct exit_hold *h);

/* All go on, and nothing is traced any more. Does nothing if nothing was. */
void exit_hold_end(struct exit_hold *h);
