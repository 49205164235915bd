/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lookout (lookout.h) for tests in shell: asks the service on the bus in KYMO_TEST_BUS until
 * SIGTERM, and fails if it did not answer at once.
 */
#include <signal.h>

#include "tests/bus/lookout.h"

int main(void)
{
	struct lookout *l;
	sigset_t term;
	int got;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	l = lookout_begin();
	if (sigwait(&term, &got) != 0)
		return 1;
	lookout_end(l);
	return 0;
}
