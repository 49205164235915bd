/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One recording that a command waits for, made by the daemon or in this process: two rows of
 * operations over the same life. Functions that fail have said why.
 */
#pragma once

#include <poll.h>

#include "base/cleanup.h"
#include "cli/service/record-options.h"
#include "cli/bus/session-view.h"

struct recording;

/*
 * Decides who records: the daemon, or with OPTIONS->direct, or as root without a daemon, this
 * process.
 */
int recording_new(const struct record_options *options, struct recording **ret);
struct recording *recording_free(struct recording *r);

DEFINE_CLEANUP(struct recording *, recording_free)

/*
 * Makes the session. Takes over OPTIONS on success; OUTPUT_FD is borrowed, and -1 for a flight
 * recorder.
 */
int recording_create(struct recording *r, struct session_options *options, int output_fd);

/* Returns when it runs. */
int recording_start(struct recording *r);

/* What to poll for; returns the timeout in milliseconds, -1 = none. */
int recording_pollfd(struct recording *r, struct pollfd *ret);

/* To be called after poll(). Returns 1 when all is written or it has failed, else 0, or a negative
 * errno when there is nothing to wait for any more. */
int recording_dispatch(struct recording *r);

/* Asks it to stop and does not wait. */
int recording_stop(struct recording *r);

/*
 * Asks for what a flight recorder has kept to be written to FD (borrowed), and does not wait. One
 * at a time. From then on recording_snapshot_state() says, after recording_dispatch(), 0 = it is
 * being written, 1 = it is, or a negative errno (and has said why).
 */
int recording_snapshot(struct recording *r, int fd);
int recording_snapshot_state(struct recording *r);

/* The number of snapshots that points have asked for so far. */
uint64_t recording_snapshots_due(struct recording *r);

/*
 * Asks for process PID, which is held at its exit, to be searched for what it has lost, and does
 * not wait. recording_search_state(), after recording_dispatch(), says 0 = not yet, 1 = done, or
 * a negative errno, which is not said to people: recording_search_error() is a sentence about it.
 * -ESHUTDOWN: the recording is about to end. Several at once.
 */
int recording_search(struct recording *r, uint32_t pid);
int recording_search_state(struct recording *r, uint32_t pid);
const char *recording_search_error(const struct recording *r);

int recording_view(struct recording *r, struct session_view *ret);
