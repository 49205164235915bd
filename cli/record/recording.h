/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording that a command waits for. The daemon or this process makes the recording; each of the
 * two has a row of operations. Functions that fail have printed an error message.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "cli/options/record-options.h"
#include "cli/bus/session-view.h"

struct recording;

/* Chooses the recorder: the daemon; or this process, with OPTIONS->direct, or for root without a
 * daemon. */
int recording_new(const struct record_options *options, struct recording **ret);
struct recording *recording_free(struct recording *r);

DEFINE_CLEANUP(struct recording *, recording_free)

/*
 * Creates the session. Takes over OPTIONS on success. OUTPUT_FD is borrowed, and -1 for a flight
 * recorder. While a user enters a password, INTERRUPTED is called a few times a second. If
 * INTERRUPTED returns true, recording_create() returns -EINTR, without a message.
 */
int recording_create(struct recording *r, struct session_options *options, int output_fd,
		     bool (*interrupted)(void));

/* Starts the recording. Returns when it runs. */
int recording_start(struct recording *r);

/* The descriptor to poll. Returns the timeout in milliseconds; -1 = no timeout. */
int recording_pollfd(struct recording *r, struct pollfd *ret);

/* Must be called after poll(). Returns 1 when the recording is completely written or has failed,
 * else 0, or a negative errno if the recording will not finish. */
int recording_dispatch(struct recording *r);

/* Requests the recording to stop, without waiting. */
int recording_stop(struct recording *r);

/*
 * Starts to write the data of a flight recorder to FD (borrowed), without waiting. Only one
 * snapshot can be in progress. After recording_dispatch(), recording_snapshot_state() returns 0
 * while the snapshot is being written, 1 when it is complete, or a negative errno after an error
 * message.
 */
int recording_snapshot(struct recording *r, int fd);
int recording_snapshot_state(struct recording *r);

/* Returns the number of snapshots that points have requested so far. */
uint64_t recording_snapshots_due(struct recording *r);

/*
 * Starts the search for lost blocks in process PID, and does not wait for its end. The caller holds
 * PID at its exit. Several searches can run at once. After recording_dispatch(),
 * recording_search_state() returns 0 while the search runs, 1 when it is complete, or a negative
 * errno. No message is printed; recording_search_error() returns the message. -ESHUTDOWN: the
 * recording is about to end.
 */
int recording_search(struct recording *r, uint32_t pid);
int recording_search_state(struct recording *r, uint32_t pid);
const char *recording_search_error(const struct recording *r);

int recording_view(struct recording *r, struct session_view *ret);
