/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The main loop of `kymo record` and `kymo top`, with signals and a clock. It runs until the
 * recording has finished, for any reason.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/record/recording.h"

struct record_loop {
	struct recording *recording; /* borrowed; set by the owner */
	sigset_t mask;               /* as before record_loop_init() */
	int signal_fd;
	int wake_fd;     /* borrowed; calls wants_stop() when it is readable; -1 = none */
	int interval_ms; /* between calls of tick(); -1 = no calls */
	bool is_hasty;   /* call on_poll() soon again, without an event */
	bool asked_to_stop, interrupted;
	uint64_t interrupted_ns; /* since then (CLOCK_MONOTONIC) */
	/* Whether the recording must end. Called when a child has exited, and for wake_fd. */
	bool (*wants_stop)(void *userdata);
	void (*tick)(void *userdata); /* can be NULL */
	/* Called at SIGUSR1 and after other events; can be NULL. Set it before
	 * record_loop_init(). */
	void (*asked)(void *userdata);
	void (*on_poll)(void *userdata);
	void *userdata;
};

#define RECORD_LOOP_NULL                                                                           \
	{                                                                                          \
		.signal_fd = -1, .wake_fd = -1, .interval_ms = -1                                  \
	}

/*
 * Handles signals from now on: SIGUSR1 calls asked(), if it is set; SIGINT, SIGTERM and SIGHUP (but
 * not under nohup) end the recording in order; SIGCHLD is waited for. They are blocked before any
 * thread is created. SIGPIPE is ignored. Returns 0, or a negative errno after an error message.
 */
int record_loop_init(struct record_loop *l);

/* Restores the signals. */
void record_loop_deinit(struct record_loop *l);

/* Between the two: whether a signal that ends the recording is waiting. */
bool record_loop_is_interrupted(void);

/* Requests the recording to stop, once. Returns 0 or a negative errno. */
int record_loop_stop(struct record_loop *l);

/* Waits for the requested snapshot of a finished recording. Returns 0, or a negative errno: -EINTR
 * after another signal. */
int record_loop_wait_snapshot(struct record_loop *l);

/* Runs until everything is written. Returns 0, or a negative errno to give up: -EINTR after a
 * second signal. */
int record_loop_run(struct record_loop *l);
