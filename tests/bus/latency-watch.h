/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queries the service continuously, as root, while a test attacks it, and measures the time of each
 * answer. Other tests can slow the whole machine down. So an echo service on the same bus is
 * queried at the same time, and the kernel's time of the service's main thread in a run queue is
 * read: only the time beyond the longer of both counts.
 */
#pragma once

#include <stdint.h>

/* An answer is late if it takes this much more than the echo's and the wait for a CPU. */
#define LATENCY_WATCH_LATE_NS UINT64_C(1000000000)

/* The machine can stop a process for a moment. */
enum { LATENCY_WATCH_LATE_MAX = 2 };

/*
 * A service that hangs does not answer at all: not within this time, or within the seconds in
 * KYMO_TEST_HANGS_S, if the test has set it. (`limit` in tests/slowness.sh: threads of the service
 * wait for each other, and if others want the CPUs, these waits add up.)
 */
#define LATENCY_WATCH_HANGS_NS (4 * LATENCY_WATCH_LATE_NS)

/* The minimum number of queries, however early it is ended. */
enum { LATENCY_WATCH_ASKED_MIN = 12 };

struct latency_watch;

/* Begins the queries. Asserts that nothing fails. */
struct latency_watch *latency_watch_begin(void);

/*
 * Ends it, and asserts that the service has answered in time throughout. Prints the number of
 * queries, and the longest wait.
 */
void latency_watch_end(struct latency_watch *l);
