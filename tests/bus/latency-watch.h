/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks the service all the time, as root, while a test attacks it, and how long each answer takes.
 * A machine that runs other tests may be slow for all; so an echo, a process of no other use on the
 * same bus, is asked in the same moment, and what counts is how much later than that the service
 * answers.
 */
#pragma once

#include <stdint.h>

/* An answer that came that much later than the echo's is late. */
#define LATENCY_WATCH_LATE_NS UINT64_C(1000000000)

/* A machine may stop one process for a moment; a service that hangs does not answer at all. */
enum { LATENCY_WATCH_LATE_MAX = 2 };
#define LATENCY_WATCH_HANGS_NS (4 * LATENCY_WATCH_LATE_NS)

/* It asks so often, however soon it is to end. */
enum { LATENCY_WATCH_ASKED_MIN = 12 };

struct latency_watch;

/* Begins to ask. Never fails: it asserts. */
struct latency_watch *latency_watch_begin(void);

/*
 * Ends it and asserts that the service has answered throughout, and within a second. Prints how
 * often, and the longest wait.
 */
void latency_watch_end(struct latency_watch *l);
