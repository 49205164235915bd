/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The main loop of `kymo record` and `kymo top`, with signals and a clock. It runs until the
 * recording has finished, whatever the reason.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/record/recording.h"

struct record_loop {
	struct recording *recording; /* borrowed; set by the owner */
	sigset_t mask;               /* signal mask before record_loop_init() */
	int signal_fd;
	/* wants_stop() is called when this descriptor is readable; borrowed; -1 = no descriptor. */
	int wake_fd;
	int interval_ms; /* interval of calls of tick(); -1 = no calls */
	bool is_hasty;   /* call on_poll() soon again, without an event */
	bool asked_to_stop, interrupted;
	uint64_t interrupted_ns; /* time of the interruption (CLOCK_MONOTONIC) */
	/* Whether the recording is to be stopped. */
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
 * not under nohup) end the recording in order; SIGCHLD ends a wait. These signals are blocked
 * before any thread is created. SIGPIPE is ignored. Returns 0, or a negative errno after an error
 * message.
 */
int record_loop_init(struct record_loop *l);

/* Restores the signals to their state before record_loop_init(). */
void record_loop_deinit(struct record_loop *l);

/*
 * Returns the pending signal that ends the recording; 0 = none. Valid between record_loop_init()
 * and record_loop_deinit(), like record_loop_is_interrupted().
 */
int record_loop_interrupted_by(void);

/* Returns true if a signal that ends the recording is pending. */
bool record_loop_is_interrupted(void);

/* Requests the recording to stop, once. Returns 0 or a negative errno. */
int record_loop_stop(struct record_loop *l);

/* Waits for the requested snapshot of a finished recording. Returns 0, or a negative errno: -EINTR
 * after another signal. */
int record_loop_wait_snapshot(struct record_loop *l);

/* Runs until all data is written. Returns 0, or a negative errno to give up: -EINTR after a second
 * signal. */
int record_loop_run(struct record_loop *l);
