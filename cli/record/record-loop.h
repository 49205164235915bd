/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `kymo record` and `kymo top` do while a recording runs: one loop over it, the signals that
 * end it, and a clock, until it has finished, for whatever reason.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

#include "cli/record/recording.h"

struct record_loop {
	struct recording *recording; /* borrowed; the owner's to set */
	sigset_t mask;               /* as it was before us */
	int signal_fd;
	int wake_fd;     /* borrowed; when it is readable, wants_stop() is asked; -1 = none */
	int interval_ms; /* between calls of tick(); -1 = none are wanted */
	bool asked_to_stop, interrupted;
	/* Whether it is to end: asked when a child has ended, or by wake_fd. */
	bool (*wants_stop)(void *userdata);
	void (*tick)(void *userdata); /* or NULL */
	/* At SIGUSR1, and after whatever has happened; or NULL. Before record_loop_init(). */
	void (*asked)(void *userdata);
	void (*look)(void *userdata);
	void *userdata;
};

#define RECORD_LOOP_NULL                                                                           \
	{                                                                                          \
		.signal_fd = -1, .wake_fd = -1, .interval_ms = -1                                  \
	}

/*
 * From now on SIGUSR1 calls asked(), if there is one; SIGINT, SIGTERM and SIGHUP (but not under
 * nohup) end the recording properly, and SIGCHLD is waited for; they are blocked before any thread
 * is made. SIGPIPE is ignored. Returns 0, or a negative errno when it has said why not.
 */
int record_loop_init(struct record_loop *l);

/* Signals are as they were. */
void record_loop_deinit(struct record_loop *l);

/* Asks the recording to stop, once. Returns 0 or a negative errno. */
int record_loop_stop(struct record_loop *l);

/*
 * Until the snapshot that was asked for of a recording that has finished is written. Returns 0, or
 * a negative errno: -EINTR after another signal.
 */
int record_loop_wait_snapshot(struct record_loop *l);

/* Until all is written. Returns 0, or a negative errno to give up: -EINTR after a second signal. */
int record_loop_run(struct record_loop *l);
