/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The watch of latencies (latency-watch.h) for tests in shell: queries the service on the bus in
 * KYMO_TEST_BUS until SIGTERM, and fails if an answer was late.
 */
#include <signal.h>

#include "tests/bus/latency-watch.h"

int main(void)
{
	struct latency_watch *l;
	sigset_t term;
	int got;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	l = latency_watch_begin();
	if (sigwait(&term, &got) != 0)
		return 1;
	latency_watch_end(l);
	return 0;
}
