/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of `kymo top` that reads the stream of a recording and shows it, in a thread of its own:
 * whoever makes the recording must not wait for it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "cli/common/verb.h"

struct top_thread;

struct top_thread_options {
	uint64_t interval_ns;
	uint64_t late_ns; /* records may come so much later than they were made */
	uint64_t count;   /* ends after so many intervals; 0 = never */
	bool json;
	bool no_symbols;
};

/*
 * Starts it: it reads the archive from PIPE_FD, which it takes over, and makes WAKE_FD (an eventfd,
 * borrowed) readable when it wants no more; the rest of the stream is read and dropped then.
 * Signals of the terminal (its size, Ctrl-Z) are its from now on, so no other thread may have been
 * made before. Returns 0, or a negative errno when it has said why not.
 */
int top_thread_start(struct top_thread **ret, const struct top_thread_options *o, int pipe_fd,
		     int wake_fd);

/*
 * Waits until it has shown everything; the recording has finished, and nothing more will come out
 * of the pipe. The terminal is given back then. Returns what it has to say: an enum cli_exit.
 */
enum cli_exit top_thread_join(struct top_thread *t);

/* After top_thread_join(), or without a thread. */
struct top_thread *top_thread_free(struct top_thread *t);
DEFINE_CLEANUP(struct top_thread *, top_thread_free)
