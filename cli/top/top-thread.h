/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of `kymo top` that reads the stream of a recording and shows it. This part runs in its
 * own thread, so that the recording need not wait for the display.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "cli/common/verb.h"

struct top_thread;

struct top_thread_options {
	uint64_t interval_ns;
	uint64_t late_ns; /* maximum delay between the time of a record and its arrival */
	uint64_t count;   /* number of intervals after which the thread ends; 0 = unlimited */
	bool json;
	bool no_symbols;
};

/*
 * Starts the thread. It takes over PIPE_FD, from which it reads the archive. When the thread wants
 * to end, it makes WAKE_FD (an eventfd, borrowed) readable, and then reads and drops the rest of
 * the stream. The thread handles the signals of the terminal (its size, Ctrl-Z), so it must be the
 * first thread that is created. Returns 0, or a negative errno after an error message.
 */
int top_thread_start(struct top_thread **ret, const struct top_thread_options *o, int pipe_fd,
		     int wake_fd);

/* Waits until the thread has shown everything. The recording must have finished, with all its data
 * in the pipe. Restores the terminal. Returns an enum cli_exit. */
enum cli_exit top_thread_join(struct top_thread *t);

/* Frees T, after top_thread_join(), or if no thread was started. Returns NULL. */
struct top_thread *top_thread_free(struct top_thread *t);
DEFINE_CLEANUP(struct top_thread *, top_thread_free)
